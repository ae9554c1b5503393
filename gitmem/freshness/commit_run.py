"""Build the index of commit messages, and bring it up to date. Imports numpy and the worker pool.

A killed or stopped run loses at most the work of one segment, as one of the index of files.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from gitmem.errors import DamagedFile
from gitmem.freshness.cancellation import signals_as_exceptions, stoppable
from gitmem.freshness.commit_index import RESUME
from gitmem.freshness.history_run import HistoryReport, make_folders, starting_point, sweep, usable_workspace
from gitmem.git.batch import COMMITS
from gitmem.indexing.commit_views import open_commits
from gitmem.indexing.compact import compact
from gitmem.indexing.fingerprint import chunk_bounds, current_fingerprint
from gitmem.indexing.garbage import shrink
from gitmem.indexing.index_writer import IndexWriter, open_index_writer
from gitmem.indexing.memory_budget import MemoryBudget
from gitmem.indexing.missing_blobs import find_missing_blobs
from gitmem.indexing.run import Progress, Run
from gitmem.settings import BUNDLED
from gitmem.store.snapshot import Snapshot
from gitmem.workspace import Workspace

_TOLERATED: Final = 4
"""Divisor of the commits of the view: above that number, unreachable ones are removed from the index."""


@dataclass(slots=True)
class CommitReport(HistoryReport):
    """Report of commit messages: `commits` are those in the history of HEAD, `indexed` the new ones."""

    text_bytes: int = 0

    def counts(self) -> dict[str, int]:
        return {"commits_indexed": self.indexed, "text_bytes": self.text_bytes}


def index_commits(
    workspace: Workspace,
    *,
    check: bool = False,
    wait: bool = True,
    report: Callable[[Progress], None] = lambda _: None,
    on_wait: Callable[[], None] = lambda: None,
    on_start: Callable[[int], None] = lambda _: None,
) -> CommitReport:
    """Index the messages of the commits in the history of HEAD; the index of the history is created if necessary.

    `check` verifies every checksum first and drops damaged segments. `on_start` is called with the number of commits
    to index before any is read.

    Raises: NoIndex, UsageError if a provider embeds, Busy if another process writes and `wait` is False, Cancelled,
    StorageFailed, UnsafeIndex, NewerFormat, GitFailed.
    """
    workspace = usable_workspace(workspace)
    paths = workspace.paths.history
    make_folders(workspace, paths)
    with signals_as_exceptions(), open_index_writer(paths, wait=wait, on_wait=on_wait) as writer:
        try:
            return _index(workspace, writer, report, on_start, check=check)
        except DamagedFile:
            if check:
                raise
        return _index(workspace, writer, report, on_start, check=True)


def repair_commits(workspace: Workspace) -> None:
    """Verify every checksum of the index of messages, if there is one, and index again what was damaged."""
    if workspace.paths.history.root.is_dir() and workspace.settings.provider == BUNDLED:
        index_commits(workspace, check=True)


def _index(
    workspace: Workspace,
    writer: IndexWriter,
    report: Callable[[Progress], None],
    on_start: Callable[[int], None],
    *,
    check: bool,
) -> CommitReport:
    location, paths, settings = workspace.location, workspace.paths.history, workspace.settings
    started, result = time.monotonic(), CommitReport()
    sweep(paths)
    # Each message has its rows in one segment, whatever the others hold.
    manifest, result.rebuilt = starting_point(
        paths, writer.manifest, current_fingerprint(settings), check=check, independent=True
    )
    before = manifest.segments
    if location.head_commit is not None:
        view = open_commits(location, paths.commits, location.head_commit, settings.history_budget, keep=True)
        missing = find_missing_blobs(view, Snapshot(paths, manifest), retry=True)
        result.commits, result.indexed = len(view), len(missing)
        if missing:
            on_start(len(missing))
            run = Run(
                location, paths, max_file_bytes=settings.max_file_bytes, jobs=settings.jobs,
                budget=MemoryBudget(settings.max_memory), bounds=chunk_bounds(settings), kinds=COMMITS,
            )  # fmt: skip
            with stoppable(paths, report, resume=RESUME, things="commit") as (stop, report_or_stop):
                outcome = run.execute(missing, manifest, publish=writer.publish, report=report_or_stop, stop=stop)
            manifest, result.text_bytes = outcome.manifest, outcome.bytes
            lost = (*outcome.unreadable, *outcome.failed)
            result.problems = [f"the commit {oid[:12]} cannot be read or chunked" for oid in lost]
        manifest = compact(paths, manifest, before=before)
        # Amended and rebased commits stay until they are many: another branch may still have them.
        if manifest.blobs - len(view) > len(view) // _TOLERATED:
            manifest = shrink(paths, manifest, set(map(view.oid, range(len(view)))), (), write=True).manifest
    if manifest != writer.manifest or not manifest.complete:
        writer.publish(manifest.as_complete())
    result.chunks, result.index_bytes = manifest.rows, manifest.bytes
    result.seconds = time.monotonic() - started
    return result
