"""Open the index of commit messages for a search of the commits in the history of a tree's commit."""

import math
import time
from datetime import datetime

import numpy as np

from gitmem.answering.filter_rows import row_filters
from gitmem.answering.search_query import SearchFilters
from gitmem.arrays import NDArray
from gitmem.display import count
from gitmem.errors import (
    Busy,
    DamagedFile,
    GitFailed,
    NewerFormat,
    NoIndex,
    StorageFailed,
    UnsafeIndex,
    UsageError,
)
from gitmem.freshness.commit_index import PROVIDER_PROBLEM, RESUME, find_history, of_history
from gitmem.freshness.tree_selection import SelectedTree
from gitmem.git.batch import COMMITS
from gitmem.git.path_encoding import path_bytes
from gitmem.indexing.commit_views import Commits, open_commits
from gitmem.indexing.fingerprint import current_fingerprint
from gitmem.records.filters import RecordFilters, matches_author
from gitmem.search.hits import Hit
from gitmem.search.scope import Filters, Scope
from gitmem.settings import BUNDLED
from gitmem.store.manifest import Manifest
from gitmem.store.snapshot import Snapshot
from gitmem.workspace import Workspace, is_writable, open_snapshot


class CommitSearch:
    """Commits in the history of a tip, with the index of their messages. `notes` are about what it lacks."""

    def __init__(self, snapshot: Snapshot, view: Commits, notes: list[str]) -> None:
        self.snapshot = snapshot
        self.view = view
        self.blob_of = snapshot.match(view)
        missing = int((self.blob_of == -1).sum())
        gap = [f"{count(missing, 'commit message')} not indexed yet ({RESUME})"] if missing else []
        self.notes = [*notes, *gap]
        self.is_complete = not missing
        self._whole: Scope | None = None

    def scope(self, filters: SearchFilters) -> Scope:
        """Return the rows of the commits that pass filters."""
        if self._whole is None:
            self._whole = Scope(self.snapshot, self.view, Filters(), self.blob_of)
        if not filters.any:
            return self._whole
        return Scope(self.snapshot, self.view, row_filters(filters), self.passing_blobs(filters), self._whole)

    def passing_blobs(self, filters: SearchFilters) -> NDArray[np.int64]:
        """Return the blob of each commit, -2 for those that do not pass the filters on author and time."""
        # -2 marks commits that must not be found, as in Snapshot.match; -1 would count as missing in the index.
        return np.where(_matches(self.view, filters.records), self.blob_of, -2)

    def require_intact(self) -> None:
        """Raise DamagedFile if another program truncated an open file."""
        self.snapshot.require_whole()
        self.view.require_as_opened()


