"""What other systems than Linux say of changes below a folder, made certain by a mark.

Word of changes passes through threads and comes late. So a file of ours is made inside the tree first: word comes in
the order of what happened, and once that file is told of, all that happened before it has been.
"""

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from gitmem import fsio
from gitmem.folder_observer import Observation

_PATIENCE_SECONDS: Final = 0.25
"""Word that takes longer than this is not waited for."""


class MarkerFileWatcher:
    """Watches a folder and all below it. Used by one thread at a time.

    The marks are named like unfinished files, so that they are swept up if this process is killed.
    """

    def __init__(self, folder: Path, own: Path) -> None:
        """`own` is a folder below, where the marks are made. Raises ObserverFailed."""
        self._own = own
        self._changed = threading.Event()
        self._told = threading.Event()
        self._awaited = ""
        self._observation = _Observation(folder, self._changed, self._hear)
        self._observation.__enter__()

    def is_unchanged(self) -> bool:
        """Whether it is certain that nothing changed since the last `forget`; not where no mark can be made."""
        if self._changed.is_set():
            return False
        mark = self._own / f".watched.{os.urandom(8).hex()}.tmp"
        self._told.clear()
        self._awaited = mark.name
        try:
            os.close(fsio.disk.create(mark, fsio.FILE_MODE))
            told = self._told.wait(_PATIENCE_SECONDS)
            fsio.disk.unlink(mark)
        except OSError:
            return False
        return told and not self._changed.is_set()

    def forget(self) -> None:
        """Begin anew; call it before looking at the tree."""
        self._changed.clear()

    def close(self) -> None:
        """Stop watching."""
        self._observation.__exit__(None, None, None)

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
