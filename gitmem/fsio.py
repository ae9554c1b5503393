"""Every write, rename, sync and map of the program, so that crash tests have one seam.

A file is published by: write beside it, sync, rename, sync the folder. Files are never changed in place or cut short,
so a map of one stays whole for as long as it is held. Nothing here knows what the bytes mean.
"""

import errno
import mmap
import os
import stat
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from gitmem.errors import StorageFailed, UnsafeIndex

FILE_MODE = 0o600
FOLDER_MODE = 0o700
NO_LOCKS: Final = "an index that is there can be read; to write one, keep the repository on a local disk"
"""What helps where a file system has no locks."""

_WRITE_BYTES: Final = 1 << 18
LEFTOVER_SECONDS: Final = 600.0
"""After this long an unfinished file in a folder where nobody needs the lock to write is a dead writer's."""


class Disk:
    """The calls that change a disk, one method each; whatever gitmem writes goes through the one in `disk`.

    Crash tests put another in its place: one that records, fails, or kills the process.
    """

    def create(self, path: Path, mode: int) -> int:
        """Make a file that must not be there yet, and open it for writing."""
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), mode)

    def write(self, handle: int, data: memoryview) -> int:
        """Write some of the data; returns how many bytes."""
        return os.write(handle, data)

    def set_mode(self, handle: int, mode: int) -> None:
        """Set the permissions of an open file."""
        os.fchmod(handle, mode)

    def sync(self, handle: int) -> None:
        """Make the bytes of an open file, or the names in an open folder, survive a power cut."""
        os.fsync(handle)

    def rename(self, source: Path, target: Path) -> None:
        """Give a file another name, in place of the file that has it."""
        source.replace(target)

    def link(self, source: Path, target: Path) -> None:
        """Give a file a second name, which must be free; of a symbolic link the link itself gets it."""
        os.link(source, target, follow_symlinks=False)

    def touch(self, path: Path) -> None:
        """Set a file's time to now."""
        os.utime(path)

    def unlink(self, path: Path) -> None:
        """Take a name away."""
        path.unlink()

    def make_folder(self, path: Path, mode: int) -> None:
        """Make a folder that must not be there yet."""
        path.mkdir(mode)

    def remove_folder(self, path: Path) -> None:
        """Remove an empty folder."""
        path.rmdir()

    def remove_tree(self, path: Path) -> None:
        """Remove a folder and all below it without following links out of it."""
        import shutil

        shutil.rmtree(path)


disk = Disk()


def make_folder(path: Path, mode: int = FOLDER_MODE) -> None:
    """Create a folder, by default for this user alone; parents must exist. One that is there stays as it is."""
    try:
        with suppress(FileExistsError):
            disk.make_folder(path, mode)
            _sync_names(path.parent)
        if not path.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
    except OSError as problem:
        raise storage_failed(path, problem) from problem


def write_atomic(
    path: Path, parts: Iterable[bytes | memoryview], *, mode: int = FILE_MODE, durable: bool = True
) -> None:
    """Publish a file whole or not at all; a reader sees the old content or the new.

    Without `durable` a power cut may take it: for marks and logs, which are not worth waiting for the disk.
    Raises StorageFailed: the old content stands, unless it was the very last step that failed (the sync of the
    folder); the new one stands then, and may not survive a power cut.
    """
    beside = _name_beside(path)
    try:
        handle = disk.create(beside, FILE_MODE)
        try:
            _write_all(handle, parts)
            if mode != FILE_MODE:
                disk.set_mode(handle, mode)
            if durable:
                disk.sync(handle)
        finally:
            os.close(handle)
        disk.rename(beside, path)
        if durable:
            _sync_names(path.parent)
    except OSError as problem:
        with suppress(OSError):
            disk.unlink(beside)
        raise storage_failed(path, problem) from problem


def rename_file(path: Path, target: Path) -> bool:
    """Give a file another name in its folder, replacing what bears it; False where the file is gone."""
    try:
        disk.rename(path, target)
    except FileNotFoundError:
        return False
    except OSError as problem:
        raise storage_failed(path, problem) from problem
    return True


def _name_beside(path: Path) -> Path:
    """Where a file is written before it is published. No process number: in a container they come again."""
    return path.with_name(f".{path.name}.{os.urandom(6).hex()}.tmp")


