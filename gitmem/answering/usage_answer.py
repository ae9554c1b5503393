"""Answer who defines, calls, extends, imports or mentions a name in one tree or several, with the line of each place.

A server holds the tree open and calls `usages_of`.
"""

import posixpath
import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, Generic

from gitmem.answering.answer import ViewState
from gitmem.answering.repository_selection import refuse_published_id
from gitmem.answering.searched_trees import (
    OneTree,
    SearchedTrees,
    State,
    answer_from_tree,
    is_test_file,
    label_of,
    path_weight,
)
from gitmem.answering.source_lines import line_at
from gitmem.errors import UsageError
from gitmem.freshness.tree_selection import WORKING_TREE, TreeSelection
from gitmem.git.commit_diffs import read_new_lines
from gitmem.git.object_reader import ObjectReader
from gitmem.git.revisions import Revision
from gitmem.named_tuple import NamedTuple
from gitmem.types import MAX_USAGE_DEPTH, USAGE_RELATIONS
from gitmem.workspace import Workspace

# numpy and the search are loaded while `git status` runs.
if TYPE_CHECKING:
    from gitmem.answering.searcher import Searcher
    from gitmem.references.file_names import Definition, FileNames
    from gitmem.references.usage import Usage
    from gitmem.references.usages import Found

DEFAULT_RELATIONS: Final = ("definitions", "callers", "mentions", "subclasses", "importers")
MAX_LIMIT: Final = 1_000
DEFAULT_LIMIT: Final = 20
TEXT_LIMIT: Final = 5
"""Lines of text that are shown unless somebody asks for them: uses in code count more."""

_TEXT: Final = "text"
_FILE_RELATIONS: Final = ("importers", _TEXT)
"""Relations of a whole file."""

_MAX_NAME: Final = 500
_MAX_LISTED: Final = 6


class UsageQuery(NamedTuple):
    """Name or place whose usages are asked for. `limit` is the number of places of each relation.

    A path is relative to the root of the tree, or else to `folder`, the user's folder below the root.
    """

    text: str
    relations: tuple[str, ...] = DEFAULT_RELATIONS
    depth: int = 1
    limit: int = DEFAULT_LIMIT
    folder: str = ""


class Place(NamedTuple):
    """Line of a file that uses a name; `symbol` is the function or class around it, `text` the line.

    `rule` says how it was resolved, to how many `candidates`; `open` that it may also mean a library's. `depth` counts
    the steps from the definition. `target` is the path and line of the definition that is meant, "" without one, and
    `through` the qualified name of one that the definition asked for overrides. In an answer from several repositories,
    `repository` is the name of the place's one, and `target` begins with a name.
    """

    path: str
    line: int
    kind: str
    symbol: str
    rule: str
    candidates: int
    open: bool
    depth: int
    target: str
    through: str
    text: str
    repository: str = ""


class RelatedPlaces(NamedTuple):
    """Places of one relation, the best first, and how many there are in all."""

    relation: str
    total: int
    places: list[Place]


class UsageAnswer(NamedTuple, Generic[State]):
    """Usages of a name by relation.

    `symbols` are those of the `definitions` that are meant, none if only libraries define it. `notes` about one of
    several repositories begin with its name.
    """

    query: UsageQuery
    name: str
    symbols: list[str]
    definitions: int
    trees: State
    relations: list[RelatedPlaces]
    notes: list[str]
    stats: dict[str, Any]

    @property
    def is_empty(self) -> bool:
        """Whether nothing was found."""
        return not any(related.total for related in self.relations)


def read_usages(
    workspace: Workspace,
    query: UsageQuery,
    selection: TreeSelection = WORKING_TREE,
    *,
    refresh: bool = True,
    mask: bool = True,
) -> UsageAnswer[ViewState]:
    """Return the usages of a name or place in a tree. With `refresh` missing blobs are indexed first.

    With `mask` the characters of secrets are dots. Raises: UsageError, UnknownRevision, NoIndex, UnsafeIndex,
    NewerFormat, DamagedFile.
    """
    started = time.perf_counter()
    check_usage_query(query)
    return answer_from_tree(
        workspace,
        selection,
        lambda searcher, blobs: usages_of(searcher, query, blobs, mask=mask),
        started,
        refresh=refresh,
    )


