"""Which files, by their paths, an event may have changed: one inotify queue for any number of files and their folders.

Every folder from the root down to a file is watched, and an event counts only if it has the name of the next folder or
of the file: git's lock files and the journal of gitmem next to it do not. So a file, its removal, its creation and that
of a folder above it are seen, and so is another folder that takes the place of one. Each folder is watched before it is
searched for the next name, so nothing happens unseen in between. The file itself is watched as well, because a folder
does not report what is written through another hard link.
"""

import os
from collections.abc import Callable, Hashable, Iterable
from functools import lru_cache
from pathlib import Path
from typing import Final

from gitmem.errors import ObserverFailed
from gitmem.resident.watching.inotify_queue import (
    ATTRIB,
    CLOSE_WRITE,
    CREATE,
    DELETE,
    EVENTS_ADDED,
    IGNORED,
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
from gitmem.resident.watching.local_filesystem import is_local

_ENTRIES: Final = CREATE | DELETE | MOVED_FROM | MOVED_TO | ONLY_FOLDERS | NO_LINKS | EVENTS_ADDED
"""Events of a folder on the way to a file."""

_CONTENT: Final = MODIFY | ATTRIB | CLOSE_WRITE | NO_LINKS | EVENTS_ADDED
"""Events of a file."""

_is_local = lru_cache(maxsize=1024)(is_local)


class FolderEvents:
    """Events about the files of several owners, for example repositories. Used by one thread at a time.

    Raises ObserverFailed if events cannot be read; then it is closed. Folders that are links,
    and file systems that other machines write to, are refused.
    """

    def __init__(self, open_queue: Callable[[], InotifyQueue] = InotifyQueue) -> None:
        try:
            self._queue = open_queue()
        except OSError as error:
            raise ObserverFailed(f"cannot watch: {error.strerror}") from error
        self._owners: dict[int, dict[bytes, set[Hashable]]] = {}
        """Owners by watch and name."""

    def watch(self, owner: Hashable, files: Iterable[str]) -> bool:
        """Watch files for an owner; return False if a change of one might go unnoticed. Files need not exist."""
        return all(self._watch_file(owner, os.fsencode(file)) for file in files)

    def changed_owners(self) -> set[Hashable] | None:
        """Return the owners whose files may have changed since the last call, None if that may be any."""
        changed: set[Hashable] = set()
        try:
            while events := self._queue.read_events():
                for event in events:
                    if event.mask & (OVERFLOW | UNMOUNT):
                        return None  # the rest of the queue is read by the next call, and changes nothing then
                    changed |= self._owners_of(event)
        except OSError as error:
            self.close()
            raise ObserverFailed(f"cannot watch: {error.strerror}") from error
        return changed

    def forget(self, owner: Hashable) -> None:
        """Stop watching for an owner."""
        for watch, names in list(self._owners.items()):
            for owners in names.values():
                owners.discard(owner)
            if not any(names.values()):
                del self._owners[watch]
                self._queue.remove_watch(watch)

    def close(self) -> None:
        """Stop watching."""
        self._queue.close()

    def _owners_of(self, event: Event) -> set[Hashable]:
        names = self._owners.get(event.watch, {})
        if event.mask & IGNORED:
            self._owners.pop(event.watch, None)
        # Without a name the event is about the file or folder itself.
        return names.get(event.name, set()) if event.name else set().union(*names.values())

    def _watch_file(self, owner: Hashable, file: bytes) -> bool:
        parts = [part for part in os.path.abspath(file).split(b"/") if part]  # noqa: PTH100 (bytes; links stay)
        path = b"/"
        for name in [*parts, b""]:
            try:
                watch = self._queue.add_watch(path, _ENTRIES if name else _CONTENT)
            except FileNotFoundError:
                break  # the folder above is watched for this name
            except OSError:
                return False  # a link, a file where a folder should be, unreadable, or too many watches
            self._owners.setdefault(watch, {}).setdefault(name, set()).add(owner)
            path = os.path.join(path, name)  # noqa: PTH118 (paths are bytes)
        return _is_local(Path(os.fsdecode(os.path.dirname(path.rstrip(b"/")))))  # noqa: PTH120 (paths are bytes)
