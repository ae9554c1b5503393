"""Mapped files: read-only, opened without following links, with advice to the system about the coming reads."""

# A map of an index is read at random places: the posting lists of some terms, the vectors of some rows. By default the
# system reads 128 KiB around each first touch, and so the whole file after some hundred touches. Random access is
# therefore announced for the whole map, and each long read announces its own range.

import mmap
import os
from pathlib import Path
from typing import Final

from gitmem.fsio import open_regular
from gitmem.named_tuple import NamedTuple
from gitmem.storage_errors import read_failed

READ_AHEAD: Final = 1 << 16
"""Bytes of a read from which it is announced to the system."""


class Stamp(NamedTuple):
    """Identity of a file's content: it changes if the file is replaced, or written by anything but the disk itself."""

    inode: int
    modified: int
    size: int


class MappedFile:
    """Mapped file; `data` are its bytes. An empty file has no map, because no system supports that."""

    def __init__(self, data: mmap.mmap | bytes, stamp: Stamp) -> None:
        self.data = data
        self.stamp = stamp

    def expect_random_reads(self) -> None:
        """Have the system read no more than what is touched."""
        self._advise(_RANDOM, 0, len(self.data))

    def announce(self, start: int, end: int) -> None:
        """Have the system read a range ahead, if it is long enough to be worth a call."""
        if end - start >= READ_AHEAD:
            self._advise(_WILLNEED, start, end)

    def release(self, start: int, end: int) -> None:
        """Take the pages of a range out of this process's memory; they are mapped again when they are next read."""
        self._advise(_DONTNEED, start, end)

    def is_untruncated(self) -> bool:
        """Return whether the file still has all its bytes, see `is_untruncated`."""
        return is_untruncated(self.data)

    def is_as_opened(self, path: Path) -> bool:
        """Return whether the file is as it was when it was opened as `path`: neither truncated nor written since.

        A file that replaces it, or its removal, leaves the map as it is. Not for files whose time gitmem itself sets.
        """
        try:
            status = path.lstat()
        except OSError:
            return self.is_untruncated()
        is_replaced = status.st_ino != self.stamp.inode
        return self.is_untruncated() and (
            is_replaced or (status.st_mtime_ns, status.st_size) == (self.stamp.modified, self.stamp.size)
        )

    def _advise(self, advice: int | None, start: int, end: int) -> None:
        if advice is not None and isinstance(self.data, mmap.mmap):
            first = start - start % mmap.PAGESIZE
            self.data.madvise(advice, first, end - first)


_RANDOM: Final = getattr(mmap, "MADV_RANDOM", None)
_WILLNEED: Final = getattr(mmap, "MADV_WILLNEED", None)
# Only Linux documents that this keeps the content of a map of a file; elsewhere it may merely be advice, or missing.
_DONTNEED: Final = getattr(mmap, "MADV_DONTNEED", None)


def find_mapped(path: Path) -> MappedFile | None:
    """Map a file that is read at random places, or return None if it does not exist. Links are not followed.

    Raises: StorageFailed, UnsafeIndex for a link.
    """
    mapped = _find_mapped(path)
    if mapped is not None:
        mapped.expect_random_reads()
    return mapped


def map_file(path: Path) -> mmap.mmap | bytes | None:
    """Map a file that is read as a whole or in runs, without advice to the system. Otherwise like `find_mapped`."""
    mapped = _find_mapped(path)
    return None if mapped is None else mapped.data


def _find_mapped(path: Path) -> MappedFile | None:
    handle = open_regular(path)
    if handle is None:
        return None
    try:
        status = os.fstat(handle)
        stamp = Stamp(status.st_ino, status.st_mtime_ns, status.st_size)
        # The map holds its own reference to the file, so the descriptor is closed below.
        return MappedFile(mmap.mmap(handle, 0, access=mmap.ACCESS_READ) if stamp.size else b"", stamp)
    except (OSError, ValueError) as problem:
        raise read_failed(path, problem) from problem
    finally:
        os.close(handle)


def is_untruncated(data: object) -> bool:
    """Return whether a mapped file still has all its bytes. Other data needs no check: it is in memory.

    gitmem never truncates a file. If another program did, reading the missing pages would end the process by SIGBUS,
    which Python cannot handle. Call this before each use of a map that is kept for long.
    """
    return not isinstance(data, mmap.mmap) or data.size() >= len(data)
