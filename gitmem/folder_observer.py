"""Word from the operating system that something in a folder has changed. What it was is for git to say.

Events are a hint to look, never the truth: the system may drop them, and on a network nobody sends any.
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
"""What may change a tree: reading a file does not."""


class FolderObserver(FileSystemEventHandler):
    """Watches a folder and all below it, for as long as the `with` lasts.

    `changed` is set whenever something may have changed; who looks clears it first. Links are not followed. Events that
    the system drops when there are too many do not matter: those that made it full are still told, and come later than
    what was dropped.
    """

    def __init__(self, folder: Path, changed: threading.Event | None = None) -> None:
        self.changed = changed or threading.Event()
        self._folder = os.path.realpath(folder)

    def __enter__(self) -> Self:
        """Begin. Raises ObserverFailed where the system has no more watches to give."""
        logging.getLogger("watchdog").addHandler(logging.NullHandler())  # it would complain on standard error,
        warnings.filterwarnings("ignore", module=r"watchdog\.")  # also of a folder that it met twice
        try:
            self._observer = Observer()
            self._observer.schedule(self, self._folder, recursive=True, event_filter=_WRITING)
            self._observer.start()
        except OSError as problem:
            raise ObserverFailed(
                f"the system does not watch {self._folder}: {problem.strerror or problem}",
                hint="on Linux raise fs.inotify.max_user_watches and max_user_instances",
            ) from problem
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._observer.stop()
        self._observer.join()

    def on_any_event(self, event: FileSystemEvent) -> None:
        """Called by the observer's thread."""
        lasting = isinstance(event, FileModifiedEvent | FileAttribEvent)
        if any(path and not self._is_noise(os.fsdecode(path), lasting) for path in (event.src_path, event.dest_path)):
            self.changed.set()

    def _is_noise(self, path: str, lasting: bool) -> bool:
        """What happens inside such a folder; that one comes or goes makes a repository of the folder around it."""
        parts = Path(os.path.relpath(path, self._folder)).parts
        return any(part in OWN_FOLDERS for part in (parts if lasting else parts[:-1]))
