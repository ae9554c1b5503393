"""Open trees whose names a query reads: one tree, or those of several repositories (`joined_trees`).

`usages`, `map` and `impact` are written once for both. Their answers hold the state of the tree or of the repositories.
"""

import time
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from gitmem.answering.answer import ViewState, view_state, with_tree
from gitmem.answering.definition_lookup import definitions_at_location, whole_file
from gitmem.answering.map_path import MappedPath, resolve_path
from gitmem.answering.search_query import Query, SearchFilters
from gitmem.answering.source_lines import read_source_lines
from gitmem.freshness.tree_selection import TreeSelection
from gitmem.git.object_reader import ObjectReader
from gitmem.git.path_encoding import path_bytes, path_text
from gitmem.memory.kinds import CODE
from gitmem.named_tuple import NamedTuple
from gitmem.workspace import Workspace

# numpy and the search are loaded while `git status` runs.
if TYPE_CHECKING:
    from gitmem.answering.federated_answer import SearchedRepository
    from gitmem.answering.repository_selection import SkippedRepository
    from gitmem.answering.searcher import Searcher
    from gitmem.references.file_graph import FileGraph
    from gitmem.references.file_names import Definition, FileNames
    from gitmem.references.tree_names import Names
    from gitmem.search.hits import Hit


class SearchedRepositories(NamedTuple):
    """Repositories that a query looked in, and those that it could not."""

    searched: "Sequence[SearchedRepository]"
    skipped: "Sequence[SkippedRepository]"


State = TypeVar("State", covariant=True, bound=ViewState | SearchedRepositories)
"""State of the tree of an answer, or of its repositories."""


class TreesAnswer(Protocol[State]):
    """Answer about names from one tree or several. Notes about one of several repositories begin with its name."""

    @property
    def trees(self) -> State:
        """State of the trees."""

    @property
    def notes(self) -> list[str]:
        """Notes about the answer."""

    @property
    def stats(self) -> dict[str, Any]:
        """Sizes and times."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing was found."""


OfTree = TypeVar("OfTree", bound=TreesAnswer[ViewState])
OfRepositories = TypeVar("OfRepositories", bound=TreesAnswer[SearchedRepositories])


class SearchedTrees(Protocol[State]):
    """Trees of one query. Entries number the files of all trees; `own` is the number of the user's tree, if any.

    A number of a tree is None in a text that names no repository.
    """

    own: int | None

    @property
    def names(self) -> "Names":
        """Definitions and references in all files."""

    @property
    def stats(self) -> dict[str, Any]:
        """Sizes of the searched index."""

    def require_intact(self) -> None:
        """Raise DamagedFile if a file of the index has another size than it should."""

    def graph(self, check: Callable[[], None]) -> "FileGraph":
        """Return the graph of the files. Raises DamagedFile."""

    def find(self, words: str, limit: int) -> "tuple[list[tuple[int, Hit]], list[str]]":
        """Return the entries and hits of a search in the code, and its notes."""

    def split(self, text: str) -> tuple[int | None, str]:
        """Return the number of the tree whose name begins a text, and the rest."""

    def place_name(self, number: int | None) -> str:
        """Return the words for a tree, or for all."""

    def find_at(self, number: int | None, text: str, folder: str) -> "list[Definition] | None":
        """Return the definitions of the name that a location means; None if the text is a name. Raises UsageError."""

    def find_file(self, number: int | None, text: str, folder: str) -> int | None:
        """Return the file whose path a text is, None if it is none or a component. Raises UsageError."""

    def path_of(self, entry: int) -> str:
        """Return the path of a file, of which the index may have no names."""

    def find_files(self, path: str, folder: str, first: str) -> MappedPath:
        """Return the files below a path, see `map_path`. Raises UsageError."""

    def find_entry(self, path: bytes) -> int | None:
        """Return the file at a path of the user's own tree, if the index has its names."""

    def tree_of(self, entry: int) -> int:
        """Return the number of the tree that a file is in."""

    def repository(self, entry: int) -> str:
        """Return the name of the repository of a file, "" if there is only one."""

    def read_lines(self, entries: Collection[int], *, mask: bool) -> dict[int, list[bytes]]:
        """Return the lines of some files. Those that have changed meanwhile make the state stale."""

    def state(self) -> State:
        """Return the state of the trees."""

    def take_notes(self) -> list[str]:
        """Return the notes about the trees, which are then forgotten."""


