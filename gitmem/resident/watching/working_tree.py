"""Detect whether anything in a working tree has changed, with certainty and without listing it.

On Linux the kernel's queue of events is read (`inotify`). Elsewhere events pass through threads and a marker file makes
them certain (`marker_file`). If neither is possible, nothing is certain, and the caller asks git.
"""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from gitmem.errors import ObserverFailed
from gitmem.resident.watching.inotify import InotifyWatcher
from gitmem.resident.watching.inotify_queue import is_supported
from gitmem.resident.watching.local_filesystem import is_local
from gitmem.types import OWN_FOLDERS
from gitmem.workspace import Workspace


class ChangeObserver(Protocol):
    """Observer of one folder. Its methods raise ObserverFailed if it cannot detect changes any more."""

    def is_unchanged(self) -> bool: ...

    def reset(self) -> None: ...

    def close(self) -> None: ...


StartObserver = Callable[[Path, Path], ChangeObserver]
"""Starts to observe a working tree, given gitmem's state folder in it. Raises ObserverFailed."""


def start_observer(worktree: Path, state: Path) -> ChangeObserver:
    """Start the observer of this system. Raises ObserverFailed."""
    return start_inotify(worktree, state) if is_supported() else start_marker_file(worktree, state)


def start_inotify(worktree: Path, _state: Path) -> ChangeObserver:
    """Start to observe by inotify. Raises ObserverFailed."""
    if not is_local(worktree):
        raise ObserverFailed(f"{worktree} is not on a local file system: other machines may write to it")
    return InotifyWatcher(worktree, OWN_FOLDERS)


def start_marker_file(worktree: Path, state: Path) -> ChangeObserver:
    """Start to observe by watchdog and marker files in `state`. Raises ObserverFailed."""
    if not (state.is_relative_to(worktree) and state.is_dir()):
        raise ObserverFailed(f"{state} is not a folder of the working tree")
    from gitmem.resident.watching.marker_file import (
        MarkerFileWatcher,  # watchdog takes 50 ms to import; Linux needs none
    )

    return MarkerFileWatcher(worktree, state)


class WorkingTreeWatcher:
    """Watches a working tree from the first `start` until `close`.

    The observer starts in a thread, because adding a watch for each folder of a large tree takes long; afterwards the
    thread calls `on_start`. After a failure, for example an overflow, `start` starts another, but not if the first
    could not start at all.
    """

    def __init__(
        self,
        workspace: Workspace,
        start: StartObserver = start_observer,
        on_start: Callable[[], object] = lambda: None,
    ) -> None:
        self._worktree = workspace.location.worktree
        self._state = workspace.paths.state
        self._start_observer = start
        self._on_start = on_start
        self._observer: ChangeObserver | None = None
        self._observed: tuple[int, int] | None = None
        """Identity of the folder that the observer watches."""
        self._started = self._closed = False
        self._lock = threading.Lock()
        """Guards all attributes above; observers are used by one thread at a time."""

    def is_unchanged(self) -> bool:
        """Return whether it is certain that nothing has changed since the last `reset`."""
        with self._lock:
            if self._observer is None:
                return False
            try:
                return self._observer.is_unchanged() and self._observed == self._identity()
            except ObserverFailed:
                self._stop_observer()
                return False

    def start(self) -> None:
        """Start to watch, if nothing does so yet. Until the observer has started, nothing is certain."""
        with self._lock:
            if self._started or self._closed or self._worktree is None:
                return
            self._started = True
            threading.Thread(target=self._observe, args=(self._worktree,), name="watch", daemon=True).start()

    def reset(self) -> None:
        """Start from the current state. Call it before reading the tree, so that later changes are not lost."""
        with self._lock:
            if self._closed or self._worktree is None:
                return
            if self._observed != self._identity():
                self._stop_observer()
            if self._observer is not None:
                try:
                    self._observer.reset()
                except ObserverFailed:
                    self._stop_observer()

    def close(self) -> None:
        """Stop watching."""
        with self._lock:
            self._closed = True
            self._stop_observer()

    def _identity(self) -> tuple[int, int] | None:
        """Return device and inode of the working tree: another folder may have been moved to its path."""
        assert self._worktree is not None
        try:
            status = self._worktree.stat()
        except OSError:
            return None
        return status.st_dev, status.st_ino

    def _observe(self, worktree: Path) -> None:
        """Start the observer; runs in a thread of its own, without the lock until the observer is complete."""
        # Read before the observer starts: if the folder is replaced meanwhile, the identities differ and it is stopped.
        observed = self._identity()
        try:
            observer = self._start_observer(worktree, self._state)
        except ObserverFailed:
            return  # `_started` stays set: a system that refuses once is not asked at every call
        with self._lock:
            self._observer, self._observed = observer, observed
            if self._closed:
                self._stop_observer()
                return
        self._on_start()

    def _stop_observer(self) -> None:
        """Close the observer, so that the next `start` starts another. The caller holds the lock."""
        if self._observer is not None:
            self._observer.close()
            self._observer, self._started = None, False