def check_usage_query(query: UsageQuery) -> None:
    """Check a query against the bounds. Raises UsageError."""
    if not query.text.strip():
        raise UsageError("the name is empty", hint="gitmem usages make_response")
    if "\0" in query.text or len(query.text) > _MAX_NAME:
        raise UsageError(f"a name has at most {_MAX_NAME} characters and no NUL", hint="gitmem usages make_response")
    if not 1 <= query.depth <= MAX_USAGE_DEPTH:
        raise UsageError(f"the depth is {query.depth}, it must be between 1 and {MAX_USAGE_DEPTH}")
    if not 1 <= query.limit <= MAX_LIMIT:
        raise UsageError(f"the limit is {query.limit}, it must be between 1 and {MAX_LIMIT}")
    unknown = next((name for name in query.relations if name not in USAGE_RELATIONS), None)
    if unknown is not None:
        raise UsageError(f"unknown relation `{unknown}`", hint="relations: " + ", ".join(USAGE_RELATIONS))


def usages_of(
    searcher: "Searcher",
    query: UsageQuery,
    blobs: ObjectReader,
    *,
    mask: bool = True,
    check: Callable[[], None] = lambda: None,
) -> UsageAnswer[ViewState]:
    """Return the usages from an open tree; `query` is checked, `blobs` reads its blobs.

    `check` raises to cancel. Raises: UsageError, DamagedFile.
    """
    since = searcher.tree.since
    narrow = partial(_on_changed_lines, searcher, since) if since is not None else None
    return usages_in(OneTree(searcher, blobs), query, mask=mask, check=check, narrow=narrow)


def usages_in(
    trees: SearchedTrees[State],
    query: UsageQuery,
    *,
    mask: bool = True,
    check: Callable[[], None] = lambda: None,
    narrow: "Callable[[Found], Found] | None" = None,
) -> UsageAnswer[State]:
    """Return the usages from open trees; `query` is checked, `narrow` returns the usages to show of all.

    `check` raises to cancel. Raises: UsageError, DamagedFile.
    """
    from gitmem.references.text_lines import is_distinctive
    from gitmem.references.usages import UsageFinder

    trees.require_intact()
    number, text = trees.split(query.text.strip())
    entry = trees.find_file(number, text, query.folder)
    if entry is not None:
        return _usages_of_file(trees, query, entry, mask=mask, check=check, narrow=narrow)
    name, qualifiers, targets, spelling = _find_targets(trees, number, text, query.folder)
    finder = UsageFinder(trees.names, is_test_file, check)
    wanted = query.relations or DEFAULT_RELATIONS
    results = finder.find(targets, name, wanted, query.depth, qualifiers)
    if _TEXT in wanted or (wanted == DEFAULT_RELATIONS and is_distinctive(spelling)):
        results = _with_text(trees, results, targets, name, spelling, mask=mask, check=check)
    shown = narrow(results) if narrow is not None else results
    relations = _read_relations(trees, shown, _limits(query), mask=mask)
    absent = f"no definition of `{query.text}` in {trees.place_name(None)}; names of libraries match as written"
    return UsageAnswer(
        query,
        name,
        list(dict.fromkeys(target.symbol for target in targets)),
        len(targets),
        trees.state(),
        relations,
        [*trees.take_notes(), *results.cuts, *([] if targets else [absent])],
        trees.stats,
    )


