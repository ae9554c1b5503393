"""Occurrences of names in one blob, as a segment stores them: one compressed record for each blob.

    record  = deflate(header, strings, lines, kinds, names, receivers)
    header  = width of lines, width of strings, number of occurrences, bytes of the strings
    strings = sorted names and receivers, joined by line feeds; receiver 0 is none

All columns have a value for each occurrence, in the order of the text: lines as differences, names and receivers as
indices into the strings. A name takes some three bytes, five times less than its text and place.
"""

# A record is self-contained, so a merge of segments copies it. Numbers of names from one dictionary of the segment
# would be a third smaller before compression, and a merge would have to change all of them.

import struct
import zlib
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import count
from typing import Final

import numpy as np

from gitmem.arrays import NDArray, differences
from gitmem.named_tuple import NamedTuple
from gitmem.store.postings import SortedPostings
from gitmem.types import DEFINING, OCCURRENCE_KINDS, NameColumns, Occurrence

NAMES: Final = "name"
"""Field of the postings that list the blobs in which a name occurs. Their counts are sets of roles."""

REFERRED: Final = 1
DEFINED: Final = 2
IMPORTED: Final = 4
INHERITED: Final = 8
ANY_ROLE: Final = REFERRED | DEFINED | IMPORTED | INHERITED
"""Roles of a name in a blob, as bits."""

_ROLES: Final = np.array(
    [DEFINED if code < DEFINING else {"base": INHERITED, "import": IMPORTED, "alias": IMPORTED}.get(kind, REFERRED)
     for code, kind in enumerate(OCCURRENCE_KINDS)], np.uint8,
)  # fmt: skip
_HEADER: Final = struct.Struct("<BBII")
_TYPES: Final = {1: "<u1", 2: "<u2", 4: "<u4"}
_LEVEL: Final = 3
_MAX_BYTES: Final = 1 << 26
"""Bytes of a record without compression: more cannot come from a file that is parsed."""


class Occurrences(NamedTuple):
    """Occurrences of one blob as columns: lines, kinds, and indices of names and receivers in `strings`."""

    strings: list[bytes]
    lines: NDArray[np.int64]
    kinds: NDArray[np.uint8]
    names: NDArray[np.int64]
    receivers: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.lines)

    def at(self, places: Iterable[int]) -> list[Occurrence]:
        """Return some occurrences."""
        strings = self.strings
        return [
            Occurrence(
                int(self.lines[place]),
                int(self.kinds[place]),
                strings[self.names[place]],
                strings[self.receivers[place]],
            )
            for place in places
        ]

    def find(self, name: bytes) -> NDArray[np.int64]:
        """Return the places of a name."""
        return (
            np.flatnonzero(self.names == bisect_left(self.strings, name)) if self.has(name) else np.zeros(0, np.int64)
        )

    def has(self, name: bytes) -> bool:
        """Return whether a text is a name or receiver here; generated files have tens of thousands of them."""
        place = bisect_left(self.strings, name)
        return place < len(self.strings) and self.strings[place] == name

    def roles(self) -> tuple[list[bytes], NDArray[np.uint8]]:
        """Return the names, sorted, and the set of roles of each."""
        sets = np.zeros(len(self.strings), np.uint8)
        np.bitwise_or.at(sets, self.names, _ROLES[self.kinds])
        used = np.flatnonzero(sets)
        return [self.strings[number] for number in used.tolist()], sets[used]


NOTHING: Final = Occurrences(
    [b""], np.zeros(0, np.int64), np.zeros(0, np.uint8), np.zeros(0, np.int64), np.zeros(0, np.int64)
)


