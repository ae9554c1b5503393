"""Detect changes below a folder on systems without inotify, with certainty by means of a marker file.

The events of watchdog pass through threads, so the absence of an event proves nothing. They arrive in the order of the
changes, though. The watcher therefore creates a marker file inside the tree and waits for its event: once that has
arrived, so have the events of all earlier changes.
"""

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from gitmem import fsio
from gitmem.folder_observer import FolderObserver

_TIMEOUT_SECONDS: Final = 0.25
"""Longest wait for the event of a marker; after it nothing is certain and git is asked, which takes less long."""


class MarkerFileWatcher:
    """Watches a folder and all folders below it. Used by one thread at a time.

    Markers are named like temporary files of `fsio`, so that they are removed later if this process is killed.
    """

    def __init__(self, folder: Path, marker_folder: Path) -> None:
        """Start watching; `marker_folder` is a folder below `folder`. Raises ObserverFailed."""
        self._marker_folder = marker_folder
        self._changed = threading.Event()
        self._marker_seen = threading.Event()
        self._marker_name = ""
        self._observation = _NamedObservation(folder, self._changed, self._receive)
        self._observation.__enter__()

    def is_unchanged(self) -> bool:
        """Return whether it is certain that nothing has changed since the last `reset`.

        False also if no marker can be created, or if its event does not arrive in time.
        """
        if self._changed.is_set():
            return False
        # A new name each time: the late event of an earlier marker must not be taken for that of this one.
        marker = self._marker_folder / f".watched.{os.urandom(8).hex()}.tmp"
        self._marker_seen.clear()
        self._marker_name = marker.name
        try:
            os.close(fsio.disk.create(marker, fsio.FILE_MODE))
            in_time = self._marker_seen.wait(_TIMEOUT_SECONDS)
            fsio.disk.unlink(marker)
        except OSError:
            return False
        return in_time and not self._changed.is_set()

    def reset(self) -> None:
        """Start from the current state. Call it before reading the tree, so that later changes are not lost."""
        self._changed.clear()

    def close(self) -> None:
        """Stop watching."""
        self._observation.__exit__(None, None, None)

    def _receive(self, name: str) -> None:
        """Compare the name of a changed file with that of the marker; called by the observer's thread."""
        if name == self._marker_name:
            self._marker_seen.set()


class _NamedObservation(FolderObserver):
    """FolderObserver that also passes on the base name of every changed file, including ignored ones."""

    def __init__(self, folder: Path, changed: threading.Event, receive: Callable[[str], None]) -> None:
        super().__init__(folder, changed)
        self._receive = receive

    def on_any_event(self, event: Any) -> None:
        """Handle an event; called by the observer's thread."""
        super().on_any_event(event)
        self._receive(os.path.basename(os.fsdecode(event.src_path)))  # noqa: PTH119 (called for every event)
