"""Choose the repositories of a query by name, and open them for one query. Nothing but the user's own is indexed."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import Final

from gitmem.answering.repository_ids import PUBLISHED, is_published, parse_ids, repository_hint
from gitmem.answering.search_query import Query
from gitmem.errors import DamagedFile, GitmemError, NoIndex, NotARepository, UsageError
from gitmem.freshness.tree_selection import TreeReader, TreeSelection
from gitmem.git.locate import locate
from gitmem.locks import is_locked
from gitmem.named_tuple import NamedTuple
from gitmem.registry import free_name, read_registry
from gitmem.workspace import Workspace, open_workspace, registered_folder

ALL: Final = "*"
"""Name that means all registered repositories, and the user's own."""

MISSING: Final = "missing: its folder does not exist"

_TOGETHER: Final = 3
"""Repositories skipped for one reason from which on they share a line."""

_NAMED: Final = 8

_RUN_INDEX: Final = "; run: gitmem -C "
"""Begins the remedy in the reason of a repository that only needs a run."""

_STARTED: Final = 16
"""Repositories in which `git status` runs ahead of the search: a hundred processes at once would be too many."""


class SkippedRepository(NamedTuple):
    """Repository that could not be searched, with the reason. `is_own` if it is the one the user works in.

    `unknown_revision` has the message and the hint if the repository lacks the revision.
    """

    name: str
    reason: str
    is_own: bool = False
    unknown_revision: tuple[str, str] | None = None


class ChosenRepository(NamedTuple):
    """Repository to search, under its name. `is_own` if it is the one the user works in."""

    name: str
    folder: Path
    is_own: bool = False


SelectTree = Callable[[ChosenRepository], TreeSelection]
"""Returns the tree of a repository to search."""


class ChosenMembers(NamedTuple):
    """Members of a search: repositories of this machine, and names of those on the server, without their prefix."""

    local: list[ChosenRepository]
    published: tuple[str, ...] = ()

    @property
    def has_own(self) -> bool:
        """Whether the repository that the user works in is searched."""
        return any(one.is_own for one in self.local)


class StartedRepository(NamedTuple):
    """Repository whose tree is being read, or the reason why it cannot be."""

    chosen: ChosenRepository
    workspace: Workspace | None
    reader: TreeReader | None
    problem: GitmemError | None = None


def choose_members(
    environment: Mapping[str, str], names: Sequence[str], own: Workspace | None, *, allow_folders: bool = True
) -> ChosenMembers:
    """Return what some names mean, here and on the server, which alone knows its repositories. Raises: UsageError."""
    on_server = tuple(dict.fromkeys(name.removeprefix(PUBLISHED) for name in names if is_published(name)))
    if "" in on_server:
        raise UsageError(f"`{PUBLISHED}` names no repository", hint=f"`{PUBLISHED}NAME`, or `{PUBLISHED}*` for all")
    local = [name for name in names if not is_published(name)]
    return ChosenMembers(choose_repositories(environment, local, own, allow_folders=allow_folders), on_server)


def choose_repositories(
    environment: Mapping[str, str], names: Sequence[str], own: Workspace | None, *, allow_folders: bool = True
) -> list[ChosenRepository]:
    """Return the repositories of some names, each once. With `allow_folders` a name may also be a folder.

    Raises: UsageError.
    """
    known = [ChosenRepository(entry.name, entry.path) for entry in read_registry(environment)]
    if own is not None:
        known = _mark_own(known, own)
    # A repository that several names mean is searched once.
    chosen: dict[ChosenRepository, None] = {}
    for name in names:
        these = known if name == ALL else [_choose(known, name, allow_folders=allow_folders)]
        chosen |= dict.fromkeys(these)
        # Two folders that are not listed may have one name, and ids begin with it.
        known += [one for one in these if one not in known]
    return list(chosen)


def _mark_own(known: Sequence[ChosenRepository], own: Workspace) -> list[ChosenRepository]:
    """Return the known repositories with the user's own one, which is searched in the present working tree."""
    root = registered_folder(own)
    name = next((one.name for one in known if one.folder == root), "")
    name = name or free_name(root.name, {one.name for one in known})
    place = own.location.worktree or own.location.git_dir
    return sorted([*(one for one in known if one.folder != root), ChosenRepository(name, place, is_own=True)])