class OneTree:
    """Open tree of one repository. `blobs` reads its blobs."""

    own: int | None = 0

    def __init__(self, searcher: "Searcher", blobs: ObjectReader) -> None:
        self.searcher = searcher
        self._blobs = blobs
        self._changed: list[str] = []

    @property
    def names(self) -> "Names":
        return self.searcher.names

    @property
    def stats(self) -> dict[str, Any]:
        snapshot = self.searcher.snapshot
        return {"chunks": snapshot.rows, "generation": snapshot.manifest.generation}

    def require_intact(self) -> None:
        self.searcher.require_intact()

    def graph(self, check: Callable[[], None]) -> "FileGraph":
        return self.searcher.names.graph(path_weight, check)

    def find(self, words: str, limit: int) -> "tuple[list[tuple[int, Hit]], list[str]]":
        result = self.searcher.find(Query(words, filters=SearchFilters(kinds=(CODE,))), limit)
        entries = [self.searcher.view.find(path_bytes(hit.path)) for hit in result.hits]
        places = [(entry, hit) for entry, hit in zip(entries, result.hits, strict=True) if entry is not None]
        return places, list(result.notes)

    def split(self, text: str) -> tuple[int | None, str]:
        return None, text

    def place_name(self, _number: int | None) -> str:
        return "this tree"

    def find_at(self, _number: int | None, text: str, folder: str) -> "list[Definition] | None":
        return definitions_at_location(self.searcher, text, folder, self._blobs)

    def find_file(self, _number: int | None, text: str, folder: str) -> int | None:
        return whole_file(self.searcher, text, folder)

    def path_of(self, entry: int) -> str:
        return path_text(self.searcher.view.path(entry))

    def find_files(self, path: str, folder: str, first: str) -> MappedPath:
        return resolve_path(self.searcher, path, folder, first=first)

    def find_entry(self, path: bytes) -> int | None:
        entry = self.searcher.view.find(path)
        return entry if entry is not None and self.searcher.names.has_names(entry) else None

    def tree_of(self, _entry: int) -> int:
        return 0

    def repository(self, _entry: int) -> str:
        return ""

    def read_lines(self, entries: Collection[int], *, mask: bool) -> dict[int, list[bytes]]:
        lines, changed = read_source_lines(self.searcher, entries, self._blobs, mask=mask)
        self._changed += changed
        return lines

    def state(self) -> ViewState:
        view = view_state(self.searcher)
        return view._replace(stale=True, missing=view.missing + len(self._changed)) if self._changed else view

    def take_notes(self) -> list[str]:
        return [*self.searcher.take_notes(), *(f"`{path}` changed while it was read; ask again" for path in
                                               self._changed)]  # fmt: skip


def answer_from_tree(
    workspace: Workspace,
    selection: TreeSelection,
    use: "Callable[[Searcher, ObjectReader], OfTree]",
    started: float,
    *,
    refresh: bool,
) -> OfTree:
    """Return an answer from a tree, with the time since `started`. With `refresh` missing blobs are indexed first.

    Raises: as `answer.with_tree`.
    """
    answer, repaired = with_tree(workspace, selection, (CODE,), use, refresh=refresh)
    if repaired:
        answer.notes.insert(0, repaired)
    answer.stats["query_time_ms"] = round((time.perf_counter() - started) * 1000, 1)
    return answer


def path_weight(path: str, may_test: bool = True) -> float:
    """Return how likely the surfer of the ranking starts at a file, by its path and whether it may contain tests."""
    from gitmem.search.path_roles import file_role

    # Relative to a file of plain code.
    return {"test": 0.1, "example": 0.1, "auxiliary": 0.1, "document": 0.1}.get(file_role(path, may_test=may_test), 1.0)


def is_test_file(file: "FileNames") -> bool:
    """Return whether a file is a test."""
    from gitmem.search.path_roles import path_role, role_without_tests

    # Most paths say no, so the index is asked about few files.
    return path_role(file.path) == "test" and (file.may_test or role_without_tests(file.path) == "test")


def label_of(trees: SearchedTrees[State], entry: int) -> str:
    """Return the path of a file, behind the name of its repository if there are several."""
    repository = trees.repository(entry)
    path = trees.names.file(entry).path
    return f"{repository}:{path}" if repository else path
