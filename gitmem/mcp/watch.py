"""Whether anything in a working tree has changed, told for certain and without looking at it.

Word of changes passes through threads and comes late. So a file of ours is made inside the tree first: word comes in
the order of what happened, and once that file is told of, all that happened before it has been. Where no such file can
be made (a linked working tree, whose index lies elsewhere; a read-only disk) or the system gives no word, nothing is
certain, and git must be asked.
"""

import os
import threading
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

from gitmem import fsio
from gitmem.errors import ObserverFailed
from gitmem.observe import Observation
from gitmem.workspace import Workspace

_PATIENCE_SECONDS: Final = 0.25
"""Word that takes longer than this is not waited for."""


class Watch:
    """Watches a working tree from `begin` until closed. Used by one thread at a time, but for `close`.

    The files it makes are named like unfinished ones, so that they are swept up if this process is killed.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._worktree = workspace.location.worktree
        self._folder = workspace.paths.state
        self._changed = threading.Event()
        self._told = threading.Event()
        self._awaited = ""
        self._certain = self._begun = self._closed = False
        self._closing = threading.Lock()
        self._open = ExitStack()

    def begin(self) -> None:
        """Begin in the background, once there is an index and where its folder lies inside the working tree."""
        worktree = self._worktree
        if not self._begun and worktree is not None and self._folder.is_relative_to(worktree):
            self._begun = self._folder.is_dir()
            if self._begun:
                threading.Thread(target=self._watch, args=(worktree,), name="watch", daemon=True).start()

    def is_quiet(self) -> bool:
        """Whether it is certain that nothing changed since the last `forget`."""
        if not self._certain or self._changed.is_set():
            return False
        own = self._folder / f".watched.{os.urandom(8).hex()}.tmp"
        self._told.clear()
        self._awaited = own.name
        try:
            os.close(fsio.disk.create(own, fsio.FILE_MODE))
            told = self._told.wait(_PATIENCE_SECONDS)
            fsio.disk.unlink(own)
        except OSError:
            return False
        return told and not self._changed.is_set()

    def forget(self) -> None:
        """Begin anew; call it before looking at the tree."""
        self._changed.clear()

    def close(self) -> None:
        """Stop watching."""
        with self._closing:
            self._closed, self._certain = True, False
            self._open.close()

    def _watch(self, worktree: Path) -> None:
        try:
            with self._closing:
                if not self._closed:
                    self._open.enter_context(_Observation(worktree, self._changed, self._hear))
        except ObserverFailed:
            return
        self._changed.set()
        self._certain = not self._closed

    def _hear(self, name: str) -> None:
        if name == self._awaited:
            self._told.set()


class _Observation(Observation):
    """One that also passes on the names of files that are told of."""

    def __init__(self, folder: Path, changed: threading.Event, hear: Callable[[str], None]) -> None:
        super().__init__(folder, changed)
        self._hear = hear

    def on_any_event(self, event: Any) -> None:
        """Called by the observer's thread."""
        super().on_any_event(event)
        self._hear(os.path.basename(os.fsdecode(event.src_path)))  # noqa: PTH119 (called for every event)