def _choose(known: Sequence[ChosenRepository], name: str, *, allow_folders: bool) -> ChosenRepository:
    """Return the repository of a name or folder; a name has precedence. Raises: UsageError."""
    found = next((one for one in known if one.name == name), None)
    if found is not None:
        return found
    if allow_folders and (os.sep in name or name in (".", "..")):
        try:
            location = locate(Path(name))
        except NotARepository as problem:
            raise UsageError(f"no repository `{name}`: {problem.message}", hint="gitmem repos list") from problem
        folder = location.worktree or location.git_dir
        by_folder = next((one for one in known if one.folder == folder), None)
        return by_folder or ChosenRepository(free_name(folder.name, {one.name for one in known}), folder)
    refuse_published(name)
    raise UsageError(f"unknown repository `{name}`", hint=repository_hint(name, [one.name for one in known]))


def refuse_published(name: str) -> None:
    """Refuse the name of a repository on the server of an organisation. Raises UsageError.

    The server has no names of definitions and references, only blobs with their words and vectors.
    """
    if is_published(name):
        message = f"`{name}` is on the server of an organisation, which answers only searches and `get`"
        raise UsageError(message, hint="name a repository of this machine: gitmem repos list")


def refuse_published_id(text: str) -> None:
    """Refuse an id in such a repository, `org:NAME:ID`. Raises UsageError."""
    (id_,) = parse_ids([text], ())
    refuse_published(id_.repository)


def start_repositories(
    chosen: Sequence[ChosenRepository], own: Workspace | None, selection_of: SelectTree,
    environment: Mapping[str, str], stack: ExitStack,
) -> Iterator[StartedRepository]:  # fmt: skip
    """Start `git status` in the first repositories, and return all in their order. The stack ends the processes."""
    pending = (_start(one, own, selection_of(one), environment, stack) for one in chosen)
    return _keep_ahead(list(islice(pending, _STARTED)), pending)


def _keep_ahead(started: list[StartedRepository], pending: Iterator[StartedRepository]) -> Iterator[StartedRepository]:
    while started:
        yield started.pop(0)
        started += islice(pending, 1)


def _start(
    chosen: ChosenRepository, own: Workspace | None, selection: TreeSelection, environment: Mapping[str, str],
    stack: ExitStack,
) -> StartedRepository:  # fmt: skip
    try:
        if not chosen.folder.is_dir():
            raise NotARepository(MISSING)
        workspace = own if own and chosen.is_own else open_workspace(chosen.folder, environment)
        return StartedRepository(chosen, workspace, stack.enter_context(TreeReader(workspace.location, selection)))
    except GitmemError as problem:
        return StartedRepository(chosen, None, None, problem)


def describe_problem(problem: GitmemError, chosen: ChosenRepository, workspace: Workspace | None) -> str:
    """Return why a repository cannot be searched, and the remedy."""
    if isinstance(problem, NoIndex) and workspace is not None and is_locked(workspace.paths.lock):
        return "busy: another process builds its index"
    if isinstance(problem, NoIndex | DamagedFile):
        return f"{problem.message}{_RUN_INDEX}{chosen.folder} index"
    return f"{problem.message}; {problem.hint}" if problem.hint else problem.message


def check_federated(query: Query, selection: TreeSelection) -> None:
    """Refuse what makes no sense in several repositories. Raises: UsageError."""
    check_federated_selection(selection)
    if query.filters.pathspecs:
        raise UsageError("paths after `--` apply to one repository", hint="use `--folder`, `--file` or `--path`")


def check_federated_selection(selection: TreeSelection) -> None:
    """Refuse a range, whose ends are in one repository. Raises: UsageError."""
    if selection.changed:
        raise UsageError("`--changed` applies to one repository", hint="leave out `--repo` and `--all`")


def describe_skipped(skipped: Sequence[SkippedRepository]) -> list[str]:
    """Return why repositories were skipped: each by itself, or together if several have the same reason."""
    by_cause: dict[str, list[SkippedRepository]] = {}
    for one in skipped:
        by_cause.setdefault(one.reason.partition(_RUN_INDEX)[0], []).append(one)
    lines = []
    for cause, group in by_cause.items():
        if len(group) < _TOGETHER:
            lines += [f"{one.name}: {one.reason}" for one in group]
            continue
        # After an update of gitmem that is every repository of the list.
        remedy = "; run `gitmem index` in each" if _RUN_INDEX in group[0].reason else ""
        names = ", ".join(one.name for one in group[:_NAMED])
        others = f" and {len(group) - _NAMED} more" if len(group) > _NAMED else ""
        lines.append(f"{len(group)} repositories: {cause}{remedy}: {names}{others}")
    return lines
