"""Who may write: one process at a time, by a lock that the system frees when its holder dies."""

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
    """Hold the one writer lock; the system frees it when its holder dies. `on_wait` is called before it must wait.

    Raises: Busy where another process holds it and `wait` is off, StorageFailed where the file system has no locks.
    """
    from filelock import FileLock, Timeout

    lock = FileLock(path, mode=FILE_MODE)
    try:
        try:
            with warnings.catch_warnings():  # the fallback to a file that a killed holder leaves is refused below
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
        if _outlives_its_holder(lock):
            raise StorageFailed(f"cannot lock `{path}`: this file system has no locks", hint=NO_LOCKS_HINT)
        yield
    finally:
        lock.release()


def _outlives_its_holder(lock: object) -> bool:
    """Whether a lock has become a mere file: without a locking call in the system, `filelock` changes its class."""
    from filelock import SoftFileLock

    return isinstance(lock, SoftFileLock)


def is_locked(path: Path) -> bool:
    """Whether a process holds a lock, told without the library that takes it; False where nobody can tell."""
    try:
        import fcntl

        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    except (ImportError, OSError):
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(handle)
    return False
