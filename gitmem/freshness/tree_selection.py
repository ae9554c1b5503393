"""The tree a command is about: a revision, and the uncommitted changes over it.

`git status` takes longest, so it is started first and its output is read as late as possible: it runs while the index
and the libraries are loaded.
"""

from collections.abc import Sequence
from typing import Final

from gitmem.closeable import Closeable
from gitmem.errors import GitFailed, UsageError
from gitmem.git.locate import RepositoryLocation, locate_again
from gitmem.git.revisions import Revision, resolve, resolve_range
from gitmem.git.status import StatusEntry, StatusProcess, read_staged, read_status
from gitmem.git.trees import empty_tree
from gitmem.named_tuple import NamedTuple

COMMIT: Final = "commit"
STAGED: Final = "staged"
WORKTREE: Final = "worktree"

_TRIES: Final = 3


class TreeSelection(NamedTuple):
    """Which tree a command is about: the working tree unless one field is set.

    `rev` names a revision. `staged` means git's index. `changed` is a range `A..B`: the tree is B's, restricted to the
    lines that differ from A's.
    """

    rev: str = ""
    staged: bool = False
    changed: str = ""

    @property
    def is_working_tree(self) -> bool:
        """Whether uncommitted files belong to the tree."""
        return self == WORKING_TREE

    def check(self) -> None:
        """Refuse a selection of several trees. Raises UsageError."""
        options = ("--rev", self.rev), ("--staged", self.staged), ("--changed", self.changed)
        given = [f"`{name}`" for name, value in options if value]
        if len(given) > 1:
            raise UsageError(" and ".join(given) + " exclude each other")


WORKING_TREE: Final = TreeSelection()
STAGED_TREE: Final = TreeSelection(staged=True)


class SelectedTree(NamedTuple):
    """A tree: a revision with uncommitted `entries` over it. `source` is WORKTREE, STAGED or COMMIT.

    `since` is the older end of a range, if only changes are selected. `problem` is the reason why git could not report
    the uncommitted changes. `location` is the repository at the moment git ran.
    """

    location: RepositoryLocation
    revision: Revision
    source: str
    entries: Sequence[StatusEntry] = ()
    since: Revision | None = None
    problem: str = ""

    @property
    def named(self) -> bool:
        """Whether the user named the revision: then all of it is indexed before the answer, however long it takes."""
        return self.source == COMMIT and bool(self.revision.name)


class TreeReader(Closeable):
    """Resolve a selection to a tree. `git status` runs in the background from construction to `read`."""

    def __init__(self, location: RepositoryLocation, selection: TreeSelection) -> None:
        selection.check()
        self._location = location
        self._selection = selection
        self._tree: SelectedTree | None = None
        has_worktree = location.worktree is not None and selection.is_working_tree
        self._process = StatusProcess(location) if has_worktree else None

    def read(self) -> SelectedTree:
        """Wait for git and return the tree, the same one at every call.

        Raises: UnknownRevision, UsageError, GitFailed.
        """
        if self._tree is None:
            self._tree = self._read()
        return self._tree

    def _read(self) -> SelectedTree:
        location, selection = self._location, self._selection
        if selection.changed:
            since, revision = resolve_range(location, selection.changed)
            return SelectedTree(location, revision, COMMIT, since=since)
        if selection.rev:
            return SelectedTree(location, resolve(location, selection.rev), COMMIT)
        if selection.staged and location.bare:
            raise UsageError("a bare repository has no staged tree", hint="query a commit: --rev HEAD")
        if selection.staged:
            return SelectedTree(location, _head(location), STAGED, read_staged(location))
        if self._process is None:
            return SelectedTree(location, resolve(location, "HEAD")._replace(name=""), COMMIT)
        return self._read_worktree(self._process)

    def _read_worktree(self, process: StatusProcess) -> SelectedTree:
        """Read the working tree over the HEAD that `git status` compared with.

        A commit may land between locating the repository and the status. Both are read again until they agree, so that
        an answer never mixes the old HEAD with the new status.
        """
        location = self._location
        assert location.worktree is not None
        try:
            status = process.finish()
            for _ in range(_TRIES):
                if status.commit == location.head_commit:
                    break
                location = locate_again(location)
                status = read_status(location)
        except GitFailed as problem:
            return SelectedTree(location, _head(location), WORKTREE, problem=problem.message)
        return SelectedTree(location, _head(location), WORKTREE, status.entries)

    def close(self) -> None:
        """Stop git if it is still running."""
        if self._process is not None:
            self._process.close()


def _head(location: RepositoryLocation) -> Revision:
    """Return HEAD. Before the first commit that is the empty tree."""
    return Revision("HEAD", location.head_commit, location.head_tree or empty_tree(location), location.branch)
