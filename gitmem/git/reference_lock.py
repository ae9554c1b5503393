"""Lock files of refs that a killed git left behind, and waiting for those of a living one.

Git itself fails at once if it finds one, and leaves the removal to its user. A background process has none.
"""

import time
from collections.abc import Callable, Sequence
from typing import Final

from gitmem.fsio import remove_file
from gitmem.git.locate import RepositoryLocation
from gitmem.git.program import GitResult

_STALE_LOCK_SECONDS: Final = 10.0
"""Age at which the lock file of a ref is considered left behind by a dead process: git holds one for milliseconds."""

_PAUSE_SECONDS: Final = 0.05
_TRIES: Final = 3
"""Failures without a lock file before giving up. The lock may be gone by the time of the check, but not each time."""

_CANNOT_LOCK: Final = "cannot lock ref"
"""What git prints, among other things, if it finds a lock; it runs with `LC_ALL=C`."""


class ReferenceLock:
    """Lock file of a ref, held by another process: waited for, and removed if that process must have died.

    The caller excludes other gitmem writers, so that the lock does not change owners between check and removal.
    """

    def __init__(self, location: RepositoryLocation, name: str) -> None:
        self._path = location.common_dir / f"{name}.lock"
        self._last_seen: tuple[int, int] | None = None
        self._since = 0.0
        self._absent = 0

    def wait(self) -> bool:
        """Wait a moment, or remove a stale lock; return False after several checks without a lock file."""
        try:
            status = self._path.stat()
        except (FileNotFoundError, NotADirectoryError):
            self._absent += 1
            return self._absent < _TRIES
        # The age is measured by the file's time and by this process's own observation: a clock that was set back makes
        # a file look young forever.
        if self._last_seen != (status.st_ino, status.st_mtime_ns):
            self._last_seen, self._since = (status.st_ino, status.st_mtime_ns), time.monotonic()
        if max(time.time() - status.st_mtime, time.monotonic() - self._since) > _STALE_LOCK_SECONDS:
            remove_file(self._path)
        else:
            time.sleep(_PAUSE_SECONDS)
        return True

    def clear(self) -> bool:
        """Wait until the lock is gone, or remove it if it is stale; return False after several calls without one."""
        absent = self._absent
        while self.wait() and self._absent == absent:
            pass
        return self._absent < _TRIES


def run_with_locks(run: Callable[[], GitResult], location: RepositoryLocation, names: Sequence[str]) -> GitResult:
    """Run a git command, and again as long as the locks of the named refs make it fail; return its last result."""
    locks = [ReferenceLock(location, name) for name in names]
    result = run()
    while result.code and _CANNOT_LOCK in result.stderr:
        cleared = [lock.clear() for lock in locks]
        if not any(cleared):
            break
        result = run()
    return result
