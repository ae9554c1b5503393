"""Build the index of commit messages, and bring it up to date. Imports numpy and the worker pool.

A killed or stopped run loses at most the work of one segment, as one of the index of files.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from gitmem.errors import DamagedFile, UsageError
from gitmem.freshness.cancellation import signals_as_exceptions, stoppable
from gitmem.freshness.commit_index import PROVIDER_PROBLEM, RESUME
from gitmem.freshness.index_model import with_model_of
from gitmem.fsio import make_folder, require_own_folder
from gitmem.git.batch import COMMITS
from gitmem.indexing.commit_views import open_commits
from gitmem.indexing.compact import compact
from gitmem.indexing.fingerprint import chunk_bounds, current_fingerprint
from gitmem.indexing.garbage import shrink
from gitmem.indexing.index_writer import IndexWriter, open_index_writer
from gitmem.indexing.memory_budget import MemoryBudget
from gitmem.indexing.missing_blobs import find_missing_blobs
from gitmem.indexing.run import Progress, Run, empty_manifest
from gitmem.leftover_files import LEFTOVER_SECONDS, sweep_leftovers
from gitmem.settings import BUNDLED
from gitmem.store.manifest import Manifest
from gitmem.store.snapshot import Snapshot
from gitmem.workspace import Workspace, require_index

_TOLERATED: Final = 4
"""Divisor of the commits of the view: above that number, unreachable ones are removed from the index."""


@dataclass(slots=True)
class CommitReport:
    """Result of a run: the commits in the history of HEAD, the newly indexed ones, and the index afterwards.

    `rebuilt` is the reason why the index was rebuilt, "" if it was not. `problems` has a line for each commit that
    could not be read.
    """

    commits: int = 0
    indexed: int = 0
    chunks: int = 0
    index_bytes: int = 0
    text_bytes: int = 0
    seconds: float = 0.0
    rebuilt: str = ""
    problems: list[str] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        """Return the report as JSON values."""
        return {
            "commits": self.commits,
            "commits_indexed": self.indexed,
            "chunks": self.chunks,
            "text_bytes": self.text_bytes,
            "index_bytes": self.index_bytes,
            "seconds": round(self.seconds, 3),
            "rebuilt": self.rebuilt,
            "problems": self.problems,
        }


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
    workspace = with_model_of(workspace, require_index(workspace))
    if workspace.settings.provider != BUNDLED:
        raise UsageError(PROVIDER_PROBLEM, hint="code is searched without them")
    paths = workspace.paths.history
    require_own_folder(paths.root)
    for folder in (paths.root, *paths.folders):
        make_folder(folder)
        require_own_folder(folder)
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
    for folder in (paths.root, paths.segments):
        sweep_leftovers(folder)
    sweep_leftovers(paths.state, grace=LEFTOVER_SECONDS)  # queries write here without the lock
    manifest, result.rebuilt = _starting_point(workspace, writer.manifest, check=check)
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


def _starting_point(workspace: Workspace, old: Manifest | None, *, check: bool) -> tuple[Manifest, str]:
    """Return the manifest to extend, and the reason why the index or a part of it is rebuilt, "" without one."""
    fingerprint = current_fingerprint(workspace.settings)
    if old is None:
        return empty_manifest(None, fingerprint), ""
    if old.fingerprint != fingerprint:
        return empty_manifest(old, fingerprint), "the format, the chunker or the model has changed"
    snapshot = Snapshot(workspace.paths.history, old)
    intact = set()
    for segment in snapshot.segments:
        try:
            if check:
                segment.check_blocks()
            intact.add(segment.path.name)
        except DamagedFile as problem:
            snapshot.lost.append(problem.message)
    if not snapshot.lost:
        return old, ""
    return old.with_segments(entry for entry in old.segments if entry.name in intact), "; ".join(snapshot.lost)
