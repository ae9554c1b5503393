"""Errors for failed reads and writes: the message names the file and the reason, the hint the remedy."""

import errno
from pathlib import Path
from typing import Final

from gitmem.errors import StorageFailed, UnsafeIndex

NO_LOCKS_HINT: Final = "an existing index can be read; to write one, keep the repository on a local disk"
"""Hint for file systems without locks."""


def storage_failed(path: Path, problem: Exception) -> StorageFailed:
    """Return the error for a failed write, with a hint by its `errno`."""
    code = problem.errno if isinstance(problem, OSError) else None
    hints = {
        errno.ENOSPC: "free some space on that disk; the index has not changed",
        errno.EDQUOT: "your quota is used up; the index has not changed",
        errno.EROFS: "the file system is read-only",
        errno.EACCES: "give yourself write permission on that folder",
        errno.EPERM: "give yourself write permission on that folder",
        errno.ENOLCK: NO_LOCKS_HINT,
        errno.EOPNOTSUPP: NO_LOCKS_HINT,
        errno.ENOTSUP: NO_LOCKS_HINT,  # the same number on Linux, another one on macOS
    }
    reason = problem.strerror if isinstance(problem, OSError) and problem.strerror else str(problem)
    return StorageFailed(f"cannot write `{path}`: {reason}", hint=hints.get(code or 0, ""))


def read_failed(path: Path, problem: Exception) -> StorageFailed | UnsafeIndex:
    """Return the error for a failed read; a symbolic link is an UnsafeIndex."""
    if isinstance(problem, OSError) and problem.errno == errno.ELOOP:
        return UnsafeIndex(f"`{path}` is a symbolic link", hint="remove it; gitmem only reads an index it made itself")
    reason = problem.strerror if isinstance(problem, OSError) and problem.strerror else str(problem)
    return StorageFailed(f"cannot read `{path}`: {reason}")