def write_once(path: Path, data: bytes) -> None:
    """Publish a file unless there is one already; of several writers one wins, and its file is never replaced.

    Raises StorageFailed. Afterwards the file is durable, whoever made it.
    """
    beside = _name_beside(path)
    write_atomic(beside, [data])
    try:
        try:
            disk.link(beside, path)
        except FileExistsError:
            pass
        except OSError:  # a file system without hard links: the last writer wins
            disk.rename(beside, path)
        _sync_names(path.parent)
    except OSError as problem:
        raise storage_failed(path, problem) from problem
    finally:
        with suppress(OSError):
            disk.unlink(beside)


def link_or_copy(source: Path, target: Path) -> None:
    """Give a file that never changes a second name, or a copy where there are no hard links; none where it is gone."""
    try:
        disk.link(source, target)
    except FileNotFoundError:
        return
    except OSError:
        data = read_file(source)
        if data is not None:
            write_atomic(target, [data])


def try_link(path: Path, target: Path) -> bool:
    """Give a file or a symbolic link a second name; False where that is taken, or no file can have two here."""
    try:
        disk.link(path, target)
        _sync_names(target.parent)
    except OSError as problem:
        if problem.errno in (errno.EEXIST, errno.EPERM, errno.EOPNOTSUPP, errno.EMLINK):
            return False
        raise storage_failed(target, problem) from problem
    return True


def publish_file(source: Path, target: Path) -> None:
    """Publish a file that somebody else wrote and `sync_file` made durable, by its new name."""
    try:
        disk.rename(source, target)
        _sync_names(target.parent)
    except OSError as problem:
        raise storage_failed(target, problem) from problem


def touch_file(path: Path) -> None:
    """Set a file's time to now; one that is gone, or not ours to touch, is no error."""
    with suppress(OSError):
        disk.touch(path)


def _write_all(handle: int, parts: Iterable[bytes | memoryview]) -> None:
    for part in _joined(parts):
        rest = memoryview(part).cast("B")
        while rest:
            rest = rest[disk.write(handle, rest) :]


def _joined(parts: Iterable[bytes | memoryview]) -> Iterator[bytes | bytearray | memoryview]:
    """The same bytes with small parts put together: a container has a hundred, and each call costs."""
    waiting = bytearray()
    for part in parts:
        if len(waiting) + memoryview(part).nbytes < _WRITE_BYTES:
            waiting += part
            continue
        yield waiting
        waiting = bytearray()
        yield part
    yield waiting


def sync_file(path: Path) -> None:
    """Make the bytes of a file that somebody else wrote durable."""
    try:
        _sync(path, os.O_RDWR)
    except OSError as problem:
        raise storage_failed(path, problem) from problem


def sync_folder(path: Path) -> None:
    """Make the names inside a folder durable, where the system can."""
    try:
        _sync_names(path)
    except OSError as problem:
        raise storage_failed(path, problem) from problem


def _sync_names(path: Path) -> None:
    if os.name != "nt":
        _sync(path, os.O_RDONLY)


def _sync(path: Path, flags: int) -> None:
    handle = os.open(path, flags)
    try:
        disk.sync(handle)
    finally:
        os.close(handle)


def read_file(path: Path, limit: int | None = None) -> bytes | None:
    """The bytes of a regular file, None where there is none; symbolic links are not followed."""
    handle = _open_regular(path)
    if handle is None:
        return None
    try:
        with os.fdopen(handle, "rb") as file:
            if limit is not None and os.fstat(handle).st_size > limit:
                return file.read(limit)
            return file.read()[:limit]  # makes room for what there is, not for all that there may be
    except OSError as problem:
        raise read_failed(path, problem) from problem


def map_file(path: Path) -> mmap.mmap | bytes | None:
    """Map a regular file for reading, None where there is none; symbolic links are not followed.

    An empty file, which no system maps, is no bytes.
    """
    handle = _open_regular(path)
    if handle is None:
        return None
    try:
        return mmap.mmap(handle, 0, access=mmap.ACCESS_READ) if os.fstat(handle).st_size else b""
    except (OSError, ValueError) as problem:
        raise read_failed(path, problem) from problem
    finally:
        os.close(handle)


