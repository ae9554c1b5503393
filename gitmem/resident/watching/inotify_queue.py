"""Typed wrapper of Linux's inotify system calls: one queue of events in the folders added to it. See inotify(7)."""

import ctypes
import os
import struct
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

from gitmem.named_tuple import NamedTuple

# Bits of `sys/inotify.h`. Plain integers: with `enum.IntFlag` a burst of 500 writes took 8 ms of CPU instead of 1.3.
MODIFY: Final = 0x2
ATTRIB: Final = 0x4
CLOSE_WRITE: Final = 0x8
MOVED_FROM: Final = 0x40
MOVED_TO: Final = 0x80
CREATE: Final = 0x100
DELETE: Final = 0x200
UNMOUNT: Final = 0x2000
OVERFLOW: Final = 0x4000
"""Set in an event without a folder: the queue was full and the kernel dropped events."""
IGNORED: Final = 0x8000
"""Set in the last event of a folder: its watch has been removed, for example because the folder was deleted."""
ONLY_FOLDERS: Final = 0x1000000
NO_LINKS: Final = 0x2000000
EVENTS_ADDED: Final = 0x20000000
"""Set to add events to those for which a folder is watched already."""
IS_FOLDER: Final = 0x40000000

_READ_BYTES: Final = 1 << 16
_HEADER: Final = struct.Struct("iIII")
"""Fixed part of an event: watch number, mask, a cookie that joins the two events of a move, length of the name."""


class Event(NamedTuple):
    """Event in a watched folder. `name` is that of the file or folder in it, empty for the folder itself."""

    watch: int
    mask: int
    name: bytes


class InotifyQueue:
    """Open inotify queue. Used by one thread at a time; all methods raise OSError."""

    def __init__(self) -> None:
        init, self._add_watch, self._remove_watch = _system_calls()
        self._descriptor: int = init(os.O_NONBLOCK | os.O_CLOEXEC)

    def add_watch(self, folder: bytes, mask: int) -> int:
        """Watch the direct entries of a folder for the events in `mask`; returns the watch number."""
        return int(self._add_watch(self._descriptor, folder, mask))

    def remove_watch(self, watch: int) -> None:
        """Stop watching a folder. Without an effect if it is gone."""
        with suppress(OSError):
            self._remove_watch(self._descriptor, watch)

    def read_events(self) -> list[Event]:
        """Remove some of the oldest events from the queue, without waiting; none are left if the list is empty."""
        try:
            return parse_events(os.read(self._descriptor, _READ_BYTES))
        except BlockingIOError:
            return []

    def close(self) -> None:
        """Remove all watches and release the descriptor. May be called several times."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def is_supported() -> bool:
    """Return whether this system has inotify."""
    return sys.platform == "linux" and hasattr(ctypes.CDLL(None), "inotify_init1")


def parse_events(data: bytes) -> list[Event]:
    """Split the bytes of whole events; the kernel pads names with NUL bytes."""
    events: list[Event] = []
    offset = 0
    while offset < len(data):
        watch, mask, _, length = _HEADER.unpack_from(data, offset)
        offset += _HEADER.size + length
        events.append(Event(watch, mask, data[offset - length : offset].rstrip(b"\0")))
    return events


def _system_calls() -> tuple[Callable[..., Any], Callable[..., Any], Callable[..., Any]]:
    """Return `inotify_init1`, `inotify_add_watch` and `inotify_rm_watch` of the C library; they raise OSError."""
    # `CDLL(None)` is the library that Python itself uses. `ctypes.util.find_library`, as in inotify_simple, starts a
    # process to search for it: 3 ms of CPU.
    library = ctypes.CDLL(None, use_errno=True)
    init, add_watch, remove_watch = library.inotify_init1, library.inotify_add_watch, library.inotify_rm_watch
    init.argtypes = (ctypes.c_int,)
    add_watch.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_uint32)
    remove_watch.argtypes = (ctypes.c_int, ctypes.c_int)
    init.errcheck = add_watch.errcheck = remove_watch.errcheck = _raise_errno
    return init, add_watch, remove_watch


def _raise_errno(result: Any, _function: object, _arguments: object) -> Any:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result
