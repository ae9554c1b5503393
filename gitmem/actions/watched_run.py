"""Index run on behalf of a call to a server: it reports its progress, and ends if the call is cancelled.

Both sides can stop it. A cancelled call requests the end of its run, as `gitmem cancel` does; a run that somebody else
stops ends the call with the error of a stopped run. Completed work is kept either way.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from gitmem.actions.uninstall import remove_own_index
from gitmem.display import count
from gitmem.errors import Busy, Cancelled, StorageFailed
from gitmem.freshness.cancellation import read_run, request_stop, resume_command
from gitmem.freshness.index_report import IndexReport
from gitmem.freshness.refresh import RefreshSettings, refresh
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


def describe_progress(progress: "Progress") -> str:
    """Return the message about a progress that the client shows."""
    parts = [f"{progress.blobs:,} of {count(progress.blobs_total, 'file')}", progress.waiting]
    return "; ".join(filter(None, parts))


def update_index(
    workspace: Workspace,
    mode: str,
    call: Call,
    describe: "Callable[[Progress], str]" = describe_progress,
    *,
    wait: bool = False,
    list_files: bool = False,
) -> IndexReport:
    """Index HEAD, the staged and all changed files, and return the report; `describe` words the progress.

    With `wait` a run waits for the end of one in another process. A second run of this process is always refused. With
    `list_files` the report has the details of files.

    Raises: CallCancelled, Busy if the index is being written, Cancelled if somebody stopped the run, and as `refresh`.
    """
    with _RUNS.enter(workspace.paths.root):
        if mode == RESET:
            remove_own_index(workspace)
        full = mode == FULL
        settings = RefreshSettings(
            staged=True, uncommitted=True, full=full, wait=wait, list_files=list_files, event="mcp",
            resume=resume_command(full=full, uncommitted=True),
        )  # fmt: skip
        run = _WatchedRun(workspace, settings)
        try:
            return run.wait(call, describe)
        except CallCancelled:
            run.stop()
            raise


class _Runs:
    """Folders of the indexes that runs of this process write or wait for."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._folders: set[Path] = set()

    @contextmanager
    def enter(self, folder: Path) -> Iterator[None]:
        """Note a run. Raises: Busy if there is one."""
        with self._lock:
            if folder in self._folders:
                raise Busy("this server is indexing the repository already")
            self._folders.add(folder)
        try:
            yield
        finally:
            with self._lock:
                self._folders.discard(folder)


_RUNS: Final = _Runs()


class _WatchedRun:
    """Run in a thread of its own: the thread of the call must notice that the call was cancelled."""

    def __init__(self, workspace: Workspace, settings: RefreshSettings) -> None:
        self._workspace = workspace
        self._settings = settings
        self._finished = threading.Event()
        self._stopping = False
        self._progress: Progress | None = None
        self._report: IndexReport | None = None
        self._error: Exception | None = None
        threading.Thread(target=self._run, name="index update", daemon=True).start()

    def wait(self, call: Call, describe: "Callable[[Progress], str]") -> IndexReport:
        """Wait for the end, and report the progress to the client meanwhile."""
        while not call.wait(self._finished, _REPORT_SECONDS):
            progress = self._progress
            if progress is not None:
                call.report_progress(progress.blobs, progress.blobs_total or None, describe(progress))
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
            tree = self._workspace.location.head_tree
            self._report = refresh(self._workspace, tree, self._settings, report=self._receive)
        except Exception as error:
            self._error = error
        finally:
            self._finished.set()

    def _receive(self, progress: "Progress") -> None:
        if self._stopping:
            raise Cancelled("the client cancelled the run", hint="completed work is kept; continue with: gitmem index")
        self._progress = progress
