"""Build the index of the code of the past, and bring it up to date. Imports numpy and the worker pool.

Each version of a file is read once, and only definitions that no earlier version had become rows. Segments are
published as they fill, so a killed or stopped run continues where it was. The lives of the chunks are written last.
"""

import os
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from gitmem.errors import DamagedFile
from gitmem.freshness.cancellation import signals_as_exceptions, stoppable
from gitmem.freshness.commit_index import RESUME
from gitmem.freshness.history_run import HistoryReport, make_folders, starting_point, sweep, usable_workspace
from gitmem.freshness.past_index import find_past, past_fingerprint
from gitmem.git.file_history import read_shallow
from gitmem.git.locate import RepositoryLocation
from gitmem.git.objects import open_reader
from gitmem.git.path_encoding import path_text
from gitmem.git.program import run_git
from gitmem.git.tree_listing import list_tree
from gitmem.git.version_log import CommitVersions, read_versions
from gitmem.indexing.classify import load_classifier
from gitmem.indexing.compact import compact
from gitmem.indexing.fingerprint import chunk_bounds
from gitmem.indexing.index_writer import IndexWriter, open_index_writer
from gitmem.indexing.lifetimes import (
    Bounds,
    PastView,
    find_past_view,
    list_view,
    split_version_path,
    version_path,
    write_lives,
)
from gitmem.indexing.memory_budget import MemoryBudget
from gitmem.indexing.missing_blobs import MissingBlob, find_missing_blobs
from gitmem.indexing.past_rows import NewRows
from gitmem.indexing.run import Progress, Run, empty_manifest
from gitmem.named_tuple import NamedTuple
from gitmem.settings import BUNDLED
from gitmem.store.manifest import Manifest
from gitmem.store.snapshot import Snapshot
from gitmem.store.view_file import INDEXED, REASONS, ViewEntry
from gitmem.workspace import Workspace

_REGULAR: Final = 0o100644
"""Mode by which a path of the past is classified: links and submodules have no chunks that are kept."""

_GET_BACK: Final = "`git fetch --refetch`, or copy the object from another clone"

_SLACK: Final = 20
"""Divisor of the limit: by so many commits it may be exceeded before the whole history is read again."""


class PastPlan(NamedTuple):
    """Extent of a run: commits to read, versions of files that are not indexed yet, and the bytes of these."""

    commits: int
    versions: int
    bytes: int


@dataclass(slots=True)
class PastReport(HistoryReport):
    """Report of the code of the past: `versions` are those of files in the read commits, `indexed` the new ones.

    `unread` are those that git lacks.
    """

    versions: int = 0
    unread: int = 0

    def counts(self) -> dict[str, int]:
        return {"versions": self.versions, "versions_indexed": self.indexed, "versions_unread": self.unread}


def index_past(
    workspace: Workspace,
    *,
    since: int | None = None,
    check: bool = False,
    wait: bool = True,
    report: Callable[[Progress], None] = lambda _: None,
    on_wait: Callable[[], None] = lambda: None,
    on_start: Callable[[PastPlan], None] = lambda _: None,
) -> PastReport:
    """Index the code of the past up to HEAD; the index is created if necessary.

    `since` is the earliest time of commits (seconds since 1970), 0 for none; by default that of the last run. `check`
    verifies every checksum first and drops damaged segments. `on_start` is called with the plan before any version is
    read.

    Raises: NoIndex, UsageError if a provider embeds, Busy if another process writes and `wait` is False, Cancelled,
    StorageFailed, UnsafeIndex, NewerFormat, GitFailed.
    """
    workspace = usable_workspace(workspace)
    paths = workspace.paths.past
    make_folders(workspace, paths)
    with signals_as_exceptions(), open_index_writer(paths, wait=wait, on_wait=on_wait) as writer:
        job = _Job(workspace, writer, report, on_start, since)
        try:
            return job.run(check=check)
        except DamagedFile:
            if check:
                raise
        return job.run(check=True)


def plan_past(workspace: Workspace, since: int | None = None) -> PastPlan:
    """Return the extent of a run, without the lock. Raises as `index_past`."""
    workspace = usable_workspace(workspace)
    manifest, former = find_past(workspace), find_past_view(workspace.paths.past.lifetimes)
    bounds, old = _bounds(workspace, former, since), _valid(workspace, former)
    if manifest is None or manifest.fingerprint != bounds.fingerprint:
        manifest = empty_manifest(None, bounds.fingerprint)
    history = _read_history(workspace, bounds, old)
    return _plan(workspace, history, _find_missing(history, Snapshot(workspace.paths.past, manifest)))