class CommitSource:
    """Index of commit messages as one open tree sees it: opened by its first search, and again after each change."""

    def __init__(self, workspace: Workspace, tree: SelectedTree, *, refresh: bool) -> None:
        self._workspace = workspace
        self._tree = tree
        self._refresh = refresh
        self._open: CommitSearch | None = None
        self._problem = ""

    @property
    def _is_bundled(self) -> bool:
        return self._workspace.settings.provider == BUNDLED

    def find(self) -> CommitSearch | None:
        """Return the open commits, None if messages were never indexed, or the tree belongs to no commit.

        Raises: NoIndex if only a run may read the index, UnsafeIndex, DamagedFile, NewerFormat, GitFailed.
        """
        manifest, tip = find_history(self._workspace), self._tree.revision.commit
        if manifest is None or tip is None or not self._is_bundled:
            return None
        search = self._open
        if search is None or not search.is_complete or search.snapshot.manifest.generation != manifest.generation:
            search = self._open = self._read(manifest, tip)
        search.require_intact()
        return search

    def get(self) -> CommitSearch:
        """Return the open commits. Raises: as `find`, and NoIndex or UsageError if there are none."""
        if not self._is_bundled:
            raise UsageError(PROVIDER_PROBLEM, hint="leave out `--kind commits`")
        commits = self.find()
        if commits is None and self._tree.revision.commit is None:
            raise UsageError(f"`{self._tree.revision.name}` has no commits", hint="name a commit, tag or branch")
        if commits is None:
            raise NoIndex("commit messages are not indexed", hint=f"run `{RESUME}`")
        return commits

    def find_if_readable(self) -> CommitSearch | None:
        """Return the open commits as `find` does; an error becomes a note. Raises: DamagedFile."""
        self._problem = ""
        try:
            return self.find()
        except (NoIndex, UnsafeIndex, NewerFormat, GitFailed) as problem:
            self._open = None
            self._problem = f"{problem.message}; {problem.hint}" if problem.hint else problem.message
            return None

    def scopes(self, filters: SearchFilters, *, required: bool) -> list[Scope]:
        """Return the rows of the commits that pass filters; nothing without an index unless it is `required`."""
        commits = self.get() if required else self.find()
        return [] if commits is None else [commits.scope(filters)]

    def notes(self) -> list[str]:
        """Return what a search of several kinds says about the commits."""
        if self._open is not None:
            return self._open.notes
        if self._problem:
            return [self._problem]
        if not self._is_bundled:
            return [PROVIDER_PROBLEM]
        return [] if self._tree.revision.commit is None else [f"commit messages are not indexed ({RESUME})"]

    def locate(self, hit: Hit) -> tuple[Snapshot, int]:
        """Return the index of a hit of these commits, and the number of its commit there."""
        assert self._open is not None, "a hit comes from open commits"
        entry = self._open.view.find(path_bytes(hit.path))
        assert entry is not None, "a hit's path is in the view"
        return self._open.snapshot, int(self._open.blob_of[entry])

    def _read(self, manifest: Manifest, tip: str) -> CommitSearch:
        """Open the commits; index the messages that are missing first, within the time of a query."""
        workspace, notes = self._workspace, []
        if manifest.fingerprint != current_fingerprint(workspace.settings):
            if not self._refresh:
                raise NoIndex("the index of commit messages was made by another version", hint=f"run `{RESUME}`")
            from gitmem.freshness.commit_run import index_commits  # loads the worker pool, as below

            notes.append(f"commit messages were indexed again: {index_commits(workspace).rebuilt}")
            manifest = find_history(workspace) or manifest
        history, limit = of_history(workspace), workspace.settings.history_budget
        keep = self._refresh and not self._tree.named and is_writable(history.paths.state)
        view = open_commits(workspace.location, history.paths.commits, tip, limit, keep=keep)
        snapshot = open_snapshot(history, manifest)
        if snapshot.lost and self._refresh:
            raise DamagedFile(snapshot.lost[0])
        if self._refresh and (snapshot.match(view) == -1).any() and is_writable(history.paths.segments):
            snapshot, problem = self._heal(history, view, snapshot)
            notes += [problem] if problem else []
        return CommitSearch(snapshot, view, [*notes, *snapshot.lost])

    def _heal(self, history: Workspace, view: Commits, snapshot: Snapshot) -> tuple[Snapshot, str]:
        """Index missing messages; return the index afterwards, and a note if that failed, else ""."""
        from gitmem.freshness.heal import heal  # loads the worker pool; most searches find nothing missing

        named = self._tree.named
        deadline = math.inf if named else time.monotonic() + history.settings.heal_budget / 1000
        try:
            manifest = heal(history, view, {}, deadline=deadline, wait=named, resume=RESUME, kinds=COMMITS)
        except (Busy, StorageFailed) as error:
            return snapshot, error.message
        return (snapshot if manifest is None else open_snapshot(history, manifest)), ""


def _matches(view: Commits, filters: RecordFilters) -> NDArray[np.bool_]:
    """Return the mask of the commits that pass, [entries]. Fields that only records have let none pass."""
    mask = np.full(len(view), not filters.excludes_code)
    columns = view.commit_columns
    if filters.author:
        mask &= columns.authors.select(lambda author: matches_author(filters, author))
    if filters.since:
        mask &= columns.seconds >= datetime.fromisoformat(filters.since).timestamp()
    if filters.until:
        mask &= columns.seconds <= datetime.fromisoformat(filters.until).timestamp()
    return mask
