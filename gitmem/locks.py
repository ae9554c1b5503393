"""Locks between processes. The system frees a lock when its holder dies, so no stale lock needs to be removed."""

import errno
import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from gitmem.errors import Busy, StorageFailed
from gitmem.fsio import FILE_MODE
from gitmem.storage_errors import NO_LOCKS_HINT, storage_failed


@contextmanager
def writer_lock(path: Path, *, wait: bool, on_wait: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Hold a writer lock in a folder that exists. `on_wait` is called before waiting for another process.

    Raises: Busy if another process holds the lock and `wait` is off, StorageFailed without the folder, or if the file
    system has no locks.
    """
    try:
        import fcntl  # noqa: F401 (whether the system has it)
    except ImportError:
        lock = _library_lock(path, wait, on_wait)
    else:
        lock = _system_lock(path, wait, on_wait)
    with lock:
        yield


@contextmanager
def _system_lock(path: Path, wait: bool, on_wait: Callable[[], None]) -> Iterator[None]:
    """Hold a lock of the system. `filelock` takes the same one, but importing it costs as much as a Python start."""
    import fcntl

    try:
        handle = _open_locked(path, wait, on_wait)
    except OSError as problem:
        if problem.errno == errno.ENOSYS:
            raise _no_locks(path) from problem
        raise storage_failed(path, problem) from problem
    try:
        yield
    finally:
        # Closing is not enough: a child may have inherited the descriptor.
        try:
            fcntl.flock(handle, fcntl.LOCK_UN)
        finally:
            os.close(handle)


def _open_locked(path: Path, wait: bool, on_wait: Callable[[], None]) -> int:
    """Return the descriptor of a lock file once it is locked. Raises: Busy, OSError."""
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, FILE_MODE)
        try:
            _take(handle, wait, on_wait)
            if os.fstat(handle).st_nlink:
                return handle
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)  # removed while this process waited: the next process would lock a new file of that name


def _take(handle: int, wait: bool, on_wait: Callable[[], None]) -> None:
    import fcntl

    try:
        # Without waiting first, so that `on_wait` is called only if the lock is held.
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as problem:
        if not wait:
            raise _busy() from problem
        on_wait()
        fcntl.flock(handle, fcntl.LOCK_EX)


@contextmanager
def _library_lock(path: Path, wait: bool, on_wait: Callable[[], None]) -> Iterator[None]:
    """Hold a lock on a system without `fcntl`."""
    from filelock import FileLock, Timeout

    lock = FileLock(path, mode=FILE_MODE)
    try:
        try:
            with warnings.catch_warnings():  # about the fallback that is refused below
                warnings.simplefilter("ignore")
                lock.acquire(timeout=0)
        except Timeout:
            if not wait:
                raise
            on_wait()
            lock.acquire()
    except Timeout as problem:
        raise _busy() from problem
    except (OSError, NotImplementedError) as problem:
        raise storage_failed(path, problem) from problem
    try:
        if _is_soft(lock):
            raise _no_locks(path)
        yield
    finally:
        lock.release()


def _is_soft(lock: object) -> bool:
    """Return whether a lock is only the existence of a file, which would outlive a killed holder.

    `filelock` changes the class of a lock to this if the system supports no locking call.
    """
    from filelock import SoftFileLock

    return isinstance(lock, SoftFileLock)


def _busy() -> Busy:
    return Busy("another process is writing this index")


def _no_locks(path: Path) -> StorageFailed:
    return StorageFailed(f"cannot lock `{path}`: this file system has no locks", hint=NO_LOCKS_HINT)


def is_locked(path: Path) -> bool:
    """Return whether a process holds a lock; False if that is unknown."""
    try:
        import fcntl

        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    except (ImportError, OSError):
        return False
    try:
        # A shared lock fails only while a writer holds the exclusive one.
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(handle)
    return False
