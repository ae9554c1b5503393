"""Containers with deflated sections: half the bytes, and a block is inflated to be read.

    section = deflate(block) ...
    block   = `PACKED_BLOCK` bytes of the content, the last one fewer

Before compression the numbers of a block are replaced by their differences, if they ascend, and then ordered by
significance: first the lowest bytes of all of them. Columns of small numbers thus become runs of zeros. The field
`packed` has the length and the packing of each such section, and the ends of its blocks. Checksums are those of the
stored bytes.
"""

# Two kinds of segment are packed. The past is asked rarely and has many times the rows, most of which never are found.
# A small segment is inflated in a fraction of a millisecond. A large segment of a tree is searched many times an hour,
# so its sections are read as they are.

import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np

from gitmem.arrays import NDArray, differences, distinct
from gitmem.maps import find_mapped
from gitmem.named_tuple import NamedTuple
from gitmem.store.format import BLOCK, MAX_HEADER, Buffer, Container, ContainerWriter
from gitmem.store.section import Section, damaged

PACKED_BLOCK: Final = 1 << 15
"""Bytes of a block before compression: it is inflated in a tenth of a millisecond."""

_FIELD: Final = "packed"
_LEVEL: Final = 6
_MOST_KEPT: Final = 128
"""Inflated blocks that a section keeps: 4 MB."""

_MAX_RATIO: Final = 64
_SMALL: Final = 64 << 20
"""A file inflates to at most so many times its bytes, or to a small number of bytes: otherwise a forged file of one
megabyte could take a gigabyte of memory. Written ones shrink to a third, and get a filler if they shrink to less."""

_FILLER: Final = "filler"

_FEW: Final = 2048
_FEW_BLOCKS: Final = 9
"""Rows or ranges up to which only their blocks are inflated, if the section has more than some blocks."""


class Packing(NamedTuple):
    """Transformation of a section before compression: the bytes of each number, and whether differences are stored."""

    width: int = 1
    is_ascending: bool = False


BYTES: Final = Packing()


def pack_block(data: Buffer, packing: Packing) -> bytes:
    """Return a block as it is stored."""
    if packing.width > 1 and len(data) % packing.width == 0:
        numbers = np.frombuffer(data, f"<u{packing.width}")
        if packing.is_ascending:
            numbers = differences(numbers, 0)  # modulo the width, so any order is restored
        data = np.ascontiguousarray(numbers.view(np.uint8).reshape(-1, packing.width).T).data
    return zlib.compress(data, _LEVEL)


def unpack_block(stored: Buffer, size: int, packing: Packing) -> bytes:
    """Return the content of a block of `size` bytes. Raises ValueError if it is damaged."""
    stream = zlib.decompressobj()
    try:
        data = stream.decompress(stored, size) if size else b""
    except zlib.error as problem:
        raise ValueError("a packed block is damaged") from problem
    if len(data) != size:
        raise ValueError("a packed block has the wrong size")
    if packing.width == 1 or size % packing.width:
        return data
    planes = np.frombuffer(data, np.uint8).reshape(packing.width, -1)
    numbers = np.ascontiguousarray(planes.T).reshape(-1).view(f"<u{packing.width}")
    if packing.is_ascending:
        numbers = np.cumsum(numbers, dtype=numbers.dtype)
    return numbers.tobytes()


