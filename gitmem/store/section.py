"""Section of a file of the store: bytes that are read in part, each block verified when it is first read."""

import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from gitmem.errors import DamagedFile
from gitmem.maps import MappedFile

if TYPE_CHECKING:  # `gitmem index` with nothing to do reads the manifest without numpy; the methods import it lazily
    import numpy as np

    from gitmem.arrays import NDArray

_FEW_ROWS: Final = 8
RELEASE_BYTES: Final = 8 << 20
"""Bytes of a file after which a check of all its blocks gives their memory back."""

_FAULT_BYTES: Final = 1 << 16
"""Bytes that Linux maps around a page of a file that is read for the first time, as far as they are in memory.

They are more, up to 2 MiB, if the file system caches a file in larger pieces.
"""

MAX_PICKED_BYTES: Final = 64 << 20
"""Bytes that a section may occupy because some of its rows were picked. In a server the picked vectors of some hundred
queries would otherwise bring all vectors of a large segment into its memory."""


class Section:
    """Section of a mapped file; each block is verified on first access."""

    __slots__ = (
        "_block", "_checked", "_is_announced", "_is_verified", "_mapped", "_path", "_picked", "_start", "_sums",
        "_view",
    )  # fmt: skip

    def __init__(
        self,
        path: Path,
        view: memoryview,
        block: int,
        sums: bytes,
        mapped: MappedFile | None,
        start: int,
        *,
        is_verified: bool,
    ) -> None:
        self._path = path
        self._view = view
        self._block = block
        self._sums = sums
        self._mapped = mapped
        self._start = start  # in the file
        self._checked = bytearray(len(sums) // 4)
        self._is_verified = is_verified
        self._is_announced = False
        self._picked = 0
        """Rows that were picked since their memory was last given back."""

    def __len__(self) -> int:
        return len(self._view)

    def all(self) -> memoryview:
        """Return the whole section."""
        view = self.read(0, len(self._view))
        self._is_announced = True
        return view

    def read(self, start: int, end: int) -> memoryview:
        """Return the bytes from `start` to `end`, verified. Raises DamagedFile if out of range, or a checksum fails."""
        if not 0 <= start <= end <= len(self._view):
            raise damaged(self._path, "offset out of range")
        if self._mapped is not None and not self._is_announced:
            self._mapped.announce(self._start + start, self._start + end)
        if not self._is_verified and end > start:
            last = (end - 1) // self._block
            at = self._checked.find(0, start // self._block, last + 1)
            while at >= 0:
                self.check_block(at)
                at = self._checked.find(0, at + 1, last + 1)
        return self._view[start:end]

    def slices(self, starts: "NDArray[np.integer]", ends: "NDArray[np.integer]") -> list[bytes]:
        """Return the bytes of some short ranges; only their blocks are read and verified. Raises DamagedFile."""
        import numpy as np

        if not len(starts):
            return []
        if (ends < starts).any() or ends.max() > len(self._view):
            raise damaged(self._path, "offset out of range")
        if not self._is_verified:
            # Ranges in the same blocks are verified once.
            lasts = (np.maximum(ends, starts + 1) - 1) // self._block
            for first, last in sorted({*zip((starts // self._block).tolist(), lasts.tolist(), strict=True)}):
                self.read(first * self._block, min((last + 1) * self._block, len(self._view)))
        view = self._view
        return [bytes(view[start:end]) for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]

    def pick(self, rows: "NDArray[np.int64]", width: int) -> "NDArray[np.uint8]":
        """Return some rows of a section that is a table of `width` bytes per row (at most a block): [len(rows), width].

        Only their blocks are read and verified. Raises DamagedFile.
        """
        import numpy as np

        if not 0 < width <= self._block or len(self._view) % width:
            raise damaged(self._path, "row out of range")
        if len(rows) <= _FEW_ROWS:  # the calls of numpy below would take ten times as long
            parts = [self.read(width * row, width * (row + 1)) for row in rows.tolist()]
            few: NDArray[np.uint8] = np.frombuffer(b"".join(parts), np.uint8).reshape(-1, width)
            self._count_picked(len(few))
            return few
        if rows.max() >= len(self._view) // width:
            raise damaged(self._path, "row out of range")
        if not self._is_verified:
            starts = rows * width
            blocks = np.concatenate([starts // self._block, (starts + width - 1) // self._block])
            for block in sorted({*blocks[np.frombuffer(self._checked, np.uint8)[blocks] == 0].tolist()}):
                self.check_block(block)
        picked: NDArray[np.uint8] = np.frombuffer(self._view, np.uint8).reshape(-1, width)[rows]
        self._count_picked(len(picked))
        return picked

    def _count_picked(self, rows: int) -> None:
        """Give the memory of the section back if it may have become large because of picked rows."""
        self._picked += rows
        if self._picked * _FAULT_BYTES > MAX_PICKED_BYTES < len(self._view):
            self.release(0, len(self._view))
            self._picked = 0

    def numbers(self, kind: str) -> "NDArray[Any]":
        """Return the whole section as an array of a numpy type."""
        import numpy as np

        width = np.dtype(kind).itemsize
        if len(self._view) % width:
            raise damaged(self._path, "truncated section")
        return np.frombuffer(self.all(), kind)

    def release(self, start: int, end: int) -> None:
        """Take the pages of a range out of this process's memory; they are mapped again when they are next read."""
        if self._mapped is not None:
            self._mapped.release(self._start + start, self._start + end)

    def check(self) -> None:
        """Verify every block, also those that are known to be right. Raises DamagedFile."""
        for block in range(len(self._checked)):
            self.check_block(block)
            if (block + 1) * self._block % RELEASE_BYTES < self._block:
                self.release(max(0, (block + 1) * self._block - 2 * RELEASE_BYTES), (block + 1) * self._block)
        self.release(0, len(self._view))

    def check_block(self, block: int) -> None:
        """Verify one block. Raises DamagedFile."""
        expected = int.from_bytes(self._sums[4 * block : 4 * block + 4], "little")
        if zlib.crc32(self._view[block * self._block : (block + 1) * self._block]) != expected:
            raise damaged(self._path, f"checksum mismatch in block {block}")
        self._checked[block] = 1


def damaged(path: Path, reason: str) -> DamagedFile:
    """Return the error for a file whose content has changed since it was written."""
    return DamagedFile(
        f"`{path}` is damaged: {reason}", hint="run `gitmem verify --repair`: it rebuilds the index from git"
    )
