"""Answer who uses a name in several repositories that import each other by the names of packages."""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from itertools import accumulate, islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from gitmem.answering.federated_query import require_members
from gitmem.answering.repository_ids import parse_ids
from gitmem.answering.repository_selection import check_federated_selection, choose_repositories, start_repositories
from gitmem.answering.usage_answer import (
    DEFAULT_RELATIONS,
    Place,
    RelatedPlaces,
    UsageQuery,
    check_usage_query,
    find_place,
    list_symbols,
)
from gitmem.errors import UsageError
from gitmem.freshness.tree_selection import TreeSelection
from gitmem.git.object_reader import ObjectReader
from gitmem.memory.kinds import CODE
from gitmem.workspace import Workspace

# numpy and the search are loaded while `git status` runs.
if TYPE_CHECKING:
    from gitmem.answering.federated_answer import SearchedRepository, SkippedRepository
    from gitmem.answering.federated_search import Member
    from gitmem.references.provided_packages import ProvidedPackages
    from gitmem.references.tree_names import Definition
    from gitmem.references.usages import Found, Usage

_MAX_MANIFESTS: Final = 500
"""Manifests that are read in one tree. A larger monorepo has those nearest to its root."""

OpenBlobs = Callable[[int], AbstractContextManager[ObjectReader]]
"""Returns the blob reader of a member by its number."""


class FederatedUsages(NamedTuple):
    """Usages of a name by relation; each place has the name of its repository.

    `symbols` are those of the `definitions` that are meant, none if only libraries define it. `notes` about single
    repositories begin with their names.
    """

    query: UsageQuery
    name: str
    symbols: list[str]
    definitions: int
    searched: "Sequence[SearchedRepository]"
    skipped: "Sequence[SkippedRepository]"
    relations: list[RelatedPlaces]
    notes: list[str]
    stats: dict[str, Any]

    @property
    def is_empty(self) -> bool:
        """Whether nothing was found."""
        return not any(related.total for related in self.relations)


def read_federated_usages(
    own: Workspace | None,
    names: Sequence[str],
    query: UsageQuery,
    selection: TreeSelection,
    environment: Mapping[str, str],
    *,
    refresh: bool = True,
    mask: bool = True,
) -> FederatedUsages:
    """Return the usages in the repositories of some names; with `refresh` the user's own one is indexed first.

    With `mask` the characters of secrets are dots. Raises: UsageError, DamagedFile, and NoIndex if no repository can be
    searched.
    """
    started = time.perf_counter()
    check_usage_query(query)
    check_federated_selection(selection)
    chosen = choose_repositories(environment, names, own)
    with ExitStack() as stack:
        pending = start_repositories(chosen, own, selection, environment, stack)
        # numpy and the search are imported while git runs.
        from gitmem.answering.federated_members import open_members
        from gitmem.git.objects import open_reader

        members, skipped = open_members(pending, (CODE,), selection, refresh=refresh)
        require_members(members, skipped)

        def open_blobs(number: int) -> AbstractContextManager[ObjectReader]:
            searcher = members[number].searcher
            return open_reader(searcher.tree.location, bulk=False, files=searcher.files)

        answer = usages_of_members(members, query, open_blobs, skipped, mask=mask)
    answer.stats["query_time_ms"] = round((time.perf_counter() - started) * 1000, 1)
    return answer