class PackedWriter(ContainerWriter):
    """Writer of a container that deflates the sections with a packing."""

    def __init__(self, magic: bytes, write: Callable[[Buffer], object], packings: Mapping[str, Packing]) -> None:
        super().__init__(magic, write)
        self._packings = packings
        self._packed: dict[str, list[Any]] = {}

    def add_section(self, name: str, parts: Iterable[Buffer], block: int = BLOCK) -> None:
        packing = self._packings.get(name)
        if packing is None:
            super().add_section(name, parts, block)
            return
        ends: list[int] = []
        length = 0

        def stored() -> Iterator[Buffer]:
            nonlocal length
            for content in _blocks(parts):
                packed = pack_block(content, packing)
                ends.append((ends[-1] if ends else 0) + len(packed))
                length += len(content)
                yield packed

        super().add_section(name, stored(), block)
        self._packed[name] = [length, *packing, np.array(ends, "<u4").tobytes()]

    def finish(self, fields: Mapping[str, Any]) -> None:
        inflated = sum(length for length, *_ in self._packed.values())
        if inflated > _SMALL:
            super().add_section(_FILLER, [bytes(max(0, -(-inflated // _MAX_RATIO) - self._offset))])
        super().finish({**fields, **({_FIELD: self._packed} if self._packed else {})})


def _blocks(parts: Iterable[Buffer]) -> Iterator[bytes]:
    """Yield the content of some parts in blocks."""
    waiting = bytearray()
    for part in parts:
        waiting += memoryview(part).cast("B") if memoryview(part).nbytes else b""
        whole = len(waiting) - len(waiting) % PACKED_BLOCK
        for start in range(0, whole, PACKED_BLOCK):
            yield bytes(waiting[start : start + PACKED_BLOCK])
        del waiting[:whole]
    if waiting:
        yield bytes(waiting)


class PackedContainer(Container):
    """Open container, some of whose sections may be deflated. Raises as `Container`."""

    def __init__(
        self,
        path: Path,
        magic: bytes,
        data: Any,
        *,
        is_verified: bool = False,
        max_header: int = MAX_HEADER,
        most_inflated: int | None = None,
    ) -> None:
        """Open the bytes of a file, or a mapped file.

        `most_inflated` is the largest number of bytes that the deflated sections may have, by default as many as those
        of a file of this size can have. For the others see `Container`.
        """
        super().__init__(path, magic, data, is_verified=is_verified, max_header=max_header)
        most = max(_SMALL, _MAX_RATIO * len(self._view)) if most_inflated is None else most_inflated
        try:
            packed = dict(self.fields.get(_FIELD, {}))
            if sum(length for length, *_ in packed.values()) > most:
                raise ValueError("more bytes than a file of this size can have")
            for name, (length, width, is_ascending, ends) in packed.items():
                packing = Packing(int(width), bool(is_ascending))
                bounds = [0, *np.frombuffer(ends, "<u4").tolist()]
                self._sections[name] = PackedSection(path, self._sections[name], int(length), packing, bounds)
        except (KeyError, TypeError, ValueError, OverflowError) as problem:
            raise damaged(path, "invalid packed section") from problem


class PackedSection(Section):
    """Deflated section; its blocks are inflated when they are first read."""

    __slots__ = ("_bounds", "_kept", "_length", "_packing", "_stored", "_whole")

    def __init__(self, path: Path, stored: Section, length: int, packing: Packing, bounds: list[int]) -> None:
        """Raises ValueError if the blocks do not fit the section."""
        self._path = path
        self._stored = stored
        self._length = length
        self._packing = packing
        is_complete = len(bounds) == 1 - (-length // PACKED_BLOCK) and bounds[-1] == len(stored)
        if length < 0 or packing.width not in (1, 2, 4, 8) or not is_complete or bounds != sorted(bounds):
            raise ValueError("wrong blocks")
        self._bounds = bounds
        self._kept: dict[int, bytes] = {}
        self._whole: bytes | None = None

    def __len__(self) -> int:
        return self._length

    def all(self) -> memoryview:
        whole = self._whole  # another thread may release it at any time
        if whole is None:
            whole = self._whole = b"".join(map(self._inflate, range(len(self._bounds) - 1)))
            self._kept.clear()
        return memoryview(whole)

    def read(self, start: int, end: int) -> memoryview:
        if not 0 <= start <= end <= self._length:
            raise damaged(self._path, "offset out of range")
        whole = self._whole
        if whole is not None:
            return memoryview(whole)[start:end]
        first, last = start // PACKED_BLOCK, max(end - 1, start) // PACKED_BLOCK
        if start == end:
            return memoryview(b"")
        content = self._kept_block(first) if first == last else b"".join(map(self._inflate, range(first, last + 1)))
        return memoryview(content)[start - first * PACKED_BLOCK : end - first * PACKED_BLOCK]

    def _kept_block(self, block: int) -> bytes:
        content = self._kept.get(block)
        if content is None:
            if len(self._kept) >= _MOST_KEPT:
                self._kept.clear()
            content = self._kept[block] = self._inflate(block)
        return content

    def _inflate(self, block: int) -> bytes:
        """Return a block. Raises DamagedFile."""
        size = min(PACKED_BLOCK, self._length - block * PACKED_BLOCK)
        try:
            return unpack_block(self._stored.read(*self._bounds[block : block + 2]), size, self._packing)
        except ValueError as problem:
            raise damaged(self._path, str(problem)) from problem

    def slices(self, starts: NDArray[np.integer], ends: NDArray[np.integer]) -> list[bytes]:
        if len(starts) > _FEW or len(self._bounds) <= _FEW_BLOCKS:
            view = self.all()
            if len(starts) and ((ends < starts).any() or ends.max() > len(view)):
                raise damaged(self._path, "offset out of range")
            return [bytes(view[start:end]) for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]
        return [bytes(self.read(start, end)) for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]

    def pick(self, rows: NDArray[np.int64], width: int) -> NDArray[np.uint8]:
        if width <= 0 or PACKED_BLOCK % width or self._length % width:
            raise damaged(self._path, "truncated table")
        if len(rows) and rows.max() >= self._length // width:
            raise damaged(self._path, "row out of range")
        if len(rows) > _FEW or len(self._bounds) <= _FEW_BLOCKS:
            return np.frombuffer(self.all(), np.uint8).reshape(-1, width)[rows]
        picked = np.zeros((len(rows), width), np.uint8)
        rows_of_block = PACKED_BLOCK // width
        blocks = rows // rows_of_block
        for block in distinct(blocks).tolist():
            table = np.frombuffer(self._kept_block(block), np.uint8).reshape(-1, width)
            picked[blocks == block] = table[rows[blocks == block] - block * rows_of_block]
        return picked

    def numbers(self, kind: str) -> NDArray[Any]:
        if self._length % np.dtype(kind).itemsize:
            raise damaged(self._path, "truncated section")
        return np.frombuffer(self.all(), kind)

    def release(self, start: int, end: int) -> None:
        self._kept.clear()
        self._whole = None
        stored = (self._bounds[min(at // PACKED_BLOCK, len(self._bounds) - 1)] for at in (start, end))
        self._stored.release(*stored)

    def check(self) -> None:
        self._stored.check()
        for block in range(len(self._bounds) - 1):
            self._inflate(block)

    def check_block(self, block: int) -> None:
        self._stored.check_block(block)


def find_packed_container(path: Path, magic: bytes) -> PackedContainer | None:
    """Map a file with deflated sections, or return None without a file. Raises as `find_container`."""
    mapped = find_mapped(path)
    return None if mapped is None else PackedContainer(path, magic, mapped)


def build_packed_container(
    magic: bytes, fields: Mapping[str, Any], sections: Mapping[str, Buffer], packings: Mapping[str, Packing]
) -> list[Buffer]:
    """Return the parts of a file with deflated sections, to be written one after the other."""
    parts: list[Buffer] = []
    writer = PackedWriter(magic, parts.append, packings)
    for name, data in sections.items():
        writer.add_section(name, [data])
    writer.finish(fields)
    return parts
