"""What Linux says of changes below a folder, read when it is wanted (inotify(7)).

Word of a change is queued before the call that made it returns. So an empty queue means for certain that nothing has
changed by a name in this tree, and neither a thread nor a file of ours is needed to know it. A hard link from elsewhere
is another name: what is changed by that is found when the file is read.
"""

import ctypes
import os
import struct
import sys
from collections.abc import Iterator
from contextlib import suppress
from enum import IntFlag
from pathlib import Path
from typing import Final

from gitmem.errors import ObserverFailed

_READ_BYTES: Final = 1 << 16
_HEADER: Final = struct.Struct("iIII")
"""An event: the number of the folder, what happened, a number that joins the two of a move, the length of the name."""


class _Mask(IntFlag):
    """Bits of `sys/inotify.h`."""

    MODIFY = 0x2
    ATTRIB = 0x4
    CLOSE_WRITE = 0x8
    MOVED_FROM = 0x40
    MOVED_TO = 0x80
    CREATE = 0x100
    DELETE = 0x200
    UNMOUNT = 0x2000
    OVERFLOW = 0x4000
    IGNORED = 0x8000
    ONLY_FOLDERS = 0x1000000
    NO_LINKS = 0x2000000
    FOLDER = 0x40000000


_MOVED: Final = _Mask.MOVED_FROM | _Mask.MOVED_TO
_WATCHED: Final = int(
    _Mask.MODIFY | _Mask.ATTRIB | _Mask.CLOSE_WRITE | _Mask.CREATE | _Mask.DELETE | _MOVED
    | _Mask.ONLY_FOLDERS | _Mask.NO_LINKS
)  # fmt: skip
"""What may change a tree: reading a file does not. What is written through a map is told of when the file is closed."""


_LOCAL: Final = frozenset(
    b"ext2 ext3 ext4 xfs btrfs zfs bcachefs f2fs jfs reiserfs tmpfs ramfs overlay vfat exfat ntfs3".split()
)
"""File systems that nobody else writes to: of what comes over a network there is no word."""


def is_supported() -> bool:
    """Whether this system has inotify."""
    return sys.platform == "linux" and hasattr(ctypes.CDLL(None), "inotify_init1")


def is_local(folder: Path) -> bool:
    """Whether a folder lies on a file system that tells of everything."""
    path = os.fsencode(os.path.realpath(folder))
    found: tuple[bytes, bytes] = (b"", b"")
    try:
        mounts = Path("/proc/self/mountinfo").read_bytes().splitlines()
    except OSError:
        return False
    for line in mounts:
        words, _, kind = line.partition(b" - ")
        place = words.split(b" ")[4].replace(b"\\040", b" ")
        if (path + b"/").startswith(place.rstrip(b"/") + b"/") and len(place) >= len(found[0]):
            found = place, kind.split(b" ")[0]
    return found[1] in _LOCAL


class InotifyWatcher:
    """Watches a folder and all below it, but for those of some names. Links are not followed.

    It raises ObserverFailed where the system has no more watches to give, or it is not known any more which folders
    there are; then it is of no use but to be closed. Used by one thread at a time.
    """

    def __init__(self, folder: Path, unheeded: tuple[str, ...] = ()) -> None:
        self._folder = folder
        self._unheeded = frozenset(map(os.fsencode, unheeded))
        self._library = ctypes.CDLL(None, use_errno=True)
        self._folders: dict[int, bytes] = {}
        self._changed = True
        self._queue = -1
        try:
            self._queue = self._call("inotify_init1", os.O_NONBLOCK | os.O_CLOEXEC)
            self._root = self._watch(os.fsencode(folder))
            self._add(os.fsencode(folder))
        except OSError as problem:
            self.close()
            raise self._failed(problem.strerror or str(problem)) from problem

    def is_unchanged(self) -> bool:
        """Whether nothing changed since the last `forget`, before which anything may have."""
        self._take()
        return not self._changed

    def forget(self) -> None:
        """Begin anew; call it before looking at the tree. Folders that came are watched from now on."""
        self._take()
        self._changed = False

    def close(self) -> None:
        """Stop watching."""
        if self._queue >= 0:
            os.close(self._queue)
            self._queue = -1

    def _take(self) -> None:
        """Take what was told since the last time."""
        try:
            while data := self._read():
                for event in _parse(data):
                    self._heed(*event)
        except OSError as problem:
            raise self._failed(problem.strerror or str(problem)) from problem

    def _failed(self, why: str) -> ObserverFailed:
        return ObserverFailed(
            f"the system does not watch {self._folder}: {why}",
            hint="raise fs.inotify.max_user_watches and max_user_instances",
        )

    def _read(self) -> bytes:
        with suppress(BlockingIOError):
            return os.read(self._queue, _READ_BYTES)
        return b""

    def _heed(self, number: int, mask: int, name: bytes) -> None:
        if mask & _Mask.IGNORED:
            self._folders.pop(number, None)
        if mask & (_Mask.OVERFLOW | _Mask.UNMOUNT) or (mask & _Mask.IGNORED and number == self._root):
            raise self._failed("too much changed at once")
        if name in self._unheeded:  # that one comes or goes makes a repository of the folder around it
            self._changed |= bool(mask & (_MOVED | _Mask.CREATE | _Mask.DELETE))
            return
        self._changed = True
        if mask & _Mask.FOLDER and mask & _MOVED:
            raise self._failed("a folder has moved")  # what is below it has other paths now
        if mask & _Mask.FOLDER and mask & (_Mask.CREATE | _Mask.ATTRIB) and number in self._folders:
            # it has come, or may be read from now on
            self._add(os.path.join(self._folders[number], name))  # noqa: PTH118 (paths are bytes)

    def _add(self, folder: bytes) -> None:
        """Watch a folder and all below it, as far as it is there and ours to read: git cannot read it either.

        Each is watched before it is read: what comes into it meanwhile is seen or told of.
        """
        waiting = [folder]
        while waiting:
            with suppress(FileNotFoundError, NotADirectoryError, PermissionError):
                path = waiting.pop()
                self._watch(path)
                with os.scandir(path) as entries:
                    waiting += [entry.path for entry in entries if self._is_heeded(entry)]

    def _is_heeded(self, entry: "os.DirEntry[bytes]") -> bool:
        return entry.name not in self._unheeded and entry.is_dir(follow_symlinks=False)

    def _watch(self, folder: bytes) -> int:
        number = self._call("inotify_add_watch", self._queue, folder, _WATCHED)
        self._folders[number] = folder
        return number

    def _call(self, name: str, *arguments: int | bytes) -> int:
        result: int = getattr(self._library, name)(*arguments)
        if result < 0:
            problem = ctypes.get_errno()
            raise OSError(problem, os.strerror(problem))
        return result


def _parse(data: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Events one behind the other: the number of the folder, what happened, and the name of what it happened to."""
    at = 0
    while at < len(data):
        number, mask, _, length = _HEADER.unpack_from(data, at)
        at += _HEADER.size
        yield number, mask, data[at : at + length].rstrip(b"\0")
        at += length
