"""Open trees of several repositories that import each other by the names of packages, for one query about names.

A server holds the trees open and makes `JoinedTrees` itself.
"""

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from gitmem.answering.definition_lookup import definitions_at_location, whole_file
from gitmem.answering.federated_query import require_members
from gitmem.answering.map_path import MappedPath, resolve_path
from gitmem.answering.repository_ids import parse_ids
from gitmem.answering.repository_selection import (
    ALL,
    ChosenRepository,
    check_federated_selection,
    choose_repositories,
    start_repositories,
)
from gitmem.answering.search_query import Query, SearchFilters
from gitmem.answering.searched_trees import (
    OfRepositories,
    SearchedRepositories,
    path_weight,
)
from gitmem.answering.source_lines import read_source_lines
from gitmem.answering.tree_packages import read_packages
from gitmem.errors import NoIndex, UsageError
from gitmem.freshness.tree_selection import TreeSelection
from gitmem.git.object_reader import ObjectReader
from gitmem.git.path_encoding import path_bytes, path_text
from gitmem.locations import parse_location
from gitmem.memory.kinds import CODE
from gitmem.named_tuple import NamedTuple
from gitmem.workspace import Workspace

# numpy and the search are loaded while `git status` runs.
if TYPE_CHECKING:
    from gitmem.answering.federated_search import Member
    from gitmem.answering.repository_selection import SkippedRepository
    from gitmem.references.file_graph import FileGraph
    from gitmem.references.file_names import Definition
    from gitmem.references.joined_names import JoinedNames
    from gitmem.search.hits import Hit

OpenBlobs = Callable[[int], AbstractContextManager[ObjectReader]]
"""Returns the blob reader of a member by its number."""


class TreesQuery(NamedTuple):
    """Names of repositories, and the tree of each to look in.

    With `own_selection` the user's own repository is always one of them, in that tree.
    """

    names: Sequence[str]
    selection: TreeSelection
    own_selection: TreeSelection | None = None

    def choose(
        self, environment: Mapping[str, str], own: Workspace | None, *, allow_folders: bool = True
    ) -> list[ChosenRepository]:
        """Return the repositories. Raises: UsageError."""
        check_federated_selection(self.selection)
        chosen = choose_repositories(environment, self.names, own, allow_folders=allow_folders)
        if self.own_selection is None or any(one.is_own for one in chosen):
            return chosen
        assert own is not None, "an own tree is in a repository"
        everything = choose_repositories(environment, [ALL], own)
        return [*(one for one in everything if one.is_own), *chosen]

    def selection_of(self, chosen: ChosenRepository) -> TreeSelection:
        """Return the tree of a repository."""
        return self.own_selection if chosen.is_own and self.own_selection is not None else self.selection


def read_joined(
    own: Workspace | None,
    query: TreesQuery,
    environment: Mapping[str, str],
    use: "Callable[[JoinedTrees], OfRepositories]",
    *,
    refresh: bool = True,
) -> OfRepositories:
    """Return an answer from the trees of some repositories; with `refresh` the user's own one is indexed first.

    Raises: as `use`, UsageError, DamagedFile, and NoIndex or UnknownRevision if no repository can be searched.
    """
    started = time.perf_counter()
    chosen = query.choose(environment, own)
    with ExitStack() as stack:
        pending = start_repositories(chosen, own, query.selection_of, environment, stack)
        # numpy and the search are imported while git runs.
        from gitmem.answering.federated_members import open_members
        from gitmem.git.objects import open_reader

        members, skipped = open_members(pending, (CODE,), query.selection_of, refresh=refresh)
        require_members(members, skipped)

        def open_blobs(number: int) -> AbstractContextManager[ObjectReader]:
            searcher = members[number].searcher
            return open_reader(searcher.tree.location, bulk=False, files=searcher.files)

        answer = use(JoinedTrees(members, open_blobs, skipped))
    answer.stats["query_time_ms"] = round((time.perf_counter() - started) * 1000, 1)
    return answer