def repair_past(workspace: Workspace) -> None:
    """Verify every checksum of the index of the past, if there is one, and index damaged parts again."""
    if workspace.paths.past.root.is_dir() and workspace.settings.provider == BUNDLED:
        index_past(workspace, check=True)


class _Job:
    """One run. The caller holds the lock."""

    def __init__(
        self,
        workspace: Workspace,
        writer: IndexWriter,
        report: Callable[[Progress], None],
        on_start: Callable[[PastPlan], None],
        since: int | None,
    ) -> None:
        self._workspace = workspace
        self._paths = workspace.paths.past
        self._writer = writer
        self._report = report
        self._on_start = on_start
        self._since = since

    def run(self, *, check: bool) -> PastReport:
        started, result = time.monotonic(), PastReport()
        sweep(self._paths)
        # A chunk has its row in one version alone, so the other segments cannot make up for a lost one.
        manifest, result.rebuilt = starting_point(
            self._paths, self._writer.manifest, past_fingerprint(self._workspace.settings),
            check=check, independent=False,
        )  # fmt: skip
        # Lives that were written before a rebuild or a kill are computed again, even if their bounds are the same.
        is_whole = manifest == self._writer.manifest and manifest.complete
        former = find_past_view(self._paths.lifetimes)
        if former is not None and check and not _is_intact(former):
            former = None
        bounds, old = _bounds(self._workspace, former, self._since), _valid(self._workspace, former)
        if old is not None and old.bounds == bounds and is_whole:
            result.commits, result.versions = len(old.commits), len(old)
            _report_unread(result, old.unread, old.entries() if old.unread else ())
        elif bounds.tip:
            manifest = self._extend(manifest, bounds, old if is_whole else None, result)
        result.chunks, result.index_bytes = manifest.rows, manifest.bytes + _size(self._paths.lifetimes)
        result.seconds = time.monotonic() - started
        return result

    def _extend(self, manifest: Manifest, bounds: Bounds, old: PastView | None, result: PastReport) -> Manifest:
        """Index missing versions, and write the lives of all chunks."""
        location = self._workspace.location
        history = _read_history(self._workspace, bounds, old)
        manifest, unread = self._index(manifest, history, result)
        if manifest != self._writer.manifest or not manifest.complete:
            self._writer.publish(manifest.as_complete())
        tree = {oid.tobytes().hex() for oid in list_tree(location, location.head_tree or "").oids}
        snapshot, base = Snapshot(self._paths, manifest), history.base
        write_lives(self._paths.lifetimes, bounds, history.entries, history.log, tree, snapshot, base, unread)
        result.commits, result.versions = history.commits, len(history.entries)
        return manifest

    def _index(self, manifest: Manifest, history: "_History", result: PastReport) -> tuple[Manifest, set[str]]:
        """Index the versions that are missing, oldest first, so that each chunk belongs to its first version.

        Also return the versions that git lacks.
        """
        paths, settings = self._paths, self._workspace.settings
        snapshot = Snapshot(paths, manifest)
        order = {entry.oid.hex(): number for number, entry in enumerate(history.entries)}
        missing = _find_missing(history, snapshot)
        if not missing:
            _report_unread(result, history.unread, history.entries)
            return manifest, history.unread
        missing.sort(key=lambda blob: order[blob.oid])
        self._on_start(_plan(self._workspace, history, missing))
        bounds = replace(chunk_bounds(settings), past_run=os.urandom(8).hex())
        run = Run(
            self._workspace.location, paths, max_file_bytes=settings.max_file_bytes, jobs=settings.jobs,
            budget=MemoryBudget(settings.max_memory), bounds=bounds,
            keep=NewRows(snapshot), is_compact=True,
        )  # fmt: skip
        before = manifest.segments
        with stoppable(paths, self._report, resume=_resume(self._since), things="version") as (stop, report_or_stop):
            outcome = run.execute(missing, manifest, publish=self._writer.publish, report=report_or_stop, stop=stop)
        unread = history.unread.union(outcome.unreadable)
        result.indexed = len(missing) - len(outcome.unreadable)
        result.problems = [f"the version {oid} of a file cannot be chunked" for oid in outcome.failed]
        _report_unread(result, unread, history.entries)
        return compact(paths, outcome.manifest, before=before), unread


def _resume(since: int | None) -> str:
    """Return the command that continues a run: the time is known to later ones only after the first was completed."""
    return RESUME if since is None else f"{RESUME} --since {datetime.fromtimestamp(since, UTC).isoformat()}"


