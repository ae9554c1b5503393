"""Locks between processes. The system frees a lock when its holder dies, so no stale lock needs to be removed."""

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
    """Hold a writer lock. `on_wait` is called before waiting for another process.

    Raises: Busy if another process holds the lock and `wait` is off, StorageFailed if the file system has no locks.
    """
    # Imported here: commands that only read must not pay for it, and `is_locked` does without it.
    from filelock import FileLock, Timeout

    lock = FileLock(path, mode=FILE_MODE)
    try:
        try:
            # Without waiting first, so that `on_wait` is called only if the lock is held.
            with warnings.catch_warnings():  # about the fallback that is refused below
                warnings.simplefilter("ignore")
                lock.acquire(timeout=0)
        except Timeout:
            if not wait:
                raise
            on_wait()
            lock.acquire()
    except Timeout as problem:
        raise Busy("another process is writing this index") from problem
    except (OSError, NotImplementedError) as problem:
        raise storage_failed(path, problem) from problem
    try:
        if _is_soft(lock):
            raise StorageFailed(f"cannot lock `{path}`: this file system has no locks", hint=NO_LOCKS_HINT)
        yield
    finally:
        lock.release()


def _is_soft(lock: object) -> bool:
    """Return whether a lock is only the existence of a file, which would outlive a killed holder.

    `filelock` changes the class of a lock to this if the system supports no locking call.
    """
    from filelock import SoftFileLock

    return isinstance(lock, SoftFileLock)


def is_locked(path: Path) -> bool:
    """Return whether a process holds a lock; False if that is unknown. Does not load the library that takes locks."""
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
