"""Answer with an outline of one tree or several: their most important definitions, within a budget of tokens.

With words, the surfer of the ranking starts at the files that a search for them finds, so that the outline shows what
these use and depend on. A server holds the tree open and calls `map_of`.
"""

import re
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Generic

from gitmem.answering.answer import ViewState
from gitmem.answering.repository_selection import refuse_published_id
from gitmem.answering.search_query import MAX_QUERY
from gitmem.answering.searched_trees import OneTree, SearchedTrees, State, answer_from_tree, label_of, path_weight
from gitmem.errors import UsageError
from gitmem.freshness.tree_selection import WORKING_TREE, TreeSelection
from gitmem.git.object_reader import ObjectReader
from gitmem.named_tuple import NamedTuple
from gitmem.secrets.masking import mask_text
from gitmem.types import OCCURRENCE_KINDS
from gitmem.workspace import Workspace

# numpy and the search are loaded while `git status` runs.
if TYPE_CHECKING:
    from gitmem.answering.searcher import Searcher
    from gitmem.references.file_graph import FileGraph, Weights
    from gitmem.references.file_names import Definition
    from gitmem.references.outline import OutlinedTree

DEFAULT_TOKENS: Final = 1_000
MIN_TOKENS: Final = 100
MAX_TOKENS: Final = 20_000
_MAX_PATH: Final = 4_096
_MAX_FILES: Final = 200
"""Files that an outline reads, however large its budget is."""

_TOKENS_PER_FILE: Final = 8
"""Tokens of the budget for each file whose definitions are compared.

A shown file takes more, but of the 40 best definitions, 91 % are in the 62 files of the highest rank and 98 % in the
125 first ones.
"""

_TOKENS_OF_LINE: Final = 6
"""Tokens that a line takes at least: it bounds what is read for a budget."""

_HEADING_TOKENS: Final = 50
"""Tokens for the tree and the notes."""

_HITS: Final = 40
"""Results of the search at which the surfer starts."""

_MATCHED: Final = 0.8
"""Probability to start at one of them. The rest keeps all files reachable."""

_COLUMNS: Final = 140
"""Columns of a shown declaration."""

_AFTER_BRACKET: Final = re.compile(r"([(\[]) +")
_DOCUMENTATION: Final = re.compile(r" ?/\*\*.*?(?:\*/|$)")
"""Comment on a parameter between the lines of a declaration."""

Estimate = Callable[[str], int]


class MapQuery(NamedTuple):
    """What an outline shows: the files below `path`, all if it is "", personalised by `words`.

    `first` is an argument that is a path if the tree has it, and else the first of the words. Paths are relative to the
    root of the tree, or else to `folder`, the user's folder below the root.
    """

    words: str = ""
    path: str = ""
    tokens: int = DEFAULT_TOKENS
    folder: str = ""
    first: str = ""


class MappedDefinition(NamedTuple):
    """Definition with its declaration; `depth` counts the shown containers around it."""

    line: int
    kind: str
    symbol: str
    depth: int
    importance: float
    text: str


class MappedFile(NamedTuple):
    """File of an outline with the importance of the shown definitions together, and these in the order of lines."""

    path: str
    importance: float
    definitions: list[MappedDefinition]
    repository: str = ""


class MapAnswer(NamedTuple, Generic[State]):
    """Outline of a tree, the most important files first; `total` files below the path have definitions or mentions.

    In an outline of several repositories, each file has the name of its one.
    """

    query: MapQuery
    files: list[MappedFile]
    total: int
    trees: State
    notes: list[str]
    stats: dict[str, Any]

    @property
    def is_empty(self) -> bool:
        """Whether no definition is shown."""
        return not self.files


def read_map(
    workspace: Workspace,
    query: MapQuery,
    estimate: Estimate,
    selection: TreeSelection = WORKING_TREE,
    *,
    refresh: bool = True,
    mask: bool = True,
) -> MapAnswer[ViewState]:
    """Return the outline of a tree. `estimate` counts the tokens of a text. With `refresh` missing blobs are indexed.

    With `mask` the characters of secrets are dots. Raises: UsageError, UnknownRevision, NoIndex, UnsafeIndex,
    NewerFormat, DamagedFile.
    """
    started = time.perf_counter()
    check_map_query(query)
    return answer_from_tree(
        workspace,
        selection,
        lambda searcher, blobs: map_of(searcher, query, estimate, blobs, mask=mask),
        started,
        refresh=refresh,
    )


def check_map_query(query: MapQuery) -> None:
    """Check a query against the bounds. Raises UsageError."""
    if not MIN_TOKENS <= query.tokens <= MAX_TOKENS:
        raise UsageError(f"the budget is {query.tokens} tokens, it must be between {MIN_TOKENS} and {MAX_TOKENS}")
    if any("\0" in text for text in (query.words, query.path, query.first)):
        raise UsageError("paths and words have no NUL", hint='gitmem map src "session expiry"')
    if len(query.words) + len(query.first) > MAX_QUERY:
        raise UsageError(f"the words have more than {MAX_QUERY} characters", hint="shorten them")
    if len(query.path) > _MAX_PATH:
        raise UsageError(f"a path has at most {_MAX_PATH} characters")


def map_of(
    searcher: "Searcher",
    query: MapQuery,
    estimate: Estimate,
    blobs: ObjectReader,
    *,
    mask: bool = True,
    check: Callable[[], None] = lambda: None,
) -> MapAnswer[ViewState]:
    """Return the outline of an open tree; `query` is checked, `blobs` reads its blobs.

    `check` raises to cancel. Raises: UsageError, DamagedFile.
    """
    return map_in(OneTree(searcher, blobs), query, estimate, mask=mask, check=check)


