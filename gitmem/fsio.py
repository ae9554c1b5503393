"""All writes, renames and syncs of the program, so that crash tests need to intercept only one place.

A file is published in this order: write a temporary file, fsync it, rename it, fsync the directory. Files are never
changed in place or truncated, so a memory map stays valid for as long as it is held. The meaning of the bytes is the
concern of the callers.
"""

import errno
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from gitmem.errors import StorageFailed, UnsafeIndex
from gitmem.storage_errors import read_failed, storage_failed

FILE_MODE = 0o600
FOLDER_MODE = 0o700

_WRITE_BYTES: Final = 1 << 18
"""Size up to which small parts of a file are collected before a system call."""


class Disk:
    """System calls that change a disk, one method each. All writes of gitmem go through the instance `disk`.

    Crash tests replace it by one that records calls, fails, or kills the process.
    """

    def create(self, path: Path, mode: int) -> int:
        """Create a file, which must not exist, and open it for writing."""
        # O_EXCL and O_NOFOLLOW: never write to a file or through a link that another process has put there.
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), mode)

    def write(self, handle: int, data: memoryview) -> int:
        """Write some of the data; return the number of bytes written."""
        return os.write(handle, data)

    def append(self, path: Path, data: bytes) -> int:
        """Append to a log, which is created if it does not exist, with one call; return its size."""
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
        handle = os.open(path, flags, FILE_MODE)
        try:
            os.write(handle, data)
            return os.fstat(handle).st_size
        finally:
            os.close(handle)

    def set_mode(self, handle: int, mode: int) -> None:
        """Set the permissions of an open file."""
        os.fchmod(handle, mode)

    def sync(self, handle: int) -> None:
        """Make the content of an open file, or the names in an open folder, survive a power cut."""
        os.fsync(handle)

    def rename(self, source: Path, target: Path) -> None:
        """Rename a file and replace any file that has the name."""
        source.replace(target)

    def link(self, source: Path, target: Path) -> None:
        """Create a hard link, whose name must be free. A symbolic link itself gets the second name, not its target."""
        os.link(source, target, follow_symlinks=False)

    def touch(self, path: Path) -> None:
        """Set the modification time of a file to now."""
        os.utime(path)

    def unlink(self, path: Path) -> None:
        """Remove a name of a file."""
        path.unlink()

    def make_folder(self, path: Path, mode: int) -> None:
        """Create a folder, which must not exist."""
        path.mkdir(mode)

    def remove_folder(self, path: Path) -> None:
        """Remove an empty folder."""
        path.rmdir()

    def remove_tree(self, path: Path) -> None:
        """Remove a folder and everything below it without following links out of it."""
        import shutil  # slow to load, and not needed by a command with nothing to do

        shutil.rmtree(path)


disk = Disk()


def make_folder(path: Path, mode: int = FOLDER_MODE) -> None:
    """Create a folder, by default accessible only to this user. Its parent must exist; an existing folder is kept.

    Raises: StorageFailed.
    """
    try:
        with suppress(FileExistsError):
            disk.make_folder(path, mode)
            _sync_names(path.parent)
        if not path.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
    except OSError as problem:
        raise storage_failed(path, problem) from problem


def make_temporary_folder(path: Path) -> None:
    """Create a folder that a power cut may take. Raises: StorageFailed."""
    try:
        disk.make_folder(path, FOLDER_MODE)
    except OSError as problem:
        raise storage_failed(path, problem) from problem


def make_folder_like(path: Path, model: Path) -> None:
    """Create a folder that is missing, with the permissions of another one. The caller syncs. Raises: StorageFailed."""
    if path.is_dir():
        return
    try:
        mode = stat.S_IMODE(model.stat().st_mode)
        with suppress(FileExistsError):
            disk.make_folder(path, mode)
            if stat.S_IMODE(path.stat().st_mode) != mode:
                handle = os.open(path, os.O_RDONLY)
                try:
                    disk.set_mode(handle, mode)
                finally:
                    os.close(handle)
    except OSError as problem:
        raise storage_failed(path, problem) from problem


