"""Observe a folder for changes through the operating system. Which files have changed is left to git.

Events are only a hint to look: the system may drop them, and changes on network file systems cause none.
"""

import logging
import os
import threading
import warnings
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from watchdog.events import (
    DirCreatedEvent,
    DirDeletedEvent,
    DirMovedEvent,
    FileAttribEvent,
    FileCreatedEvent,
    FileDeletedEvent,
    FileModifiedEvent,
    FileMovedEvent,
    FileSystemEvent,
    FileSystemEventHandler,
)
from watchdog.observers import Observer

from gitmem.errors import ObserverFailed
from gitmem.types import OWN_FOLDERS

_WRITING: Final[list[type[FileSystemEvent]]] = [
    FileCreatedEvent, FileModifiedEvent, FileAttribEvent, FileMovedEvent, FileDeletedEvent,
    DirCreatedEvent, DirMovedEvent, DirDeletedEvent,
]  # fmt: skip
"""Events that may change a tree; opening or reading a file does not."""


class FolderObserver(FileSystemEventHandler):
    """Context manager that observes a folder and everything below it.

    `changed` is set whenever something may have changed. A reader clears it before it looks. Links are not followed.
    If the system drops events because its queue is full, nothing is missed: the queued events still set `changed`, and
    the reader looks at everything.
    """

    def __init__(self, folder: Path, changed: threading.Event | None = None) -> None:
        self.changed = changed or threading.Event()
        self._folder = os.path.realpath(folder)

    def __enter__(self) -> Self:
        """Start observing. Raises: ObserverFailed if the system has no watches left."""
        # The library would log to standard error, and warn of a folder that it meets twice.
        logging.getLogger("watchdog").addHandler(logging.NullHandler())
        warnings.filterwarnings("ignore", module=r"watchdog\.")
        try:
            self._observer = Observer()
            self._observer.schedule(self, self._folder, recursive=True, event_filter=_WRITING)
            self._observer.start()
        except OSError as problem:
            raise ObserverFailed(
                f"cannot watch {self._folder} for changes: {problem.strerror or problem}",
                hint="on Linux raise fs.inotify.max_user_watches and max_user_instances",
            ) from problem
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._observer.stop()
        self._observer.join()

    def on_any_event(self, event: FileSystemEvent) -> None:
        """Set `changed` unless only git's or gitmem's own files changed. Runs in the observer's thread."""
        is_content = isinstance(event, FileModifiedEvent | FileAttribEvent)
        if any(
            path and not self._is_noise(os.fsdecode(path), is_content) for path in (event.src_path, event.dest_path)
        ):
            self.changed.set()

    def _is_noise(self, path: str, is_content: bool) -> bool:
        """Return whether a path is inside one of OWN_FOLDERS.

        The creation or removal of such a folder itself counts: it makes its parent a repository, or not one any more.
        """
        # Relative to the folder, because a parent of it may be named `.git` itself.
        parts = Path(os.path.relpath(path, self._folder)).parts
        return any(part in OWN_FOLDERS for part in (parts if is_content else parts[:-1]))
