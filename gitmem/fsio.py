"""Every write, rename, sync, lock and map of the program, so that crash tests have one seam.

A file is published by: write beside it, sync, rename, sync the folder. Files are never changed in place or cut short,
so a map of one stays whole for as long as it is held. Nothing here knows what the bytes mean.
"""

import errno
import mmap
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from gitmem.errors import Busy, StorageFailed, UnsafeIndex

FILE_MODE = 0o600
FOLDER_MODE = 0o700


def make_folder(path: Path) -> None:
    """Create a folder for this user alone; parents must exist."""
    try:
        path.mkdir(mode=FOLDER_MODE, exist_ok=True)
    except OSError as problem:
        raise storage_failed(path, problem) from problem


def write_atomic(path: Path, parts: Iterable[bytes | memoryview], *, durable: bool = True) -> None:
    """Publish a file whole or not at all; a reader sees the old content or the new.

    Without `durable` a power cut may take it: for marks and logs, which are not worth waiting for the disk.
    """
    beside = path.with_name(f".{path.name}.{os.urandom(6).hex()}.tmp")  # a process number comes again in a container
    try:
        handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), FILE_MODE)
        try:
            _write_all(handle, parts)
            if durable:
                os.fsync(handle)
        finally:
            os.close(handle)
        beside.replace(path)
        if durable:
            sync_folder(path.parent)
    except OSError as problem:
        with suppress(OSError):
            beside.unlink()
        raise storage_failed(path, problem) from problem


def rename_file(path: Path, target: Path) -> bool:
    """Give a file another name in its folder, replacing what bears it; False where the file is gone."""
    try:
        path.replace(target)
    except FileNotFoundError:
        return False
    except OSError as problem:
        raise storage_failed(path, problem) from problem
    return True


def write_once(path: Path, data: bytes) -> None:
    """Publish a file unless there is one already; of several writers one wins, and its file is never replaced."""
    beside = path.with_name(f".{path.name}.{os.urandom(6).hex()}.tmp")
    write_atomic(beside, [data])
    try:
        os.link(beside, path)
    except FileExistsError:
        return
    except OSError:  # a file system without hard links: the last writer wins
        beside.replace(path)
    finally:
        with suppress(OSError):
            beside.unlink()
    sync_folder(path.parent)


def link_file(source: Path, target: Path) -> None:
    """Give a file that never changes a second name, or a copy where there are no hard links; none where it is gone."""
    try:
        os.link(source, target)
    except FileNotFoundError:
        return
    except OSError:
        data = read_file(source)
        if data is not None:
            write_atomic(target, [data])


def _write_all(handle: int, parts: Iterable[bytes | memoryview]) -> None:
    for part in parts:
        rest = memoryview(part).cast("B")
        while rest:
            rest = rest[os.write(handle, rest) :]


def sync_file(path: Path) -> None:
    """Make the bytes of a file that somebody else wrote durable."""
    handle = os.open(path, os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sync_folder(path: Path) -> None:
    """Make the names inside a folder durable, where the system can."""
    if os.name == "nt":
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def read_file(path: Path, limit: int | None = None) -> bytes | None:
    """The bytes of a regular file, None where there is none; symbolic links are not followed."""
    handle = _open_regular(path)
    if handle is None:
        return None
    try:
        with os.fdopen(handle, "rb") as file:
            return file.read() if limit is None else file.read(limit)
    except OSError as problem:
        raise unreadable(path, problem) from problem


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
        raise unreadable(path, problem) from problem
    finally:
        os.close(handle)


def _open_regular(path: Path) -> int | None:
    """A descriptor to read from, None where there is no file; neither a link nor a pipe is followed or waited for."""
    flags = ("O_NOFOLLOW", "O_BINARY", "O_NONBLOCK")
    try:
        handle = os.open(path, os.O_RDONLY | sum(getattr(os, flag, 0) for flag in flags))
    except FileNotFoundError:
        return None
    except OSError as problem:
        raise unreadable(path, problem) from problem
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise StorageFailed(f"cannot read `{path}`: it is no regular file", hint="move it away and run `gitmem index`")
    return handle


def remove_file(path: Path) -> None:
    """Remove a file; one that is gone already is no error."""
    try:
        path.unlink(missing_ok=True)
    except OSError as problem:
        raise storage_failed(path, problem) from problem


def remove_tree(path: Path) -> None:
    """Remove a folder and all below it without following links out of it."""
    import shutil

    try:
        shutil.rmtree(path)
    except FileNotFoundError:
        return
    except OSError as problem:
        raise storage_failed(path, problem) from problem


def sweep_leftovers(folder: Path) -> int:
    """Remove unfinished files of writers that died; call with the lock held. Returns how many there were."""
    if not folder.is_dir():
        return 0
    leftovers = [path for path in folder.iterdir() if path.name.startswith(".") and path.name.endswith(".tmp")]
    for path in leftovers:
        remove_file(path)
    return len(leftovers)


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


@contextmanager
def writer_lock(path: Path, *, wait: bool) -> Iterator[None]:
    """Hold the one writer lock; the system frees it when its holder dies.

    Raises: Busy where another process holds it and `wait` is off.
    """
    from filelock import FileLock, Timeout

    lock = FileLock(path, mode=FILE_MODE)
    try:
        lock.acquire(timeout=-1 if wait else 0)
    except Timeout as problem:
        raise Busy("another process is writing this index", hint="run it again in a moment") from problem
    except (OSError, NotImplementedError) as problem:
        raise storage_failed(path, problem) from problem
    try:
        yield
    finally:
        lock.release()


def storage_failed(path: Path, problem: Exception) -> StorageFailed:
    """Name what could not be written, why, and what helps."""
    code = problem.errno if isinstance(problem, OSError) else None
    hints = {
        errno.ENOSPC: "free some space on that disk; the index is as it was before",
        errno.EDQUOT: "your quota is used up; the index is as it was before",
        errno.EROFS: "the file system is read-only",
        errno.EACCES: "give yourself write permission on that folder",
        errno.EPERM: "give yourself write permission on that folder",
    }
    reason = problem.strerror if isinstance(problem, OSError) and problem.strerror else str(problem)
    return StorageFailed(f"cannot write `{path}`: {reason}", hint=hints.get(code or 0, ""))


def unreadable(path: Path, problem: Exception) -> StorageFailed | UnsafeIndex:
    """Name what could not be read and why."""
    if isinstance(problem, OSError) and problem.errno == errno.ELOOP:
        return UnsafeIndex(f"`{path}` is a symbolic link", hint="remove it; gitmem only reads an index it made itself")
    reason = problem.strerror if isinstance(problem, OSError) and problem.strerror else str(problem)
    return StorageFailed(f"cannot read `{path}`: {reason}")