def write_atomic(
    path: Path, parts: Iterable[bytes | memoryview], *, mode: int = FILE_MODE, durable: bool = True
) -> None:
    """Publish a file atomically: readers see either the old content or the new one.

    Without `durable` the file may be lost in a power cut; this is for marks and logs, which are not worth waiting for
    the disk.

    Raises: StorageFailed. The old content remains, unless only the last step failed, the fsync of the folder: then the
    new content is in place, but may not survive a power cut.
    """
    temporary = temporary_path(path)
    try:
        handle = disk.create(temporary, FILE_MODE)
        try:
            _write_all(handle, parts)
            if mode != FILE_MODE:
                disk.set_mode(handle, mode)
            if durable:
                # Before the rename: otherwise a power cut may leave the name with empty content.
                disk.sync(handle)
        finally:
            os.close(handle)
        disk.rename(temporary, path)
        if durable:
            _sync_names(path.parent)
    except OSError as problem:
        with suppress(OSError):
            disk.unlink(temporary)
        raise storage_failed(path, problem) from problem


def append_file(path: Path, data: bytes) -> int:
    """Append a short line to a log with one call, so that lines of several processes never mix; return the size.

    Nothing is synced: no guarantee of the index depends on a log. Raises: StorageFailed.
    """
    try:
        return disk.append(path, data)
    except OSError as problem:
        raise storage_failed(path, problem) from problem


def rename_file(path: Path, target: Path) -> bool:
    """Rename a file within its folder, replacing any file of that name. Return False if the file no longer exists."""
    try:
        disk.rename(path, target)
    except FileNotFoundError:
        return False
    except OSError as problem:
        raise storage_failed(path, problem) from problem
    return True


def temporary_path(path: Path) -> Path:
    """Return a new name for the temporary file. Process ids would not do: in containers they repeat."""
    return path.with_name(f".{path.name}.{os.urandom(6).hex()}.tmp")


def write_once(path: Path, data: bytes) -> None:
    """Publish a file unless it exists. Of several writers one wins, and its file is never replaced.

    Afterwards the file is durable, whichever process wrote it. Raises: StorageFailed.
    """
    temporary = temporary_path(path)
    write_atomic(temporary, [data])
    try:
        try:
            disk.link(temporary, path)
        except FileExistsError:
            pass
        except OSError:  # a file system without hard links: the last writer wins
            disk.rename(temporary, path)
        _sync_names(path.parent)
    except OSError as problem:
        raise storage_failed(path, problem) from problem
    finally:
        with suppress(OSError):
            disk.unlink(temporary)


def link_or_copy(source: Path, target: Path) -> None:
    """Link a file that never changes, or copy it if hard links are not supported. Do nothing if it no longer exists."""
    try:
        disk.link(source, target)
    except FileNotFoundError:
        return
    except OSError:
        data = read_file(source)
        if data is not None:
            write_atomic(target, [data])


def try_link(path: Path, target: Path) -> bool:
    """Create a hard link to a file or symbolic link.

    Return False if the name is taken or the file system does not support or permit hard links. Raises: StorageFailed.
    """
    try:
        disk.link(path, target)
        _sync_names(target.parent)
    except OSError as problem:
        if problem.errno in (errno.EEXIST, errno.EPERM, errno.EOPNOTSUPP, errno.EMLINK):
            return False
        raise storage_failed(target, problem) from problem
    return True


def publish_file(source: Path, target: Path) -> None:
    """Publish under a new name a file that a library wrote and `sync_file` made durable. Raises: StorageFailed."""
    try:
        disk.rename(source, target)
        _sync_names(target.parent)
    except OSError as problem:
        raise storage_failed(target, problem) from problem


def publish_unsynced(source: Path, target: Path) -> None:
    """Move a durable file to a new name, which the caller makes durable with `sync_folder`. Raises: StorageFailed."""
    try:
        disk.rename(source, target)
    except OSError as problem:
        raise storage_failed(target, problem) from problem


def touch_file(path: Path) -> None:
    """Set the modification time of a file to now, if it exists and belongs to this user."""
    with suppress(OSError):
        disk.touch(path)


