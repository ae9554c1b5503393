"""Permissions of the files of an index: for this user alone, whatever the umask, and whatever other programs did.

This holds for a repository that a group shares, too (`core.sharedRepository`): an index belongs to one user, and one of
another user is never read.
"""

import os
import stat
from collections.abc import Iterator
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
    for path, mode in iter_misfits(folder):
        with suppress(OSError):
            _set_mode(path, mode)
            changed += 1
    return changed


def iter_misfits(folder: Path) -> Iterator[tuple[Path, int]]:
    """Yield the regular files and folders with another mode than they should have, and the mode that they should have.

    Links are not followed.
    """
    for place, folders, files in os.walk(folder):
        for path in [Path(place), *(Path(place) / name for name in files)]:
            with suppress(OSError):
                mode = path.lstat().st_mode
                right = FOLDER_MODE if stat.S_ISDIR(mode) else FILE_MODE
                if (stat.S_ISDIR(mode) or stat.S_ISREG(mode)) and stat.S_IMODE(mode) != right:
                    yield path, right
        folders[:] = [name for name in folders if not (Path(place) / name).is_symlink()]


def _set_mode(path: Path, mode: int) -> None:
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
    try:
        fsio.disk.set_mode(handle, mode)
    finally:
        os.close(handle)


def create_private(path: Path) -> None:
    """Create an empty file for a library that writes it itself, and would let others read it. Raises: StorageFailed."""
    try:
        os.close(fsio.disk.create(path, FILE_MODE))
    except OSError as problem:
        raise storage_failed(path, problem) from problem
