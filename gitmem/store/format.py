"""Container format of all files of the store, and its version history.

Layout: a prefix of magic, format version, header length and CRC-32 of these and the header; the header (msgpack); the
sections. The header holds, for each section, its offset, its length, and one CRC-32 per block of 4096 bytes. A block is
verified when it is first read and not again.

Versions of `FORMAT`, newest last. A reader refuses newer versions; files older than `OLDEST_READ` are rebuilt:
  1  first version
"""

# One checksum over the whole file would have to be verified before the first byte is used, and so read a whole segment
# for a query that touches a few blocks of it. With a checksum per block, a reader pays for the blocks it touches, and
# still never returns a damaged byte. CRC-32 detects accidents, not attacks, so everything parsed from a file is
# bounds-checked as well.

import struct
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgpack

from gitmem.errors import DamagedFile, NewerFormat, OldFormat
from gitmem.fsio import is_untruncated, map_file

if TYPE_CHECKING:  # `gitmem index` with nothing to do reads the manifest without numpy; the methods import it lazily
    import numpy as np
    from numpy.typing import NDArray

FORMAT: Final = 1
OLDEST_READ: Final = 1

BLOCK: Final = 4096
"""Bytes per checksum: a page, the unit in which a mapped file is read anyway."""

_ALIGN: Final = 64
"""Alignment of sections in bytes: a cache line, and enough for every numpy type."""

_START: Final = struct.Struct("<8sII")
_PREFIX_BYTES: Final = _START.size + 4
_MAX_HEADER: Final = 64 << 20

Buffer = bytes | bytearray | memoryview


def build_container(magic: bytes, fields: Mapping[str, Any], sections: Mapping[str, Buffer]) -> list[Buffer]:
    """Return the parts of a file, to be written one after the other."""
    locations, offset, body = {}, 0, []
    for name, data in sections.items():
        view = memoryview(data)
        view = view.cast("B") if view.nbytes else memoryview(b"")  # an empty array cannot be cast
        sums = b"".join(zlib.crc32(view[at : at + BLOCK]).to_bytes(4, "little") for at in range(0, len(view), BLOCK))
        locations[name] = [offset, len(view), sums]
        gap = -len(view) % _ALIGN
        body += [view, bytes(gap)]
        offset += len(view) + gap
    header = msgpack.packb({"fields": dict(fields), "sections": locations})
    start = _START.pack(magic, FORMAT, len(header))
    return [start, _checksum(start, header), header, bytes(-(_PREFIX_BYTES + len(header)) % _ALIGN), *body]


def _checksum(start: Buffer, header: Buffer) -> bytes:
    """Return the checksum of prefix and header, so that a damaged version is not mistaken for another format."""
    return zlib.crc32(header, zlib.crc32(start)).to_bytes(4, "little")