def _write_all(handle: int, parts: Iterable[bytes | memoryview]) -> None:
    for part in _coalesce(parts):
        rest = memoryview(part).cast("B")
        while rest:  # a system call may write only a part, above all of more than 2 GiB
            rest = rest[disk.write(handle, rest) :]


def _coalesce(parts: Iterable[bytes | memoryview]) -> Iterator[bytes | bytearray | memoryview]:
    """Yield the same bytes with small parts joined: a container has a hundred parts, and system calls cost time."""
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
    """Make the content of a file that a library wrote durable. Raises: StorageFailed."""
    try:
        _sync(path, os.O_RDWR)
    except OSError as problem:
        raise storage_failed(path, problem) from problem


def sync_folder(path: Path) -> None:
    """Make the names in a folder durable, if the system supports that. Raises: StorageFailed."""
    try:
        _sync_names(path)
    except OSError as problem:
        raise storage_failed(path, problem) from problem


def _sync_names(path: Path) -> None:
    # Windows cannot open a folder to fsync it.
    if os.name != "nt":
        _sync(path, os.O_RDONLY)


def _sync(path: Path, flags: int) -> None:
    handle = os.open(path, flags)
    try:
        disk.sync(handle)
    finally:
        os.close(handle)


def read_file(path: Path, limit: int | None = None) -> bytes | None:
    """Return the content of a regular file, at most `limit` bytes, or None if it does not exist.

    Symbolic links are not followed. Raises: StorageFailed, UnsafeIndex for a link.
    """
    handle = open_regular(path)
    if handle is None:
        return None
    try:
        with os.fdopen(handle, "rb") as file:
            if limit is not None and os.fstat(handle).st_size > limit:
                return file.read(limit)
            return file.read()[:limit]  # allocates by the size of the file, where read(limit) allocates the limit
    except OSError as problem:
        raise read_failed(path, problem) from problem


def open_regular(path: Path) -> int | None:
    """Return a descriptor for reading, None without a file. Links are not followed, and pipes are not waited for."""
    # Opening a pipe without O_NONBLOCK would wait for a writer. Not every system has all of these flags.
    flags = ("O_NOFOLLOW", "O_BINARY", "O_NONBLOCK")
    try:
        handle = os.open(path, os.O_RDONLY | sum(getattr(os, flag, 0) for flag in flags))
    except FileNotFoundError:
        return None
    except OSError as problem:
        raise read_failed(path, problem) from problem
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise StorageFailed(f"cannot read `{path}`: not a regular file", hint="move it away and run `gitmem index`")
    return handle


def remove_file(path: Path) -> None:
    """Remove a file if it exists. Raises: StorageFailed."""
    try:
        disk.unlink(path)
    except FileNotFoundError:
        return
    except OSError as problem:
        raise storage_failed(path, problem) from problem


def remove_empty_folder(path: Path) -> None:
    """Remove an empty folder. Raises: StorageFailed."""
    try:
        disk.remove_folder(path)
    except OSError as problem:
        raise storage_failed(path, problem) from problem


def remove_tree(path: Path) -> None:
    """Remove a folder, if it exists, and everything below it, without following links. Raises: StorageFailed."""
    try:
        disk.remove_tree(path)
    except FileNotFoundError:
        return
    except OSError as problem:
        raise storage_failed(path, problem) from problem


def require_own_folder(path: Path) -> bool:
    """Return whether a folder exists.

    Raises: UnsafeIndex if the path is a link, not a folder, or belongs to another user.
    """
    try:
        status = path.lstat()
    except FileNotFoundError:
        return False
    if stat.S_ISLNK(status.st_mode):
        raise UnsafeIndex(f"`{path}` is a symbolic link", hint="remove it; gitmem only reads an index it made itself")
    if not stat.S_ISDIR(status.st_mode):
        raise UnsafeIndex(f"`{path}` is not a folder", hint="move it away and run `gitmem init`")
    # root is exempt: in containers it works in repositories of other users.
    if hasattr(os, "geteuid") and status.st_uid != os.geteuid() and os.geteuid() != 0:
        raise UnsafeIndex(f"`{path}` belongs to another user", hint="run `gitmem` as the user who owns it")
    return True
