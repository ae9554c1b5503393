"""`cancel`: end an index run in another process; what it has done is kept."""

import time
from typing import Final

from gitmem.errors import Busy
from gitmem.freshness.cancellation import read_run, request_stop
from gitmem.fsio import remove_file
from gitmem.locks import writer_lock
from gitmem.workspace import Workspace, find_index

PATIENCE_SECONDS: Final = 120.0
"""How long a run may take to end: some batches are on the way, each takes a second at most, but machines are busy."""

_POLL_SECONDS: Final = 0.05


def cancel(workspace: Workspace, *, patience: float = PATIENCE_SECONDS) -> bool:
    """Stop the run that is going on and wait for its end; False where there was none.

    Raises: UnsafeIndex, StorageFailed; Busy where whoever holds the lock does not let go of it.
    """
    find_index(workspace)
    if not workspace.paths.root.is_dir():
        return False
    deadline = time.monotonic() + patience
    asked = False
    while not _is_free(workspace):
        word = read_run(workspace.paths)
        if word is not None:
            request_stop(workspace.paths, word)
            asked = True
        if time.monotonic() > deadline:
            raise Busy("the process that writes this index did not stop", hint="it may hang: end it by its number")
        time.sleep(_POLL_SECONDS)
    return asked


def _is_free(workspace: Workspace) -> bool:
    """Whether nobody writes; what a killed run has left of itself is removed then."""
    try:
        with writer_lock(workspace.paths.lock, wait=False):
            remove_file(workspace.paths.running)
            remove_file(workspace.paths.cancel)
    except Busy:
        return False
    return True