class JoinedTrees:
    """Open trees of several repositories with their names as one, see `searched_trees.SearchedTrees`."""

    def __init__(
        self, members: "Sequence[Member]", open_blobs: OpenBlobs, skipped: "Sequence[SkippedRepository]" = ()
    ) -> None:
        self.members = members
        self.own = next((number for number, member in enumerate(members) if member.is_own), None)
        self._open_blobs = open_blobs
        self._skipped = skipped
        sizes = [len(member.searcher.view) for member in members]
        self._first = [0, *accumulate(sizes)][: len(members)]
        self._changed: dict[int, list[str]] = {}
        self._cuts: list[str] = []
        self._names: JoinedNames | None = None

    def require_own(self) -> "Member":
        """Return the user's own repository. Raises NoIndex if it cannot be searched."""
        if self.own is None:
            (own,) = (one for one in self._skipped if one.is_own)
            raise NoIndex(f"`{own.name}` cannot be searched: {own.reason}", hint="gitmem repos list")
        return self.members[self.own]

    def require_intact(self) -> None:
        for member in self.members:
            member.searcher.require_intact()

    @property
    def names(self) -> "JoinedNames":
        # Reads manifests, so the index must be known to be intact.
        if self._names is None:
            self._names = self._join_names()
        return self._names

    def _join_names(self) -> "JoinedNames":
        from gitmem.references.joined_names import JoinedNames

        trees = [
            member.searcher.numbered_names(first, number)
            for number, (member, first) in enumerate(zip(self.members, self._first, strict=True))
        ]
        packages = []
        for number, member in enumerate(self.members):
            known = member.searcher.packages
            if known is None:
                with self._open_blobs(number) as blobs:
                    known = read_packages(member.searcher, blobs)
            packages.append(known.provided)
            omitted = f"{member.name}: {known.omitted:,} manifests of packages were not read"
            self._cuts += [omitted] if known.omitted else []
        return JoinedNames(trees, packages)

    @property
    def stats(self) -> dict[str, Any]:
        return {"chunks": sum(member.searcher.snapshot.rows for member in self.members)}

    def graph(self, check: Callable[[], None]) -> "FileGraph":
        from gitmem.references.joined_graph import join_graphs

        graphs = [member.searcher.names.graph(path_weight, check) for member in self.members]
        graph, omitted = join_graphs(self.names, graphs, check)
        cut = f"{omitted:,} files were not read for what they import from other repositories"
        self._cuts += [cut] if omitted else []
        return graph

    def find(self, words: str, limit: int) -> "tuple[list[tuple[int, Hit]], list[str]]":
        from gitmem.answering.federated_search import FederatedSearcher

        result = FederatedSearcher(self.members).find(Query(words, filters=SearchFilters(kinds=(CODE,))), limit)
        places = [(self._entry(each.member, path_bytes(each.hit.path)), each.hit) for each in result.hits]
        return [(entry, hit) for entry, hit in places if entry is not None], list(result.notes)

    def _entry(self, number: int, path: bytes) -> int | None:
        entry = self.members[number].searcher.view.find(path)
        return None if entry is None else self._first[number] + entry

    def split(self, text: str) -> tuple[int | None, str]:
        names = [member.name for member in self.members]
        reasons = {one.name: one.reason for one in self._skipped}
        (id_,) = parse_ids([text], [*names, *reasons])
        # `web::sign` is a qualified name, whatever repositories there are.
        if not id_.repository or id_.name.startswith(":"):
            return None, text
        if id_.repository in reasons:
            reason = reasons[id_.repository]
            raise UsageError(f"`{id_.repository}` cannot be searched: {reason}", hint="gitmem repos list")
        return (names.index(id_.repository), id_.name) if id_.repository in names else (None, text)

    def place_name(self, number: int | None) -> str:
        return "these repositories" if number is None else self.members[number].name

    def find_at(self, number: int | None, text: str, folder: str) -> "list[Definition] | None":
        """Return the definitions that a location in a repository means, without a number in the user's own one."""
        of = self.own if number is None else number
        if of is None:
            self._refuse_location(text)
            return None
        member, inside = self.members[of], folder if number is None else ""
        with self._open_blobs(of) as blobs:
            found = definitions_at_location(member.searcher, text, inside, blobs)
        return found and [each._replace(entry=each.entry + self._first[of]) for each in found]

    def find_file(self, number: int | None, text: str, folder: str) -> int | None:
        """Return the file of a repository whose path a text is, without a number in the user's own one."""
        of = self.own if number is None else number
        if of is None:
            return None
        entry = whole_file(self.members[of].searcher, text, folder if number is None else "")
        return None if entry is None else entry + self._first[of]

    def path_of(self, entry: int) -> str:
        of = self.tree_of(entry)
        return path_text(self.members[of].searcher.view.path(entry - self._first[of]))

    def _refuse_location(self, text: str) -> None:
        """Raise UsageError for a location that names no repository: the user's own one is not among these."""
        from gitmem.answering.location_lookup import has_path

        for member in self.members:
            has_own = partial(has_path, member.searcher.indexed_tree)
            if has_own(parse_location(text, has_own).path):
                hint = f"begin it with the repository: {member.name}:{text}"
                raise UsageError(f"`{text}` is a location in one repository", hint=hint)
        if parse_location(text).lines is not None:
            raise UsageError(f"no such file in these repositories: `{text}`", hint="NAME:PATH:LINE")

    def find_files(self, path: str, folder: str, first: str) -> MappedPath:
        """Return the files below a path of one repository: the one that begins it, or else the user's own."""
        number, text = self.split(path or first)
        of = self.own if number is None else number
        if not text and number is None:
            return self._all_files("")
        if of is None and not path and "/" not in text:
            return self._all_files(text)
        if of is None:
            hint = f"begin the path with a repository: {self.members[0].name}:{text}"
            raise UsageError(f"`{text}` is a path in one repository", hint=hint)
        member, here = self.members[of], folder if number is None else ""
        # Behind the name of a repository, a text is never a word.
        is_path = bool(path) or number is not None
        mapped = resolve_path(member.searcher, text if is_path else "", here, first="" if is_path else text)
        if mapped.word:
            return self._all_files(mapped.word)
        return MappedPath(f"{member.name}:{mapped.path}", mapped.entries + self._first[of])

    def _all_files(self, word: str) -> MappedPath:
        import numpy as np

        files = [
            first + np.arange(member.searcher.files_in_tree)
            for first, member in zip(self._first, self.members, strict=True)
        ]
        return MappedPath("", np.concatenate(files), word)

    def find_entry(self, path: bytes) -> int | None:
        if self.own is None:
            return None
        entry = self._entry(self.own, path)
        return entry if entry is not None and self.names.has_names(entry) else None

    def tree_of(self, entry: int) -> int:
        return self.names.tree_of(entry)

    def repository(self, entry: int) -> str:
        return self.members[self.tree_of(entry)].name

    def read_lines(self, entries: Collection[int], *, mask: bool) -> dict[int, list[bytes]]:
        lines: dict[int, list[bytes]] = {}
        for number in sorted({self.tree_of(entry) for entry in entries}):
            first = self._first[number]
            own = [entry - first for entry in entries if self.tree_of(entry) == number]
            with self._open_blobs(number) as blobs:
                texts, changed = read_source_lines(self.members[number].searcher, own, blobs, mask=mask)
            self._changed.setdefault(number, []).extend(changed)
            lines |= {first + entry: text for entry, text in texts.items()}
        return lines

    def state(self) -> SearchedRepositories:
        from gitmem.answering.federated_answer import describe_member

        searched = [describe_member(member) for member in self.members]
        return SearchedRepositories(
            [
                one._replace(stale=True, missing=one.missing + len(self._changed[number]))
                if self._changed.get(number) else one
                for number, one in enumerate(searched)
            ],
            self._skipped,
        )  # fmt: skip

    def take_notes(self) -> list[str]:
        of_members = [f"{member.name}: {note}" for member in self.members for note in member.searcher.take_notes()]
        changed = [
            f"{self.members[number].name}: `{path}` changed while it was read; ask again"
            for number, paths in self._changed.items()
            for path in paths
        ]
        return [*of_members, *self._cuts, *changed]
