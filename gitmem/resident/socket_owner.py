"""Own the socket of a repository: one process at a time, and the next one as soon as the owner exits or is killed.

A lock decides, not the existence of the socket: the system frees the lock of a killed process, and its successor
replaces the socket that was left behind. The lock is a record lock (fcntl), which forked children do not inherit: with
flock a worker process that outlives its killed parent would keep the lock.
"""

import fcntl
import os
import socket
import stat
from contextlib import suppress
from pathlib import Path

from gitmem.closeable import Closeable
from gitmem.fsio import FILE_MODE, FOLDER_MODE, disk

BACKLOG = 16


class OwnedSocket(Closeable):
    """Socket that this process owns and listens on."""

    def __init__(self, path: Path, lock: int, listening: socket.socket) -> None:
        self.path = path
        self.listening = listening
        self._lock = lock
        self._identity = _identity(path)

    def is_in_place(self) -> bool:
        """Return whether clients still find this socket, and rivals its lock: a cleaner may remove old files."""
        status = os.fstat(self._lock)
        locked = (status.st_dev, status.st_ino) == _identity(_lock_path(self.path))
        return locked and self._identity is not None and self._identity == _identity(self.path)

    def close(self) -> None:
        """Remove the socket and give up the ownership."""
        if self._lock < 0:
            return
        if self.is_in_place():
            with suppress(OSError):
                disk.unlink(self.path)
        self.listening.close()
        os.close(self._lock)
        self._lock = -1


def own_socket(path: Path) -> OwnedSocket | None:
    """Listen on a socket; return None if another process owns it.

    Its folder is created if it is missing. Raises: OSError, also if the folder is not private to this user.
    """
    make_private_folder(path.parent)
    lock = os.open(_lock_path(path), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, FILE_MODE)
    try:
        fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        listening = _listen(path)
    except BlockingIOError:
        os.close(lock)
        return None
    except OSError:
        os.close(lock)
        raise
    return OwnedSocket(path, lock, listening)


def _lock_path(path: Path) -> Path:
    return path.with_name(f"{path.name}.lock")


def make_private_folder(folder: Path) -> None:
    """Create a folder that only this user can enter. Raises PermissionError if it is another user's, or a link."""
    with suppress(FileExistsError):
        disk.make_folder(folder, FOLDER_MODE)
    status = folder.lstat()
    # The parent may be writable by everybody, like /tmp. There nobody can replace a folder of this user.
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid() or status.st_mode & 0o077:
        raise PermissionError(f"{folder} is not a private folder of this user")


def _listen(path: Path) -> socket.socket:
    """Replace the socket of a dead owner. The caller holds the lock."""
    with suppress(FileNotFoundError):
        disk.unlink(path)
    listening = socket.socket(socket.AF_UNIX)
    try:
        listening.bind(os.fspath(path))
        path.chmod(FILE_MODE)  # the folder is private, so nobody else saw the mode before
        listening.listen(BACKLOG)
    except OSError:
        listening.close()
        raise
    return listening


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        status = path.lstat()
    except OSError:
        return None
    return status.st_dev, status.st_ino
