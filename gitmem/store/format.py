"""The container every file of the store is written in, and its history.

A file is: magic, format version, header length, checksum of these and the header; the header (msgpack); sections. The
header tells for each section where it lies and one CRC-32 for each block of it. A block is checked when it is first
read and never again, so a reader pays for what it touches and cannot take a damaged byte for an answer.

History of `FORMAT`, newest last; a reader refuses what is newer and rebuilds what is older than `OLDEST_READ`:
  1  first version
"""

import struct
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgpack

from gitmem.errors import DamagedFile, NewerFormat, OldFormat
from gitmem.fsio import is_untruncated, map_file

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FORMAT: Final = 1
OLDEST_READ: Final = 1

BLOCK: Final = 4096
_ALIGN: Final = 64
_START: Final = struct.Struct("<8sII")
_PREFIX_BYTES: Final = _START.size + 4
_MAX_HEADER: Final = 64 << 20

Buffer = bytes | bytearray | memoryview


def build_container(magic: bytes, fields: Mapping[str, Any], sections: Mapping[str, Buffer]) -> list[Buffer]:
    """The parts of a file, to be written one after the other."""
    places, offset, body = {}, 0, []
    for name, data in sections.items():
        view = memoryview(data)
        view = view.cast("B") if view.nbytes else memoryview(b"")  # an empty array cannot be cast
        sums = b"".join(zlib.crc32(view[at : at + BLOCK]).to_bytes(4, "little") for at in range(0, len(view), BLOCK))
        places[name] = [offset, len(view), sums]
        gap = -len(view) % _ALIGN
        body += [view, bytes(gap)]
        offset += len(view) + gap
    header = msgpack.packb({"fields": dict(fields), "sections": places})
    start = _START.pack(magic, FORMAT, len(header))
    return [start, _checksum(start, header), header, bytes(-(_PREFIX_BYTES + len(header)) % _ALIGN), *body]


def _checksum(start: Buffer, header: Buffer) -> bytes:
    """It covers the version as well: a damaged file must not pass for one of another format."""
    return zlib.crc32(header, zlib.crc32(start)).to_bytes(4, "little")