class _History(NamedTuple):
    """Commits to read, with the entries of all versions in them and in the base, oldest first.

    The base is the history that these commits continue, None if they are all.
    """

    log: list[CommitVersions]
    entries: list[ViewEntry]
    base: PastView | None

    @property
    def unread(self) -> set[str]:
        """Return the versions that git lacks, as far as they are known."""
        return set(self.base.unread) if self.base is not None else set()

    @property
    def commits(self) -> int:
        return len(self.log) + (len(self.base.commits) if self.base is not None else 0)


def _find_missing(history: _History, snapshot: Snapshot) -> list[MissingBlob]:
    """Return the versions of a history that an index lacks, apart from those that git lacks, too."""
    blobs = find_missing_blobs(list_view(history.entries), snapshot, retry=True)
    return [blob for blob in blobs if blob.oid not in history.unread]


def _is_intact(view: PastView) -> bool:
    try:
        view.check()
    except DamagedFile:
        return False
    return True


def _valid(workspace: Workspace, view: PastView | None) -> PastView | None:
    """Return a view, or None if git has one of its unread versions again: its history is then followed anew."""
    if view is None or not view.unread:
        return view
    with open_reader(workspace.location, bulk=False) as reader:
        return view if all(content is None for _, content in reader.read_many(view.unread)) else None


def _report_unread(result: PastReport, unread: Collection[str], entries: Iterable[ViewEntry]) -> None:
    """Count versions that git lacks, with a line for each: which one it is, and what brings it back."""
    result.unread = len(unread)
    paths = {entry.oid.hex(): split_version_path(path_text(entry.path)) for entry in entries} if unread else {}
    result.problems += [
        f"{paths.get(oid, '')}: the version {oid} cannot be read (missing or damaged); to get it back: {_GET_BACK}"
        for oid in sorted(unread)
    ]


def _bounds(workspace: Workspace, old: PastView | None, since: int | None) -> Bounds:
    """Return the history to read; without `since`, from the same time on as that of a view."""
    if since is None:
        since = old.bounds.since if old is not None else 0
    tip, limit = workspace.location.head_commit or "", workspace.settings.history_budget
    shallow = tuple(sorted(read_shallow(workspace.location)))
    return Bounds(tip, limit, since, past_fingerprint(workspace.settings), shallow)


def _read_history(workspace: Workspace, bounds: Bounds, old: PastView | None) -> _History:
    """Read the commits that are not in a view, or all of them if the history does not go on from it."""
    location = workspace.location
    base = old if old is not None and _goes_on(location, old, bounds) else None
    log = read_versions(location, bounds.tip, bounds.limit, bounds.since, base.bounds.tip if base is not None else "")
    return _History(log, _list_entries(location, log, base), base)


def _goes_on(location: RepositoryLocation, old: PastView, bounds: Bounds) -> bool:
    """Return whether the history goes on from that of a view, and the commits since then fit into the limit."""
    if old.bounds._replace(tip=bounds.tip) != bounds:
        return False
    args = ["rev-list", "--left-right", "--count", f"{old.bounds.tip}...{bounds.tip}", "--"]
    counted = run_git(args, git_dir=location.git_dir, check=False)
    if counted.code:  # git no longer has the old tip
        return False
    left, right = map(int, counted.stdout.split())
    return not left and len(old.commits) + right <= bounds.limit + bounds.limit // _SLACK


def _list_entries(
    location: RepositoryLocation, log: Sequence[CommitVersions], base: PastView | None
) -> list[ViewEntry]:
    """Return each version of an indexed file once, in the order of history. The rules are those of HEAD."""
    classifier = load_classifier(location, list_tree(location, location.head_tree or ""))
    entries = {entry.oid.hex(): entry for entry in (base.entries() if base is not None else ())}
    for versions in log:
        for file in versions.files:
            # The blob before a commit may be older than all commits that are read.
            for place, oid in (*((file.old_path, blob) for blob in file.before), (file.path, file.after)):
                if oid and oid not in entries:
                    language, reason = classifier.classify(place, _REGULAR)
                    if reason == REASONS[INDEXED]:
                        path = version_path(len(entries), place)
                        entries[oid] = ViewEntry(path, bytes.fromhex(oid), language, INDEXED)
    return list(entries.values())


def _plan(workspace: Workspace, history: _History, missing: Sequence[MissingBlob]) -> PastPlan:
    """Return the extent of a run. Blobs that are missing in git count nothing."""
    with open_reader(workspace.location, bulk=False) as reader:
        sizes = reader.sizes(blob.oid for blob in missing)
    limit = workspace.settings.max_file_bytes
    return PastPlan(len(history.log), len(missing), sum(size for size in sizes if size is not None and size <= limit))


def _size(file: Path) -> int:
    return file.stat().st_size if file.exists() else 0
