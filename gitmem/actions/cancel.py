"""`gitmem cancel`: stop an index run in another process and keep its completed work."""

import time
from typing import Final

from gitmem.errors import Busy
from gitmem.freshness.cancellation import RunningRun, read_run, request_stop, was_stopped
from gitmem.fsio import remove_file
from gitmem.locks import writer_lock
from gitmem.named_tuple import NamedTuple
from gitmem.paths import IndexPaths
from gitmem.workspace import Workspace, find_index

MAX_WAIT_SECONDS: Final = 120.0
"""How long a run may take to stop. It has to finish a blob and write a segment, a second at most on an idle machine."""

_POLL_SECONDS: Final = 0.05


class CancelOutcome(NamedTuple):
    """Result of a request. `found` says whether there was a run, and `stopped` whether it ended because of the request.

    A run that was about to end may complete all the same. `resume` is the command that continues a stopped run.
    """

    found: bool
    stopped: bool = False
    resume: str = ""


def cancel(workspace: Workspace, *, max_wait: float = MAX_WAIT_SECONDS) -> CancelOutcome:
    """Stop the current run, or else that of the commit messages or of the past, and wait for its end.

    Raises: UnsafeIndex, StorageFailed, Busy if the lock is not released within `max_wait` seconds.
    """
    # Raises for a foreign or linked folder before anything is written to it.
    find_index(workspace)
    outcome = CancelOutcome(found=False)
    for paths in (workspace.paths, workspace.paths.history, workspace.paths.past):
        if paths.root.is_dir() and not outcome.found:
            outcome = _cancel(paths, time.monotonic() + max_wait)
    return outcome


def _cancel(paths: IndexPaths, deadline: float) -> CancelOutcome:
    """Stop the run that writes to an index folder."""
    requested: RunningRun | None = None
    # Repeat the request: between two looks the run may end and another begin, which has another token.
    while not _is_free(paths):
        run = read_run(paths)
        if run is not None and run != requested:
            request_stop(paths, run)
            requested = run
        if time.monotonic() > deadline:
            raise Busy("the process that writes this index did not stop", hint="it may hang; kill it by its process id")
        time.sleep(_POLL_SECONDS)
    if requested is None:
        return CancelOutcome(found=False)
    return CancelOutcome(found=True, stopped=was_stopped(paths, requested), resume=requested.resume)


def _is_free(paths: IndexPaths) -> bool:
    """Return whether no process writes; if so, remove the state files that a killed run may have left."""
    try:
        with writer_lock(paths.lock, wait=False):
            remove_file(paths.running)
            remove_file(paths.cancel)
    except Busy:
        return False
    return True
