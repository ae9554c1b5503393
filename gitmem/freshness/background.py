"""Mark a working tree as changed and start a detached process that indexes it. Never waits; imports little.

The mark is a file `dirty-<worktree id>` in the state folder of the index. It holds the path of the working tree, and
whether its uncommitted files are to be indexed too. `freshness/catch_up.py` processes the marks.
"""

import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from gitmem.errors import StorageFailed
from gitmem.fsio import read_file, write_atomic
from gitmem.named_tuple import NamedTuple
from gitmem.workspace import Workspace

# The shell exits at once, so the process is adopted by init: the caller need not wait for it, and it leaves no zombie.
_DETACH: Final = '"$@" &'
"""Shell command that starts its arguments in the background."""


_FILES: Final = b"\0files"
"""End of a mark for the uncommitted files; no path contains a NUL byte."""


class DirtyTree(NamedTuple):
    """Content of a mark. With `files`, the uncommitted files differ from the index as well, not only what git keeps."""

    folder: Path
    files: bool


def mark_dirty(workspace: Workspace, *, files: bool = False) -> None:
    """Mark this working tree as different from its index. Raises StorageFailed.

    Without `files`, HEAD and the staged files are indexed: an event of git changes nothing else, and finding the other
    files takes longer than all the rest of a run on a large tree.
    """
    mark = workspace.paths.dirty(workspace.location.worktree_id)
    # One mark asks for everything that an earlier one asked for. Of two writers at once the last wins: the next query
    # compares the trees anyway. For the same reason the mark is not synced.
    before = find_dirty_tree(mark)
    suffix = _FILES if files or (before and before.files) else b""
    write_atomic(mark, [os.fsencode(_folder(workspace)) + suffix], durable=False)


def find_dirty_tree(mark: Path) -> DirtyTree | None:
    """Read a mark; return None if there is none."""
    content = read_file(mark)
    if content is None:
        return None
    return DirtyTree(Path(os.fsdecode(content.removesuffix(_FILES))), content.endswith(_FILES))


def start_background_refresh(workspace: Workspace) -> bool:
    """Mark the working tree with its uncommitted files, and start a detached process that indexes it.

    Return False, without a message, if the index is read-only or the process does not start.
    """
    if not os.access(workspace.paths.state, os.W_OK):
        return False
    try:
        mark_dirty(workspace, files=True)
        _start(workspace, ["hook", "refresh"])
    except (StorageFailed, OSError):
        return False
    return True


def start_history_run(workspace: Workspace, since: int | None) -> bool:
    """Start a detached process that indexes the past, from a time on (seconds since 1970) if one is given.

    Return False if the index is read-only or the process does not start.
    """
    if not os.access(workspace.paths.root, os.W_OK):
        return False
    earliest = [] if since is None else ["--since", datetime.fromtimestamp(since, UTC).isoformat()]
    try:
        _start(workspace, ["-q", "index", "--history", *earliest])
    except OSError:
        return False
    return True


def _start(workspace: Workspace, arguments: list[str]) -> None:
    """Start a detached process of gitmem. Raises OSError."""
    null = subprocess.DEVNULL
    subprocess.run(
        ["/bin/sh", "-c", _DETACH, "sh", sys.executable, "-P", "-m", "gitmem", *arguments],
        cwd=_folder(workspace), stdin=null, stdout=null, stderr=null, start_new_session=True, check=False,
    )  # fmt: skip


def _folder(workspace: Workspace) -> Path:
    return workspace.location.worktree or workspace.location.git_dir
