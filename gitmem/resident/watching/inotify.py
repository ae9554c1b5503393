"""Detect changes below a folder on Linux, without a thread: the kernel's queue of events is read on demand.

Guarantee: the kernel queues an event before the system call that caused it returns. An empty queue therefore means that
no change through a name in this tree was missed, however recent. Two kinds of change leave no event here:
  - A write through a hard link elsewhere: inotify reports names, and that is another name. It is noticed when the file
    is read.
  - A write through a memory map: its event comes when the file is closed.
"""

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from gitmem.errors import ObserverFailed
from gitmem.resident.watching.inotify_queue import (
    ATTRIB,
    CLOSE_WRITE,
    CREATE,
    DELETE,
    IGNORED,
    IS_FOLDER,
    MODIFY,
    MOVED_FROM,
    MOVED_TO,
    NO_LINKS,
    ONLY_FOLDERS,
    OVERFLOW,
    UNMOUNT,
    Event,
    InotifyQueue,
)

_MOVED: Final = MOVED_FROM | MOVED_TO
_CHANGES: Final = MODIFY | ATTRIB | CLOSE_WRITE | CREATE | DELETE | _MOVED | ONLY_FOLDERS | NO_LINKS
"""Events that may change a tree; opening and reading a file are not among them."""


class InotifyWatcher:
    """Watches a folder and all folders below it, except those of given names. Links are not followed.

    Raises ObserverFailed if the system's limit on watches is reached, or if it is no longer known which folders exist.
    After that the watcher can only be closed. Used by one thread at a time.
    """

    def __init__(
        self, folder: Path, ignored_names: tuple[str, ...] = (), open_queue: Callable[[], InotifyQueue] = InotifyQueue
    ) -> None:
        self._folder = folder
        self._ignored_names = frozenset(map(os.fsencode, ignored_names))
        self._folders: dict[int, bytes] = {}
        """Paths of the watched folders by watch number. Inotify is not recursive: each folder needs its own watch."""
        self._changed = True
        try:
            self._queue = open_queue()
        except OSError as error:
            raise self._failure(error.strerror or str(error)) from error
        try:
            self._root = self._add_watch(os.fsencode(folder))
            self._watch_below(os.fsencode(folder))
        except OSError as error:
            self._queue.close()
            raise self._failure(error.strerror or str(error)) from error

    def is_unchanged(self) -> bool:
        """Return whether nothing has changed since the last `reset`; False before the first one."""
        self._process_events()
        return not self._changed

    def reset(self) -> None:
        """Start from the current state. Call it before reading the tree, so that later changes are not lost.

        Folders created since the last call are watched from now on.
        """
        self._process_events()
        self._changed = False

    def close(self) -> None:
        """Stop watching."""
        self._queue.close()

    def _process_events(self) -> None:
        """Empty the queue."""
        try:
            while events := self._queue.read_events():
                for event in events:
                    self._process(event)
        except OSError as error:
            raise self._failure(error.strerror or str(error)) from error

    def _failure(self, reason: str) -> ObserverFailed:
        return ObserverFailed(
            f"cannot watch {self._folder}: {reason}",
            hint="raise fs.inotify.max_user_watches and max_user_instances",
        )

    def _process(self, event: Event) -> None:
        """Take account of an event. Raises ObserverFailed if the set of watched folders is now unknown."""
        watch, mask, name = event
        if mask & IGNORED:
            self._folders.pop(watch, None)
        # After an overflow any event may be missing, among them those of new folders.
        if mask & (OVERFLOW | UNMOUNT) or (mask & IGNORED and watch == self._root):
            raise self._failure("too many changes at once, or the folder is gone")
        if name in self._ignored_names:
            # Its content is ignored. Its creation or removal counts: `.git` makes a repository of the folder around it.
            self._changed |= bool(mask & (_MOVED | CREATE | DELETE))
            return
        self._changed = True
        if mask & IS_FOLDER and mask & _MOVED:
            raise self._failure("a folder was moved")  # `_folders` has the old paths of all folders below it
        if mask & IS_FOLDER and mask & (CREATE | ATTRIB) and watch in self._folders:
            # The folder is new, or its permissions changed and it may be readable from now on.
            self._watch_below(os.path.join(self._folders[watch], name))  # noqa: PTH118 (paths are bytes)

    def _watch_below(self, folder: bytes) -> None:
        """Watch a folder and all below it, except those that are gone or unreadable: git cannot read them either.

        Each folder is watched before it is listed: an entry created meanwhile is in the list, in the queue, or in both.
        """
        pending = [folder]
        while pending:
            with suppress(FileNotFoundError, NotADirectoryError, PermissionError):
                path = pending.pop()
                self._add_watch(path)
                with os.scandir(path) as entries:
                    pending += [entry.path for entry in entries if self._is_watched(entry)]

    def _is_watched(self, entry: "os.DirEntry[bytes]") -> bool:
        return entry.name not in self._ignored_names and entry.is_dir(follow_symlinks=False)

    def _add_watch(self, folder: bytes) -> int:
        watch = self._queue.add_watch(folder, _CHANGES)
        self._folders[watch] = folder
        return watch
