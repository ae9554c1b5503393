"""The tree that a request is about: a revision, and what is uncommitted over it.

A request that names nothing is about the working tree. Git is asked for what is uncommitted there at once and waited
for late, so that it looks while other things are loaded.
"""

import math
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final, NamedTuple

from gitmem.closeable import Closing
from gitmem.errors import GitFailed, StorageFailed, UsageError
from gitmem.git.locate import Location, locate
from gitmem.git.revisions import Revision, resolve, resolve_range
from gitmem.git.status import StatusEntry, StatusProcess, read_staged, read_status
from gitmem.git.trees import empty_tree
from gitmem.store.manifest import Manifest
from gitmem.workspace import Workspace, is_writable

if TYPE_CHECKING:
    from gitmem.answering.answer import Request
    from gitmem.indexing.overlay import Overlay

COMMIT: Final = "commit"
STAGED: Final = "staged"
WORKTREE: Final = "worktree"

_TRIES: Final = 3


class AskedTree(NamedTuple):
    """A tree: `entries` are uncommitted over `revision`; `source` is WORKTREE, STAGED or COMMIT.

    `since` is the tree from which on only changes are asked for, where they are. `problem` says why git could not tell
    what is uncommitted. `location` is that of the moment git was asked.
    """

    location: Location
    revision: Revision
    source: str
    entries: Sequence[StatusEntry] = ()
    since: Revision | None = None
    problem: str = ""

    @property
    def named(self) -> bool:
        """Whether a revision was named, so that nothing but all of it will do."""
        return self.source == COMMIT and bool(self.revision.name)


def check_tree(request: "Request") -> None:
    """Refuse a request that names several trees. Raises UsageError."""
    named = [
        name
        for name, given in (("--rev", request.rev), ("--staged", request.staged), ("--changed", request.changed))
        if given
    ]
    if len(named) > 1:
        raise UsageError(" and ".join(f"`{name}`" for name in named) + " exclude each other")


class TreeReader(Closing):
    """Finds out which tree a request is about."""

    def __init__(self, location: Location, request: "Request") -> None:
        check_tree(request)
        self._location = location
        self._request = request
        self._asked: AskedTree | None = None
        named = request.rev or request.staged or request.changed
        self._process = StatusProcess(location) if location.worktree is not None and not named else None

    def read(self) -> AskedTree:
        """Wait for git; it is asked once. Raises UnknownRevision, UsageError, GitFailed."""
        if self._asked is None:
            self._asked = self._read()
        return self._asked

    def _read(self) -> AskedTree:
        location, request = self._location, self._request
        if request.changed:
            since, revision = resolve_range(location, request.changed)
            return AskedTree(location, revision, COMMIT, since=since)
        if request.rev:
            return AskedTree(location, resolve(location, request.rev), COMMIT)
        if request.staged and location.bare:
            raise UsageError("a bare repository has nothing staged", hint="ask what is committed: --rev HEAD")
        if request.staged:
            return AskedTree(location, _head(location), STAGED, read_staged(location))
        if self._process is None:
            return AskedTree(location, resolve(location, "HEAD")._replace(name=""), COMMIT)
        return self._read_worktree(self._process)

    def _read_worktree(self, process: StatusProcess) -> AskedTree:
        """The working tree over the HEAD that git saw: a commit between two questions must not show half of it."""
        location = self._location
        assert location.worktree is not None
        try:
            status = process.finish()
            for _ in range(_TRIES):
                if status.commit == location.head_commit:
                    break
                location = locate(location.worktree)
                status = read_status(location)
        except GitFailed as problem:
            return AskedTree(location, _head(location), WORKTREE, problem=problem.message)
        return AskedTree(location, _head(location), WORKTREE, status.entries)

    def close(self) -> None:
        """End git if it is still running."""
        if self._process is not None:
            self._process.close()


def open_tree(
    workspace: Workspace, asked: AskedTree, manifest: Manifest, *, deadline: float = math.inf, write: bool = True
) -> "Overlay":
    """The view of a tree with what is uncommitted; of a working tree it is recorded what was seen.

    Hashing ends at the deadline (`time.monotonic`). Nothing is written where nothing can be, or `write` is off. Raises
    GitFailed.
    """
    from gitmem.indexing.overlay import Overlay
    from gitmem.indexing.views import open_view

    location, paths = workspace.location, workspace.paths
    keep = write and is_writable(paths.views)
    latest = manifest.views[-1] if manifest.views else ""
    base = open_view(location, paths, asked.revision.tree, base=latest, keep=keep)
    recorded = asked.source == WORKTREE and not asked.problem
    place = paths.uncommitted(location.worktree_id)
    if not asked.entries and not (recorded and place.exists()):
        return Overlay(base)
    from gitmem.indexing.uncommitted_views import lay_over
    from gitmem.store.uncommitted_ids import EMPTY, read_record, write_record

    known = read_record(place) if recorded else EMPTY
    most = workspace.settings.max_file_bytes
    overlay = lay_over(location, paths, base, asked.entries, known, max_bytes=most, deadline=deadline, keep=keep)
    if overlay.record is not None and overlay.record != known and recorded and keep:
        with suppress(StorageFailed):
            write_record(place, overlay.record)
    return overlay


def _head(location: Location) -> Revision:
    """HEAD, which before the first commit is a tree without entries."""
    return Revision("HEAD", location.head_commit, location.head_tree or empty_tree(location), location.branch)