def _usages_of_file(
    trees: SearchedTrees[State],
    query: UsageQuery,
    entry: int,
    *,
    mask: bool,
    check: Callable[[], None],
    narrow: "Callable[[Found], Found] | None",
) -> UsageAnswer[State]:
    """Return the imports of a whole file, and the lines of text with its name. Raises UsageError, DamagedFile."""
    from gitmem.references.file_importers import find_importers, name_in_text
    from gitmem.references.usage_order import rank_usages
    from gitmem.references.usages import Found

    path = trees.path_of(entry)
    wanted = _FILE_RELATIONS if query.relations in ((), DEFAULT_RELATIONS) else query.relations
    if not set(wanted) <= set(_FILE_RELATIONS):
        hint = f"its relations are importers and text; add a line or a symbol for others, for example `{path}:1`"
        raise UsageError(f"`{path}` is a whole file", hint=hint)
    relations: dict[str, list[Usage]] = {}
    importers, cuts = find_importers(trees.names, path, trees.tree_of(entry), check)
    if "importers" in wanted:
        relations["importers"] = rank_usages(trees.names, is_test_file, (), importers)
    if _TEXT in wanted:
        known = {(usage.entry, usage.line) for usage in importers}
        name = name_in_text(path)
        usages, more_cuts = _text_lines(trees, (), name, name, mask=mask, check=check)
        new = (usage for usage in usages if (usage.entry, usage.line) not in known)
        relations[_TEXT] = rank_usages(trees.names, _is_minor_file, (), new)
        cuts += more_cuts
    results = Found(relations, cuts)
    places = _read_relations(trees, narrow(results) if narrow is not None else results, _limits(query), mask=mask)
    notes = [*trees.take_notes(), *cuts]
    return UsageAnswer(query, posixpath.basename(path), [path], 1, trees.state(), places, notes, trees.stats)


def _limits(query: UsageQuery) -> dict[str, int]:
    """Return the number of places of each relation that are shown."""
    limits = dict.fromkeys(USAGE_RELATIONS, query.limit)
    if _TEXT not in query.relations:
        limits[_TEXT] = min(TEXT_LIMIT, query.limit)
    return limits


def _with_text(
    trees: SearchedTrees[State],
    results: "Found",
    targets: "Sequence[Definition]",
    name: str,
    spelling: str,
    *,
    mask: bool,
    check: Callable[[], None],
) -> "Found":
    """Return usages, and the lines of text that have the name as it is spelled there."""
    from gitmem.references.usage_order import rank_usages

    usages, cuts = _text_lines(trees, targets, name, spelling, mask=mask, check=check)
    shown = {(usage.entry, usage.line) for related in results.relations.values() for usage in related}
    others = [usage for usage in usages if (usage.entry, usage.line) not in shown]
    ranked = rank_usages(trees.names, _is_minor_file, targets, others)
    return results._replace(relations={**results.relations, _TEXT: ranked}, cuts=[*results.cuts, *cuts])


def _is_minor_file(file: "FileNames") -> bool:
    """Return whether a file is a test, example, document, translation or the like."""
    return path_weight(file.path, file.may_test) < 1


def _text_lines(
    trees: SearchedTrees[State],
    targets: "Sequence[Definition]",
    name: str,
    spelling: str,
    *,
    mask: bool = True,
    check: Callable[[], None] = lambda: None,
) -> "tuple[list[Usage], list[str]]":
    from gitmem.references.text_lines import find_text_lines

    def read_lines(entries: Collection[int]) -> Mapping[int, Sequence[bytes]]:
        check()
        return trees.read_lines(entries, mask=mask)

    return find_text_lines(trees.names, targets, name, spelling, read_lines, _is_minor_file)


def _on_changed_lines(searcher: "Searcher", since: Revision, results: "Found") -> "Found":
    """Return only the usages on lines that differ from an older tree; definitions stay, they say what is meant."""
    view = searcher.view
    lines = read_new_lines(searcher.tree.location, since.tree, searcher.tree.revision.tree)

    def differs(usage: "Usage") -> bool:
        spans = lines.get(view.path(usage.entry), ())
        return spans is None or any(span.first <= usage.line < span.first + span.size for span in spans)

    relations = {
        relation: usages if relation == "definitions" else [usage for usage in usages if differs(usage)]
        for relation, usages in results.relations.items()
    }
    return results._replace(relations=relations)