class Container:
    """An open file of the store: its fields, and its sections checked as they are read."""

    def __init__(self, path: Path, magic: bytes, data: Any) -> None:
        self.path = path
        self._data = data
        self._view = memoryview(data)
        if len(self._view) < _PREFIX_BYTES:
            raise damaged(path, "cut short")
        found, version, length = _START.unpack_from(self._view)
        if found != magic:
            raise damaged(path, "not a file of this kind")
        end = _PREFIX_BYTES + length
        header = self._view[_PREFIX_BYTES:end]
        if length > _MAX_HEADER or len(header) != length:
            raise damaged(path, "its header is cut short")
        if _checksum(self._view[: _START.size], header) != self._view[_START.size : _PREFIX_BYTES]:
            raise damaged(path, "its header fails the checksum")
        _require_version(path, version)
        self._body = end + -end % _ALIGN
        parsed = parse_msgpack(path, header.tobytes())
        try:
            self.fields: dict[str, Any] = dict(parsed["fields"])
            self._sections = {name: self._open_section(*place) for name, place in dict(parsed["sections"]).items()}
        except (KeyError, TypeError, ValueError) as problem:
            raise damaged(path, "its header is not that of a file of the index") from problem

    def _open_section(self, offset: int, length: int, sums: bytes) -> "Section":
        start = self._body + offset
        if offset < 0 or length < 0 or start + length > len(self._view):
            raise damaged(self.path, "cut short")
        if not isinstance(sums, bytes) or len(sums) != 4 * -(-length // BLOCK):
            raise damaged(self.path, "its checksums do not fit its content")
        return Section(self.path, self._view[start : start + length], sums)

    def __getitem__(self, name: str) -> "Section":
        return self._sections[name]

    def __contains__(self, name: str) -> bool:
        return name in self._sections

    def require_whole(self) -> None:
        """Raise DamagedFile where somebody has cut the file short since it was opened."""
        if not is_untruncated(self._data):
            raise damaged(self.path, "cut short")

    def check(self) -> None:
        """Read everything. Raises DamagedFile at the first bad block."""
        for section in self._sections.values():
            section.all()


class Section:
    """A run of bytes in a mapped file whose blocks are checked at first touch."""

    __slots__ = ("_checked", "_path", "_sums", "_view")

    def __init__(self, path: Path, view: memoryview, sums: bytes) -> None:
        self._path = path
        self._view = view
        self._sums = sums
        self._checked = bytearray(len(sums) // 4)

    def __len__(self) -> int:
        return len(self._view)

    def all(self) -> memoryview:
        """The whole section."""
        return self.read(0, len(self._view))

    def read(self, start: int, end: int) -> memoryview:
        """Bytes start to end, checked. Raises DamagedFile where they lie outside, or a block fails its checksum."""
        if not 0 <= start <= end <= len(self._view):
            raise damaged(self._path, "it points outside itself")
        if end > start:
            first, last = start // BLOCK, (end - 1) // BLOCK
            if first == last:
                if not self._checked[first]:
                    self._check(first)
            else:
                at = self._checked.find(0, first, last + 1)
                while at >= 0:
                    self._check(at)
                    at = self._checked.find(0, at + 1, last + 1)
        return self._view[start:end]

    def pick(self, rows: "NDArray[np.int64]", width: int) -> "NDArray[np.uint8]":
        """Some rows of a section that is a table of `width` bytes a row, at most a block; [len(rows), width].

        Only their blocks are checked. Raises DamagedFile.
        """
        import numpy as np

        if not 0 < width <= BLOCK or len(self._view) % width or (len(rows) and rows.max() >= len(self._view) // width):
            raise damaged(self._path, "it points outside itself")
        starts = rows * width
        blocks = np.concatenate([starts // BLOCK, (starts + width - 1) // BLOCK])
        for block in sorted({*blocks[np.frombuffer(self._checked, np.uint8)[blocks] == 0].tolist()}):
            self._check(block)
        picked: NDArray[np.uint8] = np.frombuffer(self._view, np.uint8).reshape(-1, width)[rows]
        return picked

    def numbers(self, kind: str) -> "NDArray[Any]":
        """The whole section as numbers of a numpy type."""
        import numpy as np

        width = np.dtype(kind).itemsize
        if len(self._view) % width:
            raise damaged(self._path, "a part of it is cut short")
        return np.frombuffer(self.all(), kind)

    def _check(self, block: int) -> None:
        expected = int.from_bytes(self._sums[4 * block : 4 * block + 4], "little")
        if zlib.crc32(self._view[block * BLOCK : (block + 1) * BLOCK]) != expected:
            raise damaged(self._path, f"block {block} fails its checksum")
        self._checked[block] = 1


def find_container(path: Path, magic: bytes) -> Container | None:
    """Map a file of the store, None where there is none. Raises DamagedFile, OldFormat, NewerFormat."""
    data = map_file(path)
    return None if data is None else Container(path, magic, data)


def parse_msgpack(path: Path, data: bytes) -> dict[str, Any]:
    """Decode a map with bounded sizes; anything else is damage."""
    try:
        parsed = msgpack.unpackb(data, raw=False, strict_map_key=True)
    except (ValueError, msgpack.UnpackException, RecursionError) as problem:
        raise damaged(path, "its header cannot be decoded") from problem
    if not isinstance(parsed, dict):
        raise damaged(path, "its header is no map")
    return parsed


def _require_version(path: Path, version: int) -> None:
    if version > FORMAT:
        raise NewerFormat(
            f"`{path}` was written by a newer gitmem (format {version}, this one reads up to {FORMAT})",
            hint="upgrade gitmem, or `gitmem index --full` with this version to build the index anew",
        )
    if version < OLDEST_READ:
        raise OldFormat(
            f"`{path}` has format {version}, this gitmem reads from {OLDEST_READ}", hint="run `gitmem index`"
        )


def damaged(path: Path, reason: str) -> DamagedFile:
    """The error for a file that is not what was written."""
    return DamagedFile(
        f"`{path}` is damaged: {reason}", hint="run `gitmem verify --repair`: it rebuilds the index from git"
    )