class Container:
    """Open file of the store: its fields, and its sections, which are verified as they are read.

    Raises: DamagedFile, OldFormat, NewerFormat on opening.
    """

    def __init__(self, path: Path, magic: bytes, data: Any) -> None:
        self.path = path
        self._data = data
        self._view = memoryview(data)
        if len(self._view) < _PREFIX_BYTES:
            raise damaged(path, "truncated")
        actual, version, length = _START.unpack_from(self._view)
        if actual != magic:
            raise damaged(path, "wrong magic number")
        end = _PREFIX_BYTES + length
        header = self._view[_PREFIX_BYTES:end]
        if length > _MAX_HEADER or len(header) != length:
            raise damaged(path, "truncated header")
        if _checksum(self._view[: _START.size], header) != self._view[_START.size : _PREFIX_BYTES]:
            raise damaged(path, "header checksum mismatch")
        _require_version(path, version)
        self._body = end + -end % _ALIGN
        parsed = parse_msgpack(path, header.tobytes())  # after the checksum: a bit flip must not reach the decoder
        try:
            self.fields: dict[str, Any] = dict(parsed["fields"])
            locations = dict(parsed["sections"])
            self._sections = {name: self._open_section(*location) for name, location in locations.items()}
        except (KeyError, TypeError, ValueError) as problem:
            raise damaged(path, "invalid header") from problem

    def _open_section(self, offset: int, length: int, sums: bytes) -> "Section":
        start = self._body + offset
        if offset < 0 or length < 0 or start + length > len(self._view):
            raise damaged(self.path, "truncated")
        if not isinstance(sums, bytes) or len(sums) != 4 * -(-length // BLOCK):
            raise damaged(self.path, "wrong number of checksums")
        return Section(self.path, self._view[start : start + length], sums)

    def __getitem__(self, name: str) -> "Section":
        return self._sections[name]

    def __contains__(self, name: str) -> bool:
        return name in self._sections

    def require_whole(self) -> None:
        """Raise DamagedFile if the file was truncated after it was opened."""
        if not is_untruncated(self._data):
            raise damaged(self.path, "truncated")

    def check(self) -> None:
        """Read every block. Raises DamagedFile at the first bad one."""
        for section in self._sections.values():
            section.all()


class Section:
    """Section of a mapped file; each block is verified on first access."""

    __slots__ = ("_checked", "_path", "_sums", "_view")

    def __init__(self, path: Path, view: memoryview, sums: bytes) -> None:
        self._path = path
        self._view = view
        self._sums = sums
        self._checked = bytearray(len(sums) // 4)

    def __len__(self) -> int:
        return len(self._view)

    def all(self) -> memoryview:
        """Return the whole section."""
        return self.read(0, len(self._view))

    def read(self, start: int, end: int) -> memoryview:
        """Return the bytes from `start` to `end`, verified. Raises DamagedFile if out of range, or a checksum fails."""
        if not 0 <= start <= end <= len(self._view):
            raise damaged(self._path, "offset out of range")
        if end > start:
            first, last = start // BLOCK, (end - 1) // BLOCK
            if first == last:
                if not self._checked[first]:
                    self.check_block(first)
            else:
                at = self._checked.find(0, first, last + 1)
                while at >= 0:
                    self.check_block(at)
                    at = self._checked.find(0, at + 1, last + 1)
        return self._view[start:end]

    def pick(self, rows: "NDArray[np.int64]", width: int) -> "NDArray[np.uint8]":
        """Return some rows of a section that is a table of `width` bytes per row (at most BLOCK): [len(rows), width].

        Only their blocks are read and verified. Raises DamagedFile.
        """
        import numpy as np

        if not 0 < width <= BLOCK or len(self._view) % width or (len(rows) and rows.max() >= len(self._view) // width):
            raise damaged(self._path, "row out of range")
        starts = rows * width
        blocks = np.concatenate([starts // BLOCK, (starts + width - 1) // BLOCK])
        for block in sorted({*blocks[np.frombuffer(self._checked, np.uint8)[blocks] == 0].tolist()}):
            self.check_block(block)
        picked: NDArray[np.uint8] = np.frombuffer(self._view, np.uint8).reshape(-1, width)[rows]
        return picked

    def numbers(self, kind: str) -> "NDArray[Any]":
        """Return the whole section as an array of a numpy type."""
        import numpy as np

        width = np.dtype(kind).itemsize
        if len(self._view) % width:
            raise damaged(self._path, "truncated section")
        return np.frombuffer(self.all(), kind)

    def check_block(self, block: int) -> None:
        """Verify one block. Raises DamagedFile."""
        expected = int.from_bytes(self._sums[4 * block : 4 * block + 4], "little")
        if zlib.crc32(self._view[block * BLOCK : (block + 1) * BLOCK]) != expected:
            raise damaged(self._path, f"checksum mismatch in block {block}")
        self._checked[block] = 1


def find_container(path: Path, magic: bytes) -> Container | None:
    """Map a file of the store, or return None without a file. Raises DamagedFile, OldFormat, NewerFormat."""
    data = map_file(path)
    return None if data is None else Container(path, magic, data)


def parse_msgpack(path: Path, data: bytes) -> dict[str, Any]:
    """Decode a map; anything else, and sizes beyond the data, raise DamagedFile."""
    try:
        parsed = msgpack.unpackb(data, raw=False, strict_map_key=True)
    except (ValueError, msgpack.UnpackException, RecursionError) as problem:
        raise damaged(path, "undecodable header") from problem
    if not isinstance(parsed, dict):
        raise damaged(path, "invalid header")
    return parsed


def _require_version(path: Path, version: int) -> None:
    if version > FORMAT:
        raise NewerFormat(
            f"`{path}` was written by a newer gitmem (format {version}, this one reads up to {FORMAT})",
            hint="upgrade gitmem, or run `gitmem index --full` to rebuild the index with this version",
        )
    if version < OLDEST_READ:
        raise OldFormat(
            f"`{path}` has format {version}, this gitmem reads from {OLDEST_READ}", hint="run `gitmem index`"
        )


def damaged(path: Path, reason: str) -> DamagedFile:
    """Return the error for a file whose content is not what was written."""
    return DamagedFile(
        f"`{path}` is damaged: {reason}", hint="run `gitmem verify --repair`: it rebuilds the index from git"
    )