def _find_targets(
    trees: SearchedTrees[State], number: int | None, text: str, folder: str
) -> "tuple[str, tuple[str, ...], list[Definition], str]":
    """Return the name that a text means, the names before it, its definitions, and how other text has it.

    Without definitions, text has the names before it as well. Raises UsageError.
    """
    from gitmem.references.named_definitions import find_definitions, read_name

    definitions = trees.find_at(number, text, folder)
    if definitions:
        return definitions[0].name, (), definitions, definitions[0].name
    if number is None:
        refuse_published_id(text)
    qualifiers, name = read_name(trees.names, text.removesuffix("()"))
    definitions = find_definitions(trees.names, name, qualifiers)
    targets = [each for each in definitions if number is None or trees.tree_of(each.entry) == number]
    others = trees.names.definitions(name) if (qualifiers or number is not None) and not targets else []
    # A name behind an import is a library's: `requests.get`.
    is_library = number is None and (not others or bool(trees.names.importers(qualifiers[0])))
    spelling = name if targets else text
    if not targets and not is_library and (number is not None or not _text_lines(trees, [], name, spelling)[0]):
        hint = f"definitions: {list_symbols(others)}" if others else "gitmem usages --all NAME"
        raise UsageError(f"no definition of `{text}` in {trees.place_name(number)}", hint=hint)
    return name, qualifiers, targets, spelling


def list_symbols(definitions: "Sequence[Definition]") -> str:
    """Return the first symbols of some definitions, and how many more there are."""
    symbols = list(dict.fromkeys(f"`{each.symbol}`" for each in definitions))
    shown = ", ".join(symbols[:_MAX_LISTED])
    return shown if len(symbols) <= _MAX_LISTED else f"{shown} and {len(symbols) - _MAX_LISTED} more"


def _read_relations(
    trees: SearchedTrees[State], results: "Found", limits: Mapping[str, int], *, mask: bool
) -> list[RelatedPlaces]:
    """Return the best usages of each relation with their lines."""
    listed = {relation: usages[: limits[relation]] for relation, usages in results.relations.items()}
    if _TEXT in listed:
        # Further comments of a file say little that is new; another file may.
        listed[_TEXT] = _of_most_files(results.relations[_TEXT], limits[_TEXT])
    rest = iter(read_places(trees, [usage for of_relation in listed.values() for usage in of_relation], mask=mask))
    return [
        RelatedPlaces(relation, len(results.relations[relation]), list(islice(rest, len(shown))))
        for relation, shown in listed.items()
    ]


def _of_most_files(usages: "Sequence[Usage]", limit: int) -> "list[Usage]":
    """Return the first usages, as few as possible of each file, in their order."""
    in_file = Counter[int]()
    order: list[tuple[int, int]] = []
    for place, usage in enumerate(usages):
        order.append((in_file[usage.entry], place))
        in_file[usage.entry] += 1
    return [usages[place] for place in sorted(place for _, place in sorted(order)[:limit])]


def read_places(trees: SearchedTrees[State], usages: "Sequence[Usage]", *, mask: bool) -> list[Place]:
    """Return usages with their lines."""
    lines = trees.read_lines({usage.entry for usage in usages}, mask=mask)

    def place(usage: "Usage") -> Place:
        target = f"{label_of(trees, usage.target.entry)}:{usage.target.line}" if usage.target is not None else ""
        text = line_at(lines[usage.entry], usage.line, mask=mask)
        path = trees.names.file(usage.entry).path
        through = usage.through.symbol if usage.through is not None else ""
        return Place(path, *usage[1:-2], target, through, text, trees.repository(usage.entry))

    return [place(usage) for usage in usages]