def pack_occurrences(occurrences: NameColumns) -> bytes:
    """Return the record of a blob's occurrences; nothing if there are none."""
    lines, kinds, names, receivers = occurrences
    if not len(lines):
        return b""
    strings = sorted({b"", *names, *receivers})
    numbers = dict(zip(strings, range(len(strings)), strict=True))
    gaps = differences(np.array(lines, np.int64), 0)
    line_width, width = _width(int(gaps.max())), _width(len(strings))
    joined = b"\n".join(strings)
    if joined.count(b"\n") >= len(strings):  # a receiver of several lines would shift all names behind it
        names, receivers = ([text.replace(b"\n", b" ") for text in column] for column in (names, receivers))
        return pack_occurrences(NameColumns(lines, kinds, names, receivers))
    return zlib.compress(
        b"".join([
            _HEADER.pack(line_width, width, len(lines), len(joined)),
            joined,
            gaps.astype(_TYPES[line_width]).tobytes(),
            bytes(kinds),
            *(
                np.fromiter(map(numbers.__getitem__, column), _TYPES[width], len(lines)).tobytes()
                for column in (names, receivers)
            ),
        ]),
        _LEVEL,
    )  # fmt: skip


def unpack_occurrences(record: bytes | memoryview) -> Occurrences:
    """Return the occurrences of a record. Raises ValueError if it is damaged."""
    if not len(record):
        return NOTHING
    data = inflate_names(record)
    try:
        line_width, width, count, size = _HEADER.unpack_from(data)
        line_type, type_ = _TYPES[line_width], _TYPES[width]
    except (struct.error, KeyError) as problem:
        raise ValueError("a record of names is damaged") from problem
    at = _HEADER.size + size
    if len(data) != at + count * (line_width + 1 + 2 * width):
        raise ValueError("a record of names has the wrong size")
    strings = data[_HEADER.size : at].split(b"\n")
    gaps = np.frombuffer(data, line_type, count, at)
    kinds = np.frombuffer(data, np.uint8, count, at + count * line_width)
    at += count * (line_width + 1)
    names, receivers = (
        np.frombuffer(data, type_, count, at + part * count * width).astype(np.int64) for part in (0, 1)
    )
    if count and (max(names.max(), receivers.max()) >= len(strings) or kinds.max() >= len(OCCURRENCE_KINDS)):
        raise ValueError("a record of names refers to an unknown string or kind")
    return Occurrences(strings, np.cumsum(gaps, dtype=np.int64), kinds, names, receivers)


def inflate_names(record: bytes | memoryview) -> bytes:
    """Return the content of a record, which is the same for every version of zlib. Raises ValueError if it is damaged.

    No more is inflated than the largest record has.
    """
    if not len(record):
        return b""
    stream = zlib.decompressobj()
    try:
        data = stream.decompress(record, _MAX_BYTES)
    except zlib.error as problem:
        raise ValueError("a record of names is damaged") from problem
    if not stream.eof:
        raise ValueError("a record of names has the wrong size")
    return data


def name_postings(records: Sequence[bytes]) -> SortedPostings:
    """Return the postings of the names in the records of some blobs: the blobs of each, with its roles there."""
    # Names are numbered as they come and sorted once, because most occur in many blobs.
    numbers: defaultdict[bytes, int] = defaultdict(count().__next__)
    columns = [(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.uint8))]
    for blob, record in enumerate(records):
        names, roles = unpack_occurrences(record).roles()
        found = np.fromiter(map(numbers.__getitem__, names), np.int64, len(names))
        columns.append((found, np.full(len(names), blob), roles))
    found, blobs, roles = (np.concatenate(parts) for parts in zip(*columns, strict=True))
    names = sorted(numbers)
    ranks = np.zeros(len(names), np.int64)
    ranks[np.fromiter(map(numbers.__getitem__, names), np.int64, len(names))] = np.arange(len(names))
    found = ranks[found]
    order = np.argsort(found, kind="stable")  # blobs stay in their order
    ends = np.concatenate(([0], np.cumsum(np.bincount(found, minlength=len(names)))))
    return SortedPostings(names, ends, blobs[order], roles[order])


def _width(largest: int) -> int:
    """Return the number of bytes that hold numbers up to the largest."""
    return 1 if largest < 1 << 8 else 2 if largest < 1 << 16 else 4