def map_in(
    trees: SearchedTrees[State],
    query: MapQuery,
    estimate: Estimate,
    *,
    mask: bool = True,
    check: Callable[[], None] = lambda: None,
) -> MapAnswer[State]:
    """Return the outline of open trees; `query` is checked, `check` raises to cancel. Raises: UsageError, DamagedFile.

    In several repositories, rank flows from files that import a package to those of the repository that provides it.
    """
    from gitmem.references.outline import outline
    from gitmem.search.path_roles import path_names

    trees.require_intact()
    refuse_published_id(query.path or query.first)
    mapped = trees.find_files(query.path, query.folder, query.first)
    words = " ".join(filter(str.strip, (mapped.word, query.words))).strip()
    query = query._replace(words=words, path=mapped.path, first="")
    graph = trees.graph(check)
    start, matches, notes = _start(trees, graph, words)
    limit = min(_MAX_FILES, max(4, query.tokens // _TOKENS_PER_FILE))
    ranks = graph.rank(start)
    tree = outline(trees.names, graph, ranks, mapped.entries, matches, lambda path: path_names(path).stem, limit)
    check()
    files = _fit(trees, tree, query.tokens - _HEADING_TOKENS, estimate, mask=mask)
    return MapAnswer(query, files, tree.files, trees.state(), [*trees.take_notes(), *notes], trees.stats)


def _start(
    trees: SearchedTrees[State], graph: "FileGraph", words: str
) -> "tuple[Weights, Mapping[tuple[int, str], float], list[str]]":
    """Return where the surfer starts, the scores of the symbols that match the words by node, and notes."""
    import numpy as np

    if not words:
        return graph.prior, {}, []
    hits, notes = trees.find(words, _HITS)
    scores = np.zeros(len(graph.prior))
    symbols: dict[tuple[int, str], float] = {}
    for entry, hit in hits:
        node = graph.node(entry)
        if node < 0 or not graph.has_names[node]:
            continue
        score = max(hit.score, 0.0) * path_weight(hit.path)
        scores[node] += score
        for symbol in hit.symbol.split(", "):
            symbols[node, symbol] = symbols.get((node, symbol), 0.0) + score
    total = float(scores.sum())
    if not total:
        return graph.prior, {}, [*notes, "no code matches the words; the outline is that without them"]
    start = _MATCHED * scores / total + (1 - _MATCHED) * graph.prior
    # A match counts as much as the surfer who starts there, so it comes before what it uses.
    return start, {place: _MATCHED * score / total for place, score in symbols.items()}, notes


class _Line(NamedTuple):
    """Line of an outline: a definition, its depth below the shown containers, and its declaration."""

    depth: int
    importance: float
    text: str


def _fit(
    trees: SearchedTrees[State], tree: "OutlinedTree", tokens: int, estimate: Estimate, *, mask: bool
) -> list[MappedFile]:
    """Return the best definitions for which a budget has room, by file."""
    # No line is shorter than this, so the rest cannot fit, and only these files are read.
    candidates = tree.definitions[: max(1, tokens // _TOKENS_OF_LINE)]
    lines = trees.read_lines({each.definition.entry for each in candidates}, mask=mask)
    scores = {each.definition: each.score for each in tree.definitions}
    shown: dict[int, dict[Definition, _Line]] = {}
    for each in candidates:
        entry = each.definition.entry
        own = shown.get(entry, {})
        added = {
            definition: _Line(depth, scores.get(definition, 0.0), declaration(lines[entry], definition, mask=mask))
            for depth, definition in enumerate((*each.containers, each.definition))
            if definition not in own
        }
        # A container that is shown for its member stands before it, so it counts with it.
        cost = sum(1 + estimate(map_line(of.line, line.depth, line.text)) for of, line in added.items())
        cost += 0 if own else 1 + estimate(label_of(trees, entry))
        if cost > tokens:
            break  # shorter ones behind it would be less important
        tokens -= cost
        shown.setdefault(entry, {}).update(added)
    files = [_mapped_file(trees, entry, own) for entry, own in shown.items()]
    return sorted(files, key=lambda file: (-file.importance, file.repository, file.path))


def _mapped_file(trees: SearchedTrees[State], entry: int, lines: "Mapping[Definition, _Line]") -> MappedFile:
    definitions = [
        MappedDefinition(of.line, OCCURRENCE_KINDS[of.kind], of.symbol, *line)
        for of, line in sorted(lines.items(), key=lambda item: (item[0].line, item[1].depth))
    ]
    path, importance = trees.names.file(entry).path, sum(each.importance for each in definitions)
    return MappedFile(path, importance, definitions, trees.repository(entry))


def declaration(lines: Sequence[bytes], definition: "Definition", *, mask: bool) -> str:
    """Return the declaration of a definition on one line, its secrets as dots with `mask`."""
    from gitmem.search.signature import MAX_DECLARATION_LINES, find_declaration

    first = definition.line - 1
    text = [line.decode("utf-8", "replace") for line in lines[first : first + MAX_DECLARATION_LINES]]
    joined = " ".join(text[number].strip() for number in find_declaration(text, definition.name))
    joined = _DOCUMENTATION.sub("", mask_text(joined) if mask else joined)
    joined = _AFTER_BRACKET.sub(r"\1", joined)
    if sum(map(joined.count, "([{")) > sum(map(joined.count, ")]}")):
        joined = f"{joined.rstrip(' ,')} …"
    return joined if len(joined) <= _COLUMNS else f"{joined[:_COLUMNS]}…"


def map_line(line: int, depth: int, text: str) -> str:
    """Return a definition as a line below the path of its file."""
    return f"{line:>5} {'  ' * depth}{text}"
