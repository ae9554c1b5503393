"""Index the blobs that a query finds missing, within a time budget. Completed blobs are kept when the time is over."""

import math
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from gitmem.embedding.text_encoder import HEAL_PATIENCE, RUN_PATIENCE
from gitmem.errors import Cancelled
from gitmem.freshness.cancellation import RESUME, stoppable
from gitmem.freshness.index_report import IndexReport
from gitmem.freshness.index_runs import log_run
from gitmem.git.batch import BLOBS
from gitmem.indexing.compact import compact
from gitmem.indexing.embedding_stage import open_stage
from gitmem.indexing.fingerprint import chunk_bounds, is_made_with
from gitmem.indexing.index_writer import open_index_writer
from gitmem.indexing.memory_budget import MemoryBudget
from gitmem.indexing.missing_blobs import MissingBlob, find_missing_blobs
from gitmem.indexing.run import Run, RunResult
from gitmem.store.manifest import Manifest
from gitmem.store.snapshot import Snapshot
from gitmem.workspace import Workspace

if TYPE_CHECKING:
    from gitmem.indexing.run import Progress
    from gitmem.store.view_file import View

_BLOBS_PER_SECOND: Final = 2000
"""Upper bound of any machine's speed. Blobs that cannot fit into the budget are not even sorted or read."""


def heal(
    workspace: Workspace,
    view: "View",
    files: Mapping[str, bytes],
    *,
    deadline: float,
    wait: bool,
    resume: str = RESUME,
    is_cancelled: Callable[[], bool] = lambda: False,
    kinds: frozenset[bytes] = BLOBS,
) -> Manifest | None:
    """Index the missing blobs of a view until the deadline (`time.monotonic`), `gitmem cancel`, or `is_cancelled`.

    The blobs of `files`, which are uncommitted, come first. `resume` is the command that continues a stopped run.
    `kinds` are those of the objects of the view, see `Run`.
    Return the manifest afterwards, or None if it no longer exists or has another fingerprint.

    Raises: Busy if another process writes and `wait` is False, StorageFailed, DamagedFile, ProviderFailed.
    """
    paths, settings = workspace.paths, workspace.settings
    budget, started = MemoryBudget(settings.max_memory), time.monotonic()

    def stop_if_cancelled(_: "Progress") -> None:
        if is_cancelled():
            raise Cancelled("nobody waits for the answer any more")

    with open_index_writer(paths, wait=wait) as writer:
        old = writer.manifest
        if old is None or not is_made_with(old.fingerprint, settings):
            return None
        blobs = _choose(find_missing_blobs(view, Snapshot(paths, old)), files, deadline)
        if not blobs:
            return old
        run = Run(
            workspace.location, paths, max_file_bytes=settings.max_file_bytes, jobs=settings.jobs, files=files,
            budget=budget, bounds=chunk_bounds(settings), kinds=kinds,
            stage=open_stage(settings, paths, old.fingerprint, RUN_PATIENCE if wait else HEAL_PATIENCE),
        )  # fmt: skip
        try:
            with stoppable(paths, stop_if_cancelled, resume=resume) as (stop, report):
                result = run.execute(blobs, old, publish=writer.publish, deadline=deadline, report=report, stop=stop)
        except Cancelled:
            return writer.manifest
        manifest = result.manifest
        if time.monotonic() < deadline:
            manifest = compact(paths, manifest, before=old.segments)
        writer.publish(manifest)
        _log(workspace, view.tree, result, old, manifest, time.monotonic() - started)
    return manifest


def _log(workspace: Workspace, tree: str, result: RunResult, old: Manifest, manifest: Manifest, seconds: float) -> None:
    """Log the run with what it knows: it has counted neither the files of the tree nor their languages."""
    report = IndexReport(
        tree,
        embedded=result.outcomes.total(),
        chunks_before=old.rows,
        chunks=manifest.rows,
        chunks_added=result.rows,
        text_bytes=result.bytes,
        index_bytes=manifest.bytes,
        seconds=seconds,
        problems=[
            f"{oid[:12]}: cannot be read, chunked or embedded"
            for oid in (*result.unreadable, *result.failed, *result.refused)
        ],
        worker_losses=result.losses,
    )
    folder = workspace.location.worktree or workspace.location.git_dir
    names = ("files", "parsed", "as_text", "skipped", "chunks_in_tree", "blobs_reused")
    known = {name: value for name, value in report.as_json().items() if name not in names}
    log_run(workspace.paths, "query", folder, known, result.blobs)


def _choose(missing: list[MissingBlob], files: Mapping[str, bytes], deadline: float) -> list[MissingBlob]:
    """Return the blobs that the time may suffice for, uncommitted ones first: the user is working on them."""
    ordered = sorted(missing, key=lambda item: item.oid not in files)
    if deadline == math.inf:
        return ordered
    return ordered[: 1 + int(max(0.0, deadline - time.monotonic()) * _BLOBS_PER_SECOND)]