def usages_of_members(
    members: "Sequence[Member]",
    query: UsageQuery,
    open_blobs: OpenBlobs,
    skipped: "Sequence[SkippedRepository]",
    *,
    mask: bool = True,
    check: Callable[[], None] = lambda: None,
) -> FederatedUsages:
    """Return the usages from open trees; `query` is checked, `check` raises to cancel.

    Raises: UsageError, DamagedFile.
    """
    from gitmem.answering.federated_answer import describe_member
    from gitmem.references.usages import UsageFinder
    from gitmem.search.path_roles import path_role

    for member in members:
        member.searcher.require_intact()
    _require_searched(query.text.strip(), skipped)
    joined = _Joined(members, open_blobs)
    name, qualifiers, targets = joined.find_targets(query)
    finder = UsageFinder(joined.names, lambda path: path_role(path) == "test", check)
    results = finder.find(targets, name, query.relations or DEFAULT_RELATIONS, query.depth, qualifiers)
    relations, changed = joined.read_places(results, query.limit, open_blobs, mask=mask)
    searched = [describe_member(member) for member in members]
    return FederatedUsages(
        query,
        name,
        list(dict.fromkeys(target.symbol for target in targets)),
        len(targets),
        [
            one._replace(stale=True, missing=one.missing + len(changed[one.name])) if changed.get(one.name) else one
            for one in searched
        ],
        skipped,
        relations,
        [
            *(f"{member.name}: {note}" for member in members for note in member.searcher.take_notes()),
            *joined.cuts,
            *results.cuts,
            *(
                f"{of}: `{path}` changed while it was read; ask again"
                for of, paths in changed.items()
                for path in paths
            ),
            *([] if targets else [f"no definition of `{query.text}` in these repositories; "
                                  "names of libraries match as written"]),
        ],
        {"chunks": sum(member.searcher.snapshot.rows for member in members)},
    )  # fmt: skip


def _require_searched(text: str, skipped: "Sequence[SkippedRepository]") -> None:
    """Raise UsageError if a text begins with the name of a repository that was skipped."""
    (id_,) = parse_ids([text], [one.name for one in skipped])
    for one in skipped:
        if one.name == id_.repository and not id_.name.startswith(":"):
            raise UsageError(f"`{one.name}` cannot be searched: {one.reason}", hint="gitmem repos list")


