"""`gitmem cancel`: stop an index run in another process and keep its completed work."""

import time
from typing import Final

from gitmem.errors import Busy
from gitmem.freshness.cancellation import read_run, request_stop
from gitmem.fsio import remove_file
from gitmem.locks import writer_lock
from gitmem.workspace import Workspace, find_index

MAX_WAIT_SECONDS: Final = 120.0
"""How long a run may take to stop. Several batches are in progress, each of a second at most on an idle machine."""

_POLL_SECONDS: Final = 0.05


def cancel(workspace: Workspace, *, max_wait: float = MAX_WAIT_SECONDS) -> bool:
    """Stop the current run and wait for its end; return False if there is none.

    Raises: UnsafeIndex, StorageFailed, Busy if the lock is not released within `max_wait` seconds.
    """
    # Raises for a foreign or linked folder before anything is written to it.
    find_index(workspace)
    if not workspace.paths.root.is_dir():
        return False
    deadline = time.monotonic() + max_wait
    requested = False
    # Repeat the request: between two looks the run may end and another begin, which has another token.
    while not _is_free(workspace):
        token = read_run(workspace.paths)
        if token is not None:
            request_stop(workspace.paths, token)
            requested = True
        if time.monotonic() > deadline:
            raise Busy("the process that writes this index did not stop", hint="it may hang; kill it by its process id")
        time.sleep(_POLL_SECONDS)
    return requested


def _is_free(workspace: Workspace) -> bool:
    """Return whether no process writes; if so, remove the state files that a killed run may have left."""
    try:
        with writer_lock(workspace.paths.lock, wait=False):
            remove_file(workspace.paths.running)
            remove_file(workspace.paths.cancel)
    except Busy:
        return False
    return True
