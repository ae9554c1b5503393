"""Answer which callers changes touch: those of the definitions that a range of commits or uncommitted files change.

The callers are those of the newer end, and of other repositories that are looked in as well. A removed definition has
none there; its callers are references that nothing in the tree defines any more. A server holds the tree open and calls
`impact_of`.
"""

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Generic

from gitmem.answering.answer import ViewState
from gitmem.answering.range_changes import Comparison, compare_range
from gitmem.answering.searched_trees import OneTree, SearchedTrees, State, answer_from_tree, is_test_file
from gitmem.answering.uncommitted_changes import compare_uncommitted
from gitmem.answering.usage_answer import MAX_LIMIT, Place, read_places
from gitmem.chunking.languages import language_of
from gitmem.errors import UsageError
from gitmem.freshness.tree_selection import TreeSelection
from gitmem.git.file_history import FileChange
from gitmem.git.object_reader import ObjectReader
from gitmem.git.path_encoding import path_text
from gitmem.history.changes import DOCUMENTATION, FORMAT
from gitmem.history.tree_changes import ADDED, REMOVED, ElementChange
from gitmem.named_tuple import NamedTuple
from gitmem.types import MAX_USAGE_DEPTH
from gitmem.workspace import Workspace

# numpy and the search are loaded when the range has been compared.
if TYPE_CHECKING:
    from gitmem.answering.searcher import Searcher
    from gitmem.references.file_graph import FileGraph, Ranks
    from gitmem.references.file_names import Definition
    from gitmem.references.usage import Usage

DEFAULT_LIMIT: Final = 10
_MAX_DEFINITIONS: Final = 100
"""Changed definitions whose callers are looked for: the most important ones."""

_FILES_OF_DEFINITION: Final = 300
_REFERENCES_OF_DEFINITION: Final = 3_000
"""Files that are read for one of them, and references that are resolved there."""

_MAX_RANGE: Final = 1_000
_PROSE: Final = frozenset({"section", "text"})
"""Types of chunks that nobody calls."""


class ImpactQuery(NamedTuple):
    """Range `A..B`, steps from a definition to its callers, and the number of callers shown for each definition.

    Without a range, the working tree is compared with HEAD, with `staged` the staged files.
    """

    range: str = ""
    depth: int = 1
    limit: int = DEFAULT_LIMIT
    staged: bool = False


class ImpactedDefinition(NamedTuple):
    """Definition that a range changed, moved or removed, with the best of its callers.

    `importance` is the rank that the definition brings its file. `total` counts all callers, `untouched` those outside
    of what the range changed. `callers` are pairs of place and whether the range changed it.
    """

    change: ElementChange
    importance: float
    total: int
    untouched: int
    callers: list[tuple[Place, bool]]


class ImpactAnswer(NamedTuple, Generic[State]):
    """Definitions with callers that changes touch, the most important first. `since` and `until` are names.

    `without_callers` counts those without, `omitted` those that were not looked at because there are too many.
    """

    query: ImpactQuery
    since: str
    until: str
    definitions: list[ImpactedDefinition]
    without_callers: int
    omitted: int
    trees: State
    notes: list[str]
    stats: dict[str, Any]

    @property
    def is_empty(self) -> bool:
        """Whether the changes touch no callers."""
        return not self.definitions


def read_impact(
    workspace: Workspace, query: ImpactQuery, *, refresh: bool = True, mask: bool = True
) -> ImpactAnswer[ViewState]:
    """Return the callers that changes touch. With `refresh` the newer end is indexed first.

    With `mask` the characters of secrets are dots. Raises: UsageError, UnknownRevision, NoIndex, UnsafeIndex,
    NewerFormat, DamagedFile, GitFailed, WorkersFailed.
    """
    started = time.perf_counter()
    check_impact_query(query)
    comparison = compare_commits(workspace, query)
    return answer_from_tree(
        workspace,
        newer_tree(query, comparison),
        lambda searcher, blobs: impact_of(searcher, comparison, query, blobs, mask=mask),
        started,
        refresh=refresh,
    )


def check_impact_query(query: ImpactQuery) -> None:
    """Check a query against the bounds. Raises UsageError."""
    if "\0" in query.range or len(query.range) > _MAX_RANGE:
        raise UsageError(f"a range has at most {_MAX_RANGE} characters and no NUL", hint="gitmem impact main..HEAD")
    if query.range and query.staged:
        raise UsageError("`A..B` and `--staged` exclude each other", hint="gitmem impact --staged")
    if not 1 <= query.depth <= MAX_USAGE_DEPTH:
        raise UsageError(f"the depth is {query.depth}, it must be between 1 and {MAX_USAGE_DEPTH}")
    if not 1 <= query.limit <= MAX_LIMIT:
        raise UsageError(f"the limit is {query.limit}, it must be between 1 and {MAX_LIMIT}")


