"""Index run on behalf of a call to a server: it reports its progress, and ends if the call is cancelled.

Both sides can stop it. A cancelled call requests the end of its run, as `gitmem cancel` does; a run that somebody else
stops ends the call with the error of a stopped run. Completed work is kept either way.
"""

import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from gitmem.actions.uninstall import remove_own_index
from gitmem.display import count
from gitmem.errors import Cancelled, StorageFailed
from gitmem.freshness.cancellation import read_run, request_stop, resume_command
from gitmem.freshness.index_report import IndexReport
from gitmem.freshness.refresh import refresh
from gitmem.resident.call import Call, CallCancelled
from gitmem.workspace import Workspace

if TYPE_CHECKING:
    from gitmem.indexing.run import Progress

INCREMENTAL: Final = "incremental"
FULL: Final = "full"
RESET: Final = "reset"
MODES: Final = (INCREMENTAL, FULL, RESET)
"""Only what is missing; everything again; everything again after the index, its log and its tuning were deleted."""

_REPORT_SECONDS: Final = 0.25


def update_index(workspace: Workspace, mode: str, call: Call) -> IndexReport:
    """Index HEAD, the staged and all changed files, and return the report.

    Raises: CallCancelled, Busy if another process writes the index, Cancelled if somebody stopped the run, and as
    `refresh`.
    """
    if mode == RESET:
        remove_own_index(workspace)
    run = _WatchedRun(workspace, full=mode == FULL)
    try:
        return run.wait(call)
    except CallCancelled:
        run.stop()
        raise


class _WatchedRun:
    """Run in a thread of its own: the thread of the call must notice that the call was cancelled."""

    def __init__(self, workspace: Workspace, *, full: bool) -> None:
        self._workspace = workspace
        self._full = full
        self._finished = threading.Event()
        self._stopping = False
        self._progress: Progress | None = None
        self._report: IndexReport | None = None
        self._error: Exception | None = None
        threading.Thread(target=self._run, name="index update", daemon=True).start()

    def wait(self, call: Call) -> IndexReport:
        """Wait for the end, and report the progress to the client meanwhile."""
        while not call.wait(self._finished, _REPORT_SECONDS):
            progress = self._progress
            if progress is not None:
                message = f"{progress.blobs:,} of {count(progress.blobs_total, 'file')}"
                call.report_progress(progress.blobs, progress.blobs_total or None, message)
        if self._report is None:
            assert self._error is not None, "a run ends with a report or an error"
            raise self._error
        return self._report

    def stop(self) -> None:
        """Request the end of the run: before its next batch, and in its workers after a few chunks."""
        self._stopping = True
        with suppress(StorageFailed):  # the flag alone stops the run too, only later
            run = read_run(self._workspace.paths)
            if run is not None and not self._finished.is_set():
                request_stop(self._workspace.paths, run)

    def _run(self) -> None:
        try:
            self._report = refresh(
                self._workspace, self._workspace.location.head_tree, staged=True, uncommitted=True, full=self._full,
                wait=False, event="mcp", resume=resume_command(full=self._full, uncommitted=True),
                report=self._receive,
            )  # fmt: skip
        except Exception as error:
            self._error = error
        finally:
            self._finished.set()

    def _receive(self, progress: "Progress") -> None:
        if self._stopping:
            raise Cancelled("the client cancelled the run", hint="completed work is kept; continue with: gitmem index")
        self._progress = progress
