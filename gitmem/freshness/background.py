"""Mark a working tree as changed and start a detached process that indexes it. Never waits; imports little.

The mark is a file `dirty-<worktree id>` in the state folder of the index and holds the path of the working tree.
`freshness/catch_up.py` processes the marks.
"""

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

from gitmem.errors import StorageFailed
from gitmem.fsio import write_atomic
from gitmem.workspace import Workspace

# The shell exits at once, so the process is adopted by init: the caller need not wait for it, and it leaves no zombie.
_DETACH: Final = '"$@" &'
"""Shell command that starts its arguments in the background."""


def mark_dirty(workspace: Workspace) -> None:
    """Mark this working tree as different from its index. Raises StorageFailed."""
    mark = workspace.paths.dirty(workspace.location.worktree_id)
    # A mark lost in a power cut costs nothing: the next query compares the trees anyway. So it is not synced.
    write_atomic(mark, [os.fsencode(_folder(workspace))], durable=False)


def start_background_refresh(workspace: Workspace) -> bool:
    """Mark the working tree and start a detached process that indexes it.

    Return False, without a message, if the index is read-only or the process does not start.
    """
    if not os.access(workspace.paths.state, os.W_OK):
        return False
    null = subprocess.DEVNULL
    try:
        mark_dirty(workspace)
        subprocess.run(
            ["/bin/sh", "-c", _DETACH, "sh", sys.executable, "-P", "-m", "gitmem", "hook", "refresh"],
            cwd=_folder(workspace), stdin=null, stdout=null, stderr=null, start_new_session=True, check=False,
        )  # fmt: skip
    except (StorageFailed, OSError):
        return False
    return True


def _folder(workspace: Workspace) -> Path:
    return workspace.location.worktree or workspace.location.git_dir