def compare_commits(
    workspace: Workspace, query: ImpactQuery, check: Callable[[], None] | None = None
) -> Comparison | None:
    """Return the compared ends of a range; None for uncommitted changes, which only the open tree knows.

    Raises: UnknownRevision, UsageError, GitFailed, WorkersFailed.
    """
    return compare_range(workspace, query.range, check, is_read=_may_have_callers) if query.range else None


def _may_have_callers(file: FileChange) -> bool:
    """Return whether code can name the definitions of a file: not the elements of pages and the keys of data."""
    from gitmem.chunking.occurrence_query import has_names

    return has_names(language_of(path_text(file.path)))


def newer_tree(query: ImpactQuery, comparison: Comparison | None) -> TreeSelection:
    """Return the selection of the newer end, that of a range by its id: a branch may move meanwhile."""
    if comparison is None:
        return TreeSelection(staged=query.staged)
    return TreeSelection(comparison.until.commit or comparison.until.tree)


def impact_of(
    searcher: "Searcher",
    comparison: Comparison | None,
    query: ImpactQuery,
    blobs: ObjectReader,
    *,
    mask: bool = True,
    check: Callable[[], None] = lambda: None,
) -> ImpactAnswer[ViewState]:
    """Return the callers that a compared range touches; the searcher has its newer end, `query` is checked.

    Without a comparison, the uncommitted files of the open tree are compared. `check` raises to cancel.
    Raises: DamagedFile, UsageError.
    """
    changes = changes_of(searcher, comparison, check)
    answer = impact_in(OneTree(searcher, blobs), changes, query, mask=mask, check=check)
    return answer._replace(trees=answer.trees._replace(rev=answer.until)) if query.range else answer


def changes_of(searcher: "Searcher", comparison: Comparison | None, check: Callable[[], None]) -> Comparison:
    """Return a comparison; without one, the uncommitted files of an open tree are compared.

    Raises: DamagedFile, UsageError.
    """
    searcher.require_intact()
    if comparison is not None:
        return comparison
    return compare_uncommitted(searcher, check, _may_have_callers)


def impact_in(
    trees: SearchedTrees[State],
    comparison: Comparison,
    query: ImpactQuery,
    *,
    mask: bool = True,
    check: Callable[[], None] = lambda: None,
) -> ImpactAnswer[State]:
    """Return the callers in open trees that changes of the user's own one touch; `check` raises to cancel.

    Raises: DamagedFile.
    """
    trees.require_intact()
    # The definitions are ranked before their callers are looked for: a range may change thousands.
    touching = [change for change in comparison.changes if _touches_callers(change)]
    finder = _CallerFinder(trees, comparison.changes, query, check)
    possible = [change for change in touching if finder.may_have_callers(change)]
    ranked = sorted(((finder.importance(change), change) for change in possible), key=_order)
    found = [(change, score, finder.find(change)) for score, change in ranked[:_MAX_DEFINITIONS]]
    omitted = len(ranked) - len(found)
    listed = [each for _, _, usages in found for each in usages[: query.limit]]
    rest = iter(zip(listed, read_places(trees, listed, mask=mask), strict=True))
    definitions = [
        ImpactedDefinition(
            change, score, len(usages), sum(not finder.is_changed(each) for each in usages),
            [(place, finder.is_changed(usage)) for usage, place in (next(rest) for _ in usages[: query.limit])],
        )
        for change, score, usages in found if usages
    ]  # fmt: skip
    return ImpactAnswer(
        query, comparison.since.name, comparison.until.name, definitions, len(touching) - omitted - len(definitions),
        omitted, trees.state(), [*trees.take_notes(), *comparison.notes, *finder.cuts], trees.stats,
    )  # fmt: skip


def _touches_callers(change: ElementChange) -> bool:
    """Return whether a change can concern callers: a new definition had none, and comments call nothing."""
    if not change.symbol or change.group == ADDED or change.chunk_type in _PROSE:
        return False
    return not change.kinds or not {FORMAT, DOCUMENTATION}.issuperset(change.kinds)


def _order(ranked: tuple[float, ElementChange]) -> tuple[bool, float, bytes, int]:
    """Sort removed definitions first, because their callers fail, then the most important ones."""
    score, change = ranked
    return change.group != REMOVED, -score, change.path, change.first


