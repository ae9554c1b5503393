"""Leave word that a working tree has changed, and let a process of its own take it up: never waits, imports little.

A working tree is marked by a file `dirty-<its id>` in the index folder, which holds its path.
`freshness/catch_up.py` takes the marks away.
"""

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

from gitmem.errors import StorageFailed
from gitmem.fsio import write_atomic
from gitmem.workspace import Workspace

_DETACH: Final = '"$@" &'
"""A shell that ends at once: nobody has to wait for what it started, and no dead process stays behind."""


def mark_dirty(workspace: Workspace) -> None:
    """Say that this working tree differs from what is indexed of it. Raises StorageFailed."""
    mark = workspace.paths.dirty(workspace.location.worktree_id)
    write_atomic(mark, [os.fsencode(_place(workspace))], durable=False)


def start_background_refresh(workspace: Workspace) -> bool:
    """Mark the working tree and start a detached process that brings the index up to date with it.

    False where the index cannot be written or no process started; nothing is said of it.
    """
    if not os.access(workspace.paths.state, os.W_OK):
        return False
    null = subprocess.DEVNULL
    try:
        mark_dirty(workspace)
        subprocess.run(
            ["/bin/sh", "-c", _DETACH, "sh", sys.executable, "-P", "-m", "gitmem", "hook", "refresh"],
            cwd=_place(workspace), stdin=null, stdout=null, stderr=null, start_new_session=True, check=False,
        )  # fmt: skip
    except (StorageFailed, OSError):
        return False
    return True


def _place(workspace: Workspace) -> Path:
    return workspace.location.worktree or workspace.location.git_dir