class _Joined:
    """Open trees with their names as one."""

    def __init__(self, members: "Sequence[Member]", open_blobs: OpenBlobs) -> None:
        from gitmem.references.joined_names import JoinedNames

        self._members = members
        sizes = [len(member.searcher.view) for member in members]
        self._first = [0, *accumulate(sizes)][: len(members)]
        trees = [
            member.searcher.numbered_names(first, number)
            for number, (member, first) in enumerate(zip(members, self._first, strict=True))
        ]
        provided = []
        self.cuts: list[str] = []
        for number, member in enumerate(members):
            with open_blobs(number) as blobs:
                packages, omitted = _provided_packages(member, blobs)
            provided.append(packages)
            self.cuts += [f"{member.name}: {omitted:,} manifests of packages were not read"] if omitted else []
        self.names: JoinedNames = JoinedNames(trees, provided)

    def find_targets(self, query: UsageQuery) -> "tuple[str, tuple[str, ...], list[Definition]]":
        """Return the name that a query means, the names before it, and its definitions. Raises UsageError."""
        from gitmem.references.named_definitions import find_definitions
        from gitmem.references.scopes import split_name

        number, text = self._split(query.text.strip())
        place = self._find_place(number, text, query.folder)
        if place is not None:
            return place.name, (), [place]
        *qualifiers, name = split_name(text.removesuffix("()")) or ("", "")
        found = find_definitions(self.names, name, qualifiers)
        targets = [each for each in found if number is None or self.names.tree_of(each.entry) == number]
        others = self.names.definitions(name) if (qualifiers or number is not None) and not targets else []
        if number is not None and not targets:
            hint = f"definitions elsewhere: {list_symbols(others)}" if others else "gitmem usages --all NAME"
            raise UsageError(f"no definition of `{text}` in {self._members[number].name}", hint=hint)
        if others and not self.names.importers(qualifiers[0]):
            hint = f"definitions: {list_symbols(others)}"
            raise UsageError(f"no definition of `{text}` in these repositories", hint=hint)
        return name, tuple(qualifiers), targets

    def _split(self, text: str) -> tuple[int | None, str]:
        """Return the number of the repository that begins a text, and the rest."""
        names = [member.name for member in self._members]
        (id_,) = parse_ids([text], names)
        # `web::sign` is a qualified name, whatever repositories there are.
        if id_.repository in names and not id_.name.startswith(":"):
            return names.index(id_.repository), id_.name
        return None, text

    def _find_place(self, number: int | None, text: str, folder: str) -> "Definition | None":
        """Return the definition that a location names in a repository, without a number in the user's own one."""
        own = next((place for place, member in enumerate(self._members) if member.is_own), None)
        of = own if number is None else number
        if of is None:
            return None
        definition = find_place(self._members[of].searcher, text, folder if of == own and number is None else "")
        return definition and definition._replace(entry=definition.entry + self._first[of])

    def read_places(
        self, results: "Found", limit: int, open_blobs: OpenBlobs, *, mask: bool
    ) -> tuple[list[RelatedPlaces], dict[str, list[str]]]:
        """Return the best usages of each relation with their lines, and by repository the files that have changed."""
        listed = {relation: usages[:limit] for relation, usages in results.relations.items()}
        usages = [usage for of_relation in listed.values() for usage in of_relation]
        lines, changed = self._read_lines({usage.entry for usage in usages}, open_blobs, mask=mask)
        places = iter([self._place(usage, lines[usage.entry], mask=mask) for usage in usages])
        return [
            RelatedPlaces(relation, len(results.relations[relation]), list(islice(places, len(shown))))
            for relation, shown in listed.items()
        ], changed

    def _read_lines(
        self, entries: set[int], open_blobs: OpenBlobs, *, mask: bool
    ) -> tuple[dict[int, list[bytes]], dict[str, list[str]]]:
        from gitmem.answering.source_lines import read_source_lines

        lines: dict[int, list[bytes]] = {}
        changed: dict[str, list[str]] = {}
        for number in sorted({self.names.tree_of(entry) for entry in entries}):
            member, first = self._members[number], self._first[number]
            own = [entry - first for entry in entries if self.names.tree_of(entry) == number]
            with open_blobs(number) as blobs:
                texts, changed[member.name] = read_source_lines(member.searcher, own, blobs, mask=mask)
            lines |= {first + entry: text for entry, text in texts.items()}
        return lines, changed

    def _place(self, usage: "Usage", lines: Sequence[bytes], *, mask: bool) -> Place:
        from gitmem.answering.source_lines import line_at

        target = f"{self._id(usage.target.entry)}:{usage.target.line}" if usage.target is not None else ""
        text = line_at(lines, usage.line, mask=mask)
        repository = self._members[self.names.tree_of(usage.entry)].name
        return Place(self.names.file(usage.entry).path, *usage[1:-1], target, text, repository)

    def _id(self, entry: int) -> str:
        return f"{self._members[self.names.tree_of(entry)].name}:{self.names.file(entry).path}"


def _provided_packages(member: "Member", blobs: ObjectReader) -> "tuple[ProvidedPackages, int]":
    """Return the packages of a tree, and the number of manifests that were not read.

    Files of tests, and vendored ones, provide no package that others import.
    """
    from gitmem.answering.source_lines import read_source_lines
    from gitmem.git.path_encoding import path_text
    from gitmem.references.provided_packages import MANIFESTS, SOURCES, ProvidedPackages
    from gitmem.search.path_roles import path_role

    view = member.searcher.view
    paths: list[str] = []
    manifests: dict[int, str] = {}
    for entry, raw in enumerate(islice(view.paths, member.searcher.files_in_tree)):
        path = path_text(raw)
        file = path.rpartition("/")[2]
        if file in MANIFESTS and path_role(path) != "auxiliary":
            manifests[entry] = path
        elif file.endswith(SOURCES) and path_role(path) not in ("test", "auxiliary"):
            paths.append(path)
    nearest = sorted(manifests, key=lambda entry: manifests[entry].count("/"))[:_MAX_MANIFESTS]
    texts, _ = read_source_lines(member.searcher, nearest, blobs, mask=False)
    read = {manifests[entry]: b"\n".join(lines).decode("utf-8", "replace") for entry, lines in texts.items()}
    return ProvidedPackages(paths, read), len(manifests) - len(nearest)