class _CallerFinder:
    """Finds the callers of the changed definitions in the newer tree of a range, and in other trees."""

    def __init__(
        self,
        trees: SearchedTrees[State],
        changes: Sequence[ElementChange],
        query: ImpactQuery,
        check: Callable[[], None],
    ) -> None:
        from gitmem.references.resolution import Resolver

        self._trees: SearchedTrees[Any] = trees
        self._query = query
        self._check = check
        self._names = trees.names
        self._graph: FileGraph = trees.graph(check)
        self._ranks: Ranks = self._graph.rank(self._graph.prior)
        self._resolver: Resolver = Resolver(self._names)
        self._spans: dict[str, list[tuple[int, int]]] = {}
        self.cuts: list[str] = []
        for change in changes:
            if change.symbol and change.group != REMOVED:
                self._spans.setdefault(path_text(change.path), []).append((change.first, change.last))

    def may_have_callers(self, change: ElementChange) -> bool:
        """Return whether a definition may have callers; a removed one has none if no file names it."""
        from gitmem.store.occurrences import IMPORTED, INHERITED, REFERRED

        if change.group != REMOVED:
            return True
        return len(self._names.entries(self._read_name(change)[1], REFERRED | IMPORTED | INHERITED)) > 0

    def importance(self, change: ElementChange) -> float:
        """Return the rank that the definition of a change brings its file; 0 for a removed one."""
        entry = self._entry(change)
        if entry is None:
            return 0.0
        node = self._graph.node(entry)
        brought = self._graph.definitions_of(node, self._ranks) if node >= 0 else {}
        return brought.get(self._read_name(change)[1], 0.0)

    def find(self, change: ElementChange) -> "list[Usage]":
        """Return the places that call a changed definition, extend it or pass it on, the best first."""
        from gitmem.references.usage import Bounds
        from gitmem.references.usages import UsageFinder

        # Bounds for each definition: one named `get` may not use up those of all others.
        bounds = Bounds(_FILES_OF_DEFINITION, _REFERENCES_OF_DEFINITION)
        finder = UsageFinder(self._names, is_test_file, self._check, bounds, self._resolver)
        target = self._target(change)
        if target is None and change.group != REMOVED:
            return []
        _, name = self._read_name(change)
        results = finder.find([target] if target else [], name, _relations(target), self._query.depth)
        self.cuts += [f"`{change.symbol}`: {cut}" for cut in results.cuts]
        usages = [usage for of_relation in results.relations.values() for usage in of_relation]
        if target is None:
            usages = [usage for usage in usages if self._is_dangling(usage, change)]
        # A recursive call is no caller that anybody has to check.
        path = path_text(change.path)
        outside = {
            (usage.entry, usage.line): usage
            for usage in reversed(usages)  # a call comes before a mention on its line
            if change.group == REMOVED
            or not self._is_own(usage)
            or self._names.file(usage.entry).path != path
            or not change.first <= usage.line <= change.last
        }
        return sorted(outside.values(), key=partial(_usage_order, self._file_rank))

    def is_changed(self, usage: "Usage") -> bool:
        """Return whether the range changed the definition around a place as well."""
        spans = self._spans.get(self._names.file(usage.entry).path, ()) if self._is_own(usage) else ()
        return any(first <= usage.line <= last for first, last in spans)

    def _is_own(self, usage: "Usage") -> bool:
        return self._trees.tree_of(usage.entry) == self._trees.own

    def _file_rank(self, entry: int) -> float:
        node = self._graph.node(entry)
        return float(self._graph.weights[entry] * self._ranks.files[node]) if node >= 0 else 0.0

    def _entry(self, change: ElementChange) -> int | None:
        """Return the file of a changed definition in the newer tree, if the index has it."""
        return None if change.group == REMOVED else self._trees.find_entry(change.path)

    def _target(self, change: ElementChange) -> "Definition | None":
        from gitmem.references.named_definitions import definition_at

        entry = self._entry(change)
        if entry is None:
            return None
        target = definition_at(self._names, entry, change.first, change.last, change.symbol)
        return target if target is not None and target.name == self._read_name(change)[1] else None

    def _read_name(self, change: ElementChange) -> tuple[tuple[str, ...], str]:
        from gitmem.references.named_definitions import read_name

        return read_name(self._names, change.symbol)

    def _is_dangling(self, usage: "Usage", change: ElementChange) -> bool:
        from gitmem.references.dangling import RemovedDefinition, may_mean_removed

        container, name = self._read_name(change)
        removed = RemovedDefinition(name, container, path_text(change.path), self._trees.own or 0)
        return may_mean_removed(self._names, usage.entry, usage.line, removed)


def _relations(target: "Definition | None") -> tuple[str, ...]:
    """Return the relations that depend on a definition. Types of variables depend on a class only loosely."""
    from gitmem.references.file_names import CLASS

    if target is None:
        return "callers", "subclasses", "importers", "mentions"
    return ("callers", "subclasses") if target.kind == CLASS else ("callers", "mentions")


def _usage_order(rank: Callable[[int], float], usage: "Usage") -> tuple[int, bool, float, int, int]:
    """Sort by steps, then sure ones, then those in the most important files."""
    return usage.depth, usage.candidates + usage.open > 1, -rank(usage.entry), usage.entry, usage.line
