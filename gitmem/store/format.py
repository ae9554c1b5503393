"""Container format of all files of the store, and its version history.

Layout: a prefix of magic, format version and CRC-32; the sections; the header (msgpack); the length and the CRC-32 of
the header. The header comes last, so that a file of any size is written in one pass. It holds, for each section, its
offset, its length, the size of its blocks, and one CRC-32 per block. A block is verified when it is first read and not
again, unless the whole file is known to be as its writer left it.

Versions of `FORMAT`, newest last. A reader refuses newer versions. A reader of a kind of file names the oldest version
that it understands. Sections and fields that a reader does not know are ignored, so adding one needs no new version.
  1  first version: the header follows the prefix, and all blocks have 4096 bytes
  2  header at the end, block sizes; segments of any number of windows of 32,768 rows, with the hash of each chunk
"""

# One checksum over the whole file would have to be verified before the first byte is used, and so read a whole segment
# for a query that touches a few blocks of it. With a checksum per block, a reader pays for the blocks it touches, and
# still never returns a damaged byte. CRC-32 detects accidents, not attacks, so everything parsed from a file is
# bounds-checked as well.

import struct
import zlib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import msgpack

from gitmem.errors import NewerFormat, OldFormat
from gitmem.maps import MappedFile, find_mapped
from gitmem.store.section import RELEASE_BYTES, Section, damaged

FORMAT: Final = 2
FIRST_FORMAT: Final = 1
"""Version that readers name for files whose fields have not changed since."""

BLOCK: Final = 4096
"""Bytes per checksum of a section that is read at random: a page, the unit in which a mapped file is read anyway."""

LONG_BLOCK: Final = 1 << 16
"""Bytes per checksum of a section that is always read as a whole: fewer calls, and a shorter header."""

_ALIGN: Final = 64
"""Alignment of sections in bytes: a cache line, and enough for every numpy type."""

START: Final = struct.Struct("<8sII")
_PREFIX_BYTES: Final = START.size + 4
_END: Final = struct.Struct("<II")
MAX_HEADER: Final = 64 << 20

Buffer = bytes | bytearray | memoryview


class ContainerWriter:
    """Writes a file of the store from its beginning to its end: `add_section` for each section, then `finish`."""

    def __init__(self, magic: bytes, write: Callable[[Buffer], object]) -> None:
        """Begin a file; `write` appends bytes to it."""
        self._write = write
        self._locations: dict[str, list[Any]] = {}
        self._offset = 0
        # The length 0 stands where version 1 has the length of its header. So its readers, too, find a valid prefix,
        # and report a newer format instead of damage.
        start = START.pack(magic, FORMAT, 0)
        self._write(start + _checksum(start, b"") + bytes(-_PREFIX_BYTES % _ALIGN))

    def add_section(self, name: str, parts: Iterable[Buffer], block: int = BLOCK) -> None:
        """Append a section that consists of some parts; `block` is the number of bytes per checksum."""
        sums, crc, start, length = bytearray(), 0, self._offset, 0
        for part in parts:
            view = memoryview(part)
            view = view.cast("B") if view.nbytes else memoryview(b"")  # an empty array cannot be cast
            at = 0
            while at < len(view):
                piece = view[at : at + block - length % block]
                crc = zlib.crc32(piece, crc)
                at, length = at + len(piece), length + len(piece)
                if length % block == 0:
                    sums += crc.to_bytes(4, "little")
                    crc = 0
            self._write(view)
        if length % block:
            sums += crc.to_bytes(4, "little")
        self._locations[name] = [start, length, block, bytes(sums)]
        gap = -length % _ALIGN
        self._write(bytes(gap))
        self._offset += length + gap

    def finish(self, fields: Mapping[str, Any]) -> None:
        """Append the header."""
        header = msgpack.packb({"fields": dict(fields), "sections": self._locations})
        self._write(header)
        self._write(_END.pack(len(header), zlib.crc32(header)))


def build_container(magic: bytes, fields: Mapping[str, Any], sections: Mapping[str, Buffer]) -> list[Buffer]:
    """Return the parts of a file, to be written one after the other."""
    parts: list[Buffer] = []
    writer = ContainerWriter(magic, parts.append)
    for name, data in sections.items():
        writer.add_section(name, [data])
    writer.finish(fields)
    return parts


def _checksum(start: Buffer, header: Buffer) -> bytes:
    """Return the checksum of prefix and header, so that a damaged version is not mistaken for another format."""
    return zlib.crc32(header, zlib.crc32(start)).to_bytes(4, "little")


