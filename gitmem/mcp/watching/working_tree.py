"""Whether anything in a working tree has changed, told for certain and without looking at it.

Linux keeps word of changes in a queue that is asked (`inotify`); elsewhere it passes through threads and has to be made
certain (`marked`). Where the system gives no word, nothing is certain, and git must be asked.
"""

import threading
from pathlib import Path
from typing import Protocol

from gitmem.errors import ObserverFailed
from gitmem.mcp.watching.inotify import InotifyWatcher, is_local, is_supported
from gitmem.types import NOISE
from gitmem.workspace import Workspace


class _Observer(Protocol):
    """What the system tells. ObserverFailed says that it can tell nothing any more."""

    def is_unchanged(self) -> bool: ...

    def forget(self) -> None: ...

    def close(self) -> None: ...


class WorkingTreeWatcher:
    """Watches a working tree from the first `forget` until closed, begun in the background and as often as needed."""

    def __init__(self, workspace: Workspace) -> None:
        self._worktree = workspace.location.worktree
        self._state = workspace.paths.state
        self._observer: _Observer | None = None
        self._watched: tuple[int, int] | None = None
        self._begun = self._closed = False
        self._lock = threading.Lock()

    def is_unchanged(self) -> bool:
        """Whether it is certain that nothing changed since the last `forget`."""
        with self._lock:
            if self._observer is None:
                return False
            try:
                return self._observer.is_unchanged() and self._watched == self._identity()
            except ObserverFailed:
                self._drop()
                return False

    def forget(self) -> None:
        """Begin anew; call it before looking at the tree."""
        with self._lock:
            if self._closed or self._worktree is None:
                return
            if self._watched != self._identity():
                self._drop()
            if not self._begun:
                self._begun = True
                threading.Thread(target=self._begin, args=(self._worktree,), name="watch", daemon=True).start()
            if self._observer is not None:
                try:
                    self._observer.forget()
                except ObserverFailed:
                    self._drop()

    def close(self) -> None:
        """Stop watching."""
        with self._lock:
            self._closed = True
            self._drop()

    def _identity(self) -> tuple[int, int] | None:
        """Which folder the working tree is: another one may come to stand in its place."""
        assert self._worktree is not None
        try:
            found = self._worktree.stat()
        except OSError:
            return None
        return found.st_dev, found.st_ino

    def _begin(self, worktree: Path) -> None:
        watched = self._identity()
        try:
            observer = _observe(worktree, self._state)
        except ObserverFailed:
            return  # and not begun again: git is asked instead
        with self._lock:
            self._observer, self._watched = observer, watched
            if self._closed:
                self._drop()

    def _drop(self) -> None:
        if self._observer is not None:
            self._observer.close()
            self._observer, self._begun = None, False


def _observe(worktree: Path, state: Path) -> _Observer:
    """Raises ObserverFailed."""
    if is_supported():
        if not is_local(worktree):
            raise ObserverFailed(f"{worktree} may be written to from elsewhere")
        return InotifyWatcher(worktree, NOISE)
    if not (state.is_relative_to(worktree) and state.is_dir()):
        raise ObserverFailed(f"{state} is not a folder of the working tree")
    from gitmem.mcp.watching.marker_file import MarkerFileWatcher  # the library behind it takes 50 ms to load

    return MarkerFileWatcher(worktree, state)
