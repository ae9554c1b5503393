"""A disk that fails at one of its changes, in the place of `fsio.disk`."""

import errno
import os
from pathlib import Path
from typing import Any, Final

from gitmem.fsio import Disk

CHANGES: Final = ("create", "write", "set_mode", "sync", "rename", "link", "unlink", "make_folder", "remove_folder")


class Killed(BaseException):
    """A kill; like SIGKILL, nothing catches it."""


DISK_FULL: Final = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


class DyingDisk(Disk):
    """Fails instead of making its n-th change; after a kill it makes no further one."""

    def __init__(self, at: int, error: BaseException | None = None) -> None:
        self.left = at
        self.error = error or Killed()

    def append(self, path: Path, data: bytes) -> int:
        """Fail on a dead disk. It is no change that counts: commands ignore the failure of a log."""
        if self.left == 0:
            raise self.error
        return super().append(path, data)

    def __getattribute__(self, name: str) -> Any:
        if name in CHANGES:
            if self.left == 0:
                raise self.error
            self.left -= 1
        return object.__getattribute__(self, name)