class Container:
    """Open file of the store: its fields, and its sections, which are verified as they are read.

    Raises: DamagedFile, OldFormat, NewerFormat on opening.
    """

    def __init__(
        self,
        path: Path,
        magic: bytes,
        data: Any,
        *,
        oldest: int = FORMAT,
        is_verified: bool = False,
        max_header: int = MAX_HEADER,
    ) -> None:
        """Open the bytes of a file, or a mapped file.

        `oldest` is the oldest version whose fields and sections the caller understands. With `is_verified` the blocks
        are not verified again when they are read. A longer header than `max_header` bytes is refused.
        """
        self.path = path
        self._max_header = max_header
        self._mapped = data if isinstance(data, MappedFile) else None
        self._view = memoryview(data.data if isinstance(data, MappedFile) else data)
        self._is_verified = is_verified
        version, self._body, header = self._find_header(magic)
        _require_version(path, version, oldest)
        parsed = parse_msgpack(path, header.tobytes())  # after the checksum: a bit flip must not reach the decoder
        try:
            self.fields: dict[str, Any] = dict(parsed["fields"])
            locations = dict(parsed["sections"])
            if version == FIRST_FORMAT:
                locations = {name: (offset, length, BLOCK, sums) for name, (offset, length, sums) in locations.items()}
            self._sections = {name: self._open_section(*location) for name, location in locations.items()}
        except (KeyError, TypeError, ValueError) as problem:
            raise damaged(path, "invalid header") from problem

    def _find_header(self, magic: bytes) -> tuple[int, int, memoryview]:
        """Return the format version, the start of the sections, and the header, with their checksums verified."""
        view = self._view
        if len(view) < _PREFIX_BYTES:
            raise damaged(self.path, "truncated")
        actual, version, length = START.unpack_from(view)
        if actual != magic:
            raise damaged(self.path, "wrong magic number")
        header = view[_PREFIX_BYTES : _PREFIX_BYTES + length]
        if length > self._max_header or len(header) != length:
            raise damaged(self.path, "truncated header")
        if _checksum(view[: START.size], header) != view[START.size : _PREFIX_BYTES]:
            raise damaged(self.path, "header checksum mismatch")
        body = _PREFIX_BYTES + length + -(_PREFIX_BYTES + length) % _ALIGN
        return version, body, header if version == FIRST_FORMAT else self._find_last_header(body, version)

    def _find_last_header(self, body: int, version: int) -> memoryview:
        """Return the header at the end of the file."""
        if version != FORMAT:
            return memoryview(b"")  # the caller refuses this version
        end = len(self._view) - _END.size
        if end < body or any(self._view[_PREFIX_BYTES:body]):
            raise damaged(self.path, "truncated or changed before the first section")
        length, checksum = _END.unpack_from(self._view, end)
        if length > min(self._max_header, end - body):
            raise damaged(self.path, "truncated header")
        header = self._view[end - length : end]
        if zlib.crc32(header) != checksum:
            raise damaged(self.path, "header checksum mismatch")
        return header

    def _open_section(self, offset: int, length: int, block: int, sums: bytes) -> Section:
        start = self._body + offset
        if offset < 0 or length < 0 or start + length > len(self._view):
            raise damaged(self.path, "truncated")
        if (
            not isinstance(block, int)
            or block <= 0
            or not isinstance(sums, bytes)
            or len(sums) != 4 * -(-length // block)
        ):
            raise damaged(self.path, "wrong number of checksums")
        view = self._view[start : start + length]
        return Section(self.path, view, block, sums, self._mapped, start, is_verified=self._is_verified)

    def __getitem__(self, name: str) -> Section:
        return self._sections[name]

    def __contains__(self, name: str) -> bool:
        return name in self._sections

    def require_whole(self) -> None:
        """Raise DamagedFile if the file was truncated after it was opened."""
        if self._mapped is not None and not self._mapped.is_untruncated():
            raise damaged(self.path, "truncated")

    def require_as_opened(self) -> None:
        """Raise DamagedFile if the file was truncated or written after it was opened."""
        if self._mapped is not None and not self._mapped.is_as_opened(self.path):
            # Truncation is the more precise reason. It is looked for only now, because this check runs at every call.
            self.require_whole()
            raise damaged(self.path, "changed after it was opened")

    def check(self) -> None:
        """Verify every block, whatever is known about the file. Raises DamagedFile at the first bad one."""
        for section in self._sections.values():
            section.check()

    def hash_into(self, update: Callable[[memoryview], object]) -> None:
        """Pass all bytes of the file to a hash, some megabytes at a time."""
        for start in range(0, len(self._view), RELEASE_BYTES):
            piece = self._view[start : start + RELEASE_BYTES]
            update(piece)
            if self._mapped is not None:
                self._mapped.release(start, start + len(piece))


def find_container(path: Path, magic: bytes, *, oldest: int = FORMAT) -> Container | None:
    """Map a file of the store, or return None without a file. Raises DamagedFile, OldFormat, NewerFormat."""
    mapped = find_mapped(path)
    return None if mapped is None else Container(path, magic, mapped, oldest=oldest)


def parse_msgpack(path: Path, data: bytes) -> dict[str, Any]:
    """Decode a map; anything else, and sizes beyond the data, raise DamagedFile."""
    try:
        parsed = msgpack.unpackb(data, raw=False, strict_map_key=True)
    except (ValueError, msgpack.UnpackException, RecursionError) as problem:
        raise damaged(path, "undecodable header") from problem
    if not isinstance(parsed, dict):
        raise damaged(path, "invalid header")
    return parsed


def _require_version(path: Path, version: int, oldest: int) -> None:
    if version > FORMAT:
        raise NewerFormat(
            f"`{path}` was written by a newer gitmem (format {version}, this one reads up to {FORMAT})",
            hint="upgrade gitmem, or run `gitmem index --full` to rebuild the index with this version",
        )
    if version < oldest:
        raise OldFormat(f"`{path}` has format {version}, this gitmem reads from {oldest}", hint="run `gitmem index`")