def is_untruncated(data: object) -> bool:
    """Whether a mapped file still has all its bytes; anything else is no file any more.

    gitmem never cuts a file short. Where somebody else did, touching the missing pages would end the process (SIGBUS),
    which nothing in it can catch; who keeps a map for long asks this before each use.
    """
    return not isinstance(data, mmap.mmap) or data.size() >= len(data)


def _open_regular(path: Path) -> int | None:
    """A descriptor to read from, None where there is no file; neither a link nor a pipe is followed or waited for."""
    flags = ("O_NOFOLLOW", "O_BINARY", "O_NONBLOCK")
    try:
        handle = os.open(path, os.O_RDONLY | sum(getattr(os, flag, 0) for flag in flags))
    except FileNotFoundError:
        return None
    except OSError as problem:
        raise read_failed(path, problem) from problem
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise StorageFailed(f"cannot read `{path}`: it is no regular file", hint="move it away and run `gitmem index`")
    return handle


def remove_file(path: Path) -> None:
    """Remove a file; one that is gone already is no error."""
    try:
        disk.unlink(path)
    except FileNotFoundError:
        return
    except OSError as problem:
        raise storage_failed(path, problem) from problem


def remove_empty_folder(path: Path) -> None:
    """Remove a folder that holds nothing."""
    try:
        disk.remove_folder(path)
    except OSError as problem:
        raise storage_failed(path, problem) from problem


def remove_tree(path: Path) -> None:
    """Remove a folder and all below it without following links out of it."""
    try:
        disk.remove_tree(path)
    except FileNotFoundError:
        return
    except OSError as problem:
        raise storage_failed(path, problem) from problem


def sweep_leftovers(folder: Path, *, grace: float = 0.0) -> int:
    """Remove unfinished files of writers that died; call with the lock held. Returns how many there were.

    In folders where some write without the lock, `grace` seconds are left to those who may still live.
    """
    if not folder.is_dir():
        return 0
    now = time.time()
    leftovers = [path for path in folder.iterdir() if path.name.startswith(".") and path.name.endswith(".tmp")]
    if grace:
        leftovers = [path for path in leftovers if abs(now - _changed(path, now)) >= grace]
    for path in leftovers:
        remove_file(path)
    return len(leftovers)


def _changed(path: Path, now: float) -> float:
    try:
        return path.lstat().st_mtime
    except FileNotFoundError:
        return now


def require_own_folder(path: Path) -> bool:
    """Whether the folder is there; refuse one that is a link, no folder, or another user's.

    Raises: UnsafeIndex.
    """
    try:
        found = path.lstat()
    except FileNotFoundError:
        return False
    if stat.S_ISLNK(found.st_mode):
        raise UnsafeIndex(f"`{path}` is a symbolic link", hint="remove it; gitmem only reads an index it made itself")
    if not stat.S_ISDIR(found.st_mode):
        raise UnsafeIndex(f"`{path}` is not a folder", hint="move it away and run `gitmem init`")
    if hasattr(os, "geteuid") and found.st_uid != os.geteuid() and os.geteuid() != 0:
        raise UnsafeIndex(f"`{path}` belongs to another user", hint="run `gitmem` as the user who made it")
    return True


def storage_failed(path: Path, problem: Exception) -> StorageFailed:
    """Name what could not be written, why, and what helps."""
    code = problem.errno if isinstance(problem, OSError) else None
    hints = {
        errno.ENOSPC: "free some space on that disk; the index is as it was before",
        errno.EDQUOT: "your quota is used up; the index is as it was before",
        errno.EROFS: "the file system is read-only",
        errno.EACCES: "give yourself write permission on that folder",
        errno.EPERM: "give yourself write permission on that folder",
        errno.ENOLCK: NO_LOCKS,
        errno.EOPNOTSUPP: NO_LOCKS,
    }
    reason = problem.strerror if isinstance(problem, OSError) and problem.strerror else str(problem)
    return StorageFailed(f"cannot write `{path}`: {reason}", hint=hints.get(code or 0, ""))


def read_failed(path: Path, problem: Exception) -> StorageFailed | UnsafeIndex:
    """Name what could not be read and why."""
    if isinstance(problem, OSError) and problem.errno == errno.ELOOP:
        return UnsafeIndex(f"`{path}` is a symbolic link", hint="remove it; gitmem only reads an index it made itself")
    reason = problem.strerror if isinstance(problem, OSError) and problem.strerror else str(problem)
    return StorageFailed(f"cannot read `{path}`: {reason}")
