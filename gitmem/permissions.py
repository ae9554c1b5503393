"""Permissions of the files of an index: for this user alone, whatever the umask, and whatever other programs did.

This holds for a repository that a group shares, too (`core.sharedRepository`): an index belongs to one user, and one of
another user is never read.
"""

import os
import stat
from contextlib import suppress
from pathlib import Path

from gitmem import fsio
from gitmem.fsio import FILE_MODE, FOLDER_MODE
from gitmem.storage_errors import storage_failed


def restrict_access(folder: Path) -> int:
    """Make a folder and all files and folders below it accessible only to this user; return how many were not.

    Links are not followed, and what belongs to another user stays as it is.
    """
    changed = 0
    for place, folders, files in os.walk(folder):
        for path in [Path(place), *(Path(place) / name for name in files)]:
            with suppress(OSError):
                changed += _restrict(path)
        folders[:] = [name for name in folders if not (Path(place) / name).is_symlink()]
    return changed


def _restrict(path: Path) -> bool:
    """Set the mode of a regular file or folder; return whether it was another."""
    status = path.lstat()
    mode = FOLDER_MODE if stat.S_ISDIR(status.st_mode) else FILE_MODE
    is_file = stat.S_ISDIR(status.st_mode) or stat.S_ISREG(status.st_mode)
    if not is_file or stat.S_IMODE(status.st_mode) == mode:
        return False
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
    try:
        fsio.disk.set_mode(handle, mode)
    finally:
        os.close(handle)
    return True


def create_private(path: Path) -> None:
    """Create an empty file for a library that writes it itself, and would let others read it. Raises: StorageFailed."""
    try:
        os.close(fsio.disk.create(path, FILE_MODE))
    except OSError as problem:
        raise storage_failed(path, problem) from problem
