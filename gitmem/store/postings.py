"""Inverted index on disk: sorted terms, and for each term its places, ascending, with term frequencies.

A place is the number of a row of a segment, or of an entry of a view.
"""

# The dictionary is front-coded in blocks of 16 terms: each term is stored as the length of the prefix that it shares
# with its predecessor, and its remaining bytes. This halves its size. The first term of a block is stored whole, so
# that a lookup is a binary search over the blocks and a scan of one block. Alternatives: a hash table loses the order,
# and with it the front coding; a trie or FST is smaller, but slow to build and to walk in Python. See Witten, Moffat
# and Bell, "Managing Gigabytes" (2nd ed. 1999), section 4.1.
#
# Most terms occur once per place. So the highest bit of a place marks a frequency above one, and only these frequencies
# are stored, in the order of the places. Places are fixed-width instead of delta-coded, so that numpy reads a list
# without a decoding loop.

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gitmem.store.format import Buffer, Container, damaged

ROW: Final = "<u2"
"""Type of places that are rows of a segment, below 2^15."""

ENTRY: Final = "<u4"
"""Type of places that are entries of a view, below 2^31."""

BLOCK_TERMS: Final = 16

KNOWN_TERMS: Final = 1000
"""Number of terms whose bounds an open index caches: queries of one conversation repeat their words."""


class Postings(NamedTuple):
    """Postings in memory: `terms[term[i]]` occurs `frequency[i]` times (capped at 255) at place `row[i]`."""

    terms: list[bytes]
    term: NDArray[np.int32]
    row: NDArray[np.int32]
    frequency: NDArray[np.uint8]


def posting_sections(field: str, postings: Postings, place: str) -> dict[str, Buffer]:
    """Return the sections of a file for the postings of one field."""
    terms, bounds, places, counts = sort_postings(postings)
    repeated = counts > 1
    flag = 1 << (8 * np.dtype(place).itemsize - 1)
    repeats = np.concatenate([[0], np.cumsum(repeated)])
    blocks = [
        _build_block(
            terms[at : at + BLOCK_TERMS],
            bounds[at : at + BLOCK_TERMS + 1].tolist(),
            repeats[bounds[at : at + BLOCK_TERMS + 1]].tolist(),
        )
        for at in range(0, len(terms), BLOCK_TERMS)
    ]
    return {
        f"{field}.terms": b"".join(blocks),
        f"{field}.block_at": pack_offsets(blocks).data,
        f"{field}.posting_at": bounds[::BLOCK_TERMS].astype("<u4").data,
        f"{field}.repeat_at": repeats[bounds[::BLOCK_TERMS]].astype("<u4").data,
        f"{field}.places": (places.astype(np.int64) | repeated * flag).astype(place).data,
        f"{field}.counts": counts[repeated].data,
    }


def _build_block(terms: Sequence[bytes], bounds: Sequence[int], repeats: Sequence[int]) -> bytes:
    """Encode terms: for each, shared length, rest length, rest, number of places, number of stored frequencies."""
    block, before = bytearray(), b""
    for number, term in enumerate(terms):
        shared = _common_prefix(before, term)
        block += bytes((shared, len(term) - shared)) + term[shared:]
        block += _varint(bounds[number + 1] - bounds[number]) + _varint(repeats[number + 1] - repeats[number])
        before = term
    return bytes(block)


def _common_prefix(first: bytes, second: bytes) -> int:
    for place, (one, other) in enumerate(zip(first, second, strict=False)):
        if one != other:
            return place
    return min(len(first), len(second))


def _varint(number: int) -> bytes:
    """Encode seven bits per byte, lowest first; the highest bit marks that more follow (LEB128)."""
    encoded = bytearray()
    while number >= 0x80:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes((*encoded, number))


def sort_postings(postings: Postings) -> tuple[list[bytes], NDArray[np.int64], NDArray[np.int32], NDArray[np.uint8]]:
    """Sort postings by term and row, and drop unused terms.

    Return the terms, the offsets of their postings [terms + 1], and the rows and counts of all postings.
    """
    order = sorted(range(len(postings.terms)), key=postings.terms.__getitem__)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    term = rank[postings.term]
    place = np.lexsort((postings.row, term))
    term = term[place]
    present, starts = np.unique(term, return_index=True)
    bounds = np.append(starts, len(term)).astype(np.int64)
    return [postings.terms[order[number]] for number in present], bounds, postings.row[place], postings.frequency[place]


def pack_offsets(strings: Sequence[bytes]) -> NDArray[np.uint32]:
    """Return the offsets of strings when they are joined, and the end of the last: [strings + 1]."""
    return np.cumsum([0, *map(len, strings)]).astype("<u4")


def read_offsets(file: Container, name: str, end: int) -> NDArray[np.uint32]:
    """Return a section of offsets, which must rise from 0 to `end`. Raises DamagedFile."""
    section = file[name]
    if len(section) < 4 or len(section) % 4:
        raise damaged(file.path, f"truncated section `{name}`")
    bounds = np.frombuffer(section.all(), "<u4")
    if bounds[0] != 0 or bounds[-1] != end or (bounds[1:] < bounds[:-1]).any():
        raise damaged(file.path, f"offset out of range in section `{name}`")
    return bounds


_Entry = tuple[int, bytes, int, int]
"""Term of a block: length shared with its predecessor, remaining bytes, number of places, number of counts.

A plain tuple, because a lookup skips many of them.
"""


_Bounds = tuple[int, int, int, int]
"""Start and end of a term's places, and start and end of its counts."""


class PackedPostings:
    """Postings of one term as they are stored: places with a flag for a frequency above one, and these frequencies."""

    __slots__ = ("_flag", "_packed", "_repeats")

    def __init__(self, packed: NDArray[np.unsignedinteger], repeats: NDArray[np.uint8]) -> None:
        self._packed = packed
        self._repeats = repeats
        self._flag = packed.dtype.type(1 << (8 * packed.dtype.itemsize - 1))

    def __len__(self) -> int:
        return len(self._packed)

    def write_places(self, target: NDArray[np.integer]) -> None:
        """Write the places, ascending, to an array of a wider integer type, [len(self)]."""
        np.bitwise_and(self._packed, ~self._flag, out=target)

    def write_repeats(self, target: NDArray[np.uint8]) -> None:
        """Write the frequencies above one to an array that holds ones, [len(self)]."""
        target[np.flatnonzero(self._packed >= self._flag)] = self._repeats

    def find_fault(self, limit: int) -> str:
        """Return why the postings cannot be those of a file with `limit` places, or ""."""
        if np.count_nonzero(self._packed >= self._flag) != len(self._repeats):
            return "counts do not match the places"
        return "place out of range" if len(self) and (self._packed & ~self._flag).max() >= limit else ""

    def unpack(self) -> tuple[NDArray[np.unsignedinteger], NDArray[np.uint8]]:
        """Return the places, ascending, and the frequencies."""
        counts = np.ones(len(self), np.uint8)
        self.write_repeats(counts)
        return self._packed & ~self._flag, counts


class PostingList:
    """Inverted index of one field in an open file."""

    def __init__(self, container: Container, field: str, place: str, limit: int) -> None:
        """Open the sections of `field`; `place` is the numpy type of places, which must be below `limit`."""
        self._file = container
        self._limit = limit
        self._field = field
        self._place = np.dtype(place)
        self._terms = container[f"{field}.terms"]
        self._places = container[f"{field}.places"]
        self._counts = container[f"{field}.counts"]
        self._first_terms: dict[int, bytes] = {}
        self._bounds: dict[bytes, _Bounds | None] = {}

    @cached_property
    def _block_at(self) -> list[int]:
        bounds: list[int] = read_offsets(self._file, f"{self._field}.block_at", len(self._terms)).tolist()
        return bounds

    @cached_property
    def _posting_at(self) -> NDArray[np.uint32]:
        return self._column("posting_at")

    @cached_property
    def _repeat_at(self) -> NDArray[np.uint32]:
        return self._column("repeat_at")

    def _column(self, name: str) -> NDArray[np.uint32]:
        column = self._file[f"{self._field}.{name}"].numbers("<u4")
        if len(column) < len(self._block_at) - 1:
            raise damaged(self._file.path, f"truncated section `{self._field}.{name}`")
        return column

    def find(self, term: bytes) -> tuple[NDArray[np.unsignedinteger], NDArray[np.uint8]] | None:
        """Return the places of a term, ascending, and its counts; None if it does not occur."""
        packed = self.find_packed(term)
        return None if packed is None else packed.unpack()

    def find_packed(self, term: bytes) -> PackedPostings | None:
        """Return the postings of a term without unpacking them; None if it does not occur. Raises DamagedFile."""
        try:
            bounds = self._bounds[term]
        except KeyError:
            bounds = self._look_up(term)
            if bounds is not None:
                self._require_sound(self._read(*bounds))
            if len(self._bounds) >= KNOWN_TERMS:
                self._bounds.clear()
            self._bounds[term] = bounds
        return None if bounds is None else self._read(*bounds)

    def _look_up(self, term: bytes) -> _Bounds | None:
        block = self._find_block(term)
        if block < 0:
            return None
        start, repeat = int(self._posting_at[block]), int(self._repeat_at[block])
        # Compare without decoding terms. `matched` is the length of the prefix that the term before the current one
        # shares with the target, and that term sorts before the target. If the current term shares more than that with
        # its predecessor, it also sorts before the target, and is skipped. If it shares less, it sorts after it.
        matched = 0
        for shared, rest, places, repeats in self._iter_block(block):
            if shared < matched:
                return None
            if shared == matched:
                target = term[matched:]
                if rest >= target:
                    return (start, start + places, repeat, repeat + repeats) if rest == target else None
                matched += _common_prefix(rest, target)
            start, repeat = start + places, repeat + repeats
        return None

    def _find_block(self, term: bytes) -> int:
        """Return the last block whose first term does not sort after `term`, or -1."""
        return bisect_right(range(len(self._block_at) - 1), term, key=self._first_term) - 1

    def _first_term(self, block: int) -> bytes:
        """Return the first term of a block; cached, because every binary search begins with the same few blocks."""
        term = self._first_terms.get(block)
        if term is None:
            start = self._block_at[block]
            length = self._terms.read(start + 1, start + 2)[0]
            term = self._first_terms[block] = bytes(self._terms.read(start + 2, start + 2 + length))
        return term

    def _iter_block(self, block: int) -> Iterator[_Entry]:
        """Yield the terms of a block. Raises DamagedFile."""
        data = bytes(self._terms.read(*self._block_at[block : block + 2]))
        at, end = 0, len(data)
        while at < end:
            try:
                rest_end = at + 2 + data[at + 1]
                places, after = _read_varint(data, rest_end)
                repeats, after = _read_varint(data, after)
            except IndexError as problem:
                raise damaged(self._file.path, f"truncated block in section `{self._field}.terms`") from problem
            yield data[at], data[at + 2 : rest_end], places, repeats
            at = after

    def _read(self, start: int, end: int, repeat_start: int, repeat_end: int) -> PackedPostings:
        size = self._place.itemsize
        packed = np.frombuffer(self._places.read(size * start, size * end), self._place)
        return PackedPostings(packed, np.frombuffer(self._counts.read(repeat_start, repeat_end), np.uint8))

    def _require_sound(self, postings: PackedPostings) -> None:
        fault = postings.find_fault(self._limit)
        if fault:
            raise damaged(self._file.path, f"{fault} in field `{self._field}`")

    def load(self) -> Postings:
        """Return all postings as triples."""
        terms, sizes = [], []
        for block in range(len(self._block_at) - 1):
            term = b""
            for shared, rest, size, _ in self._iter_block(block):
                term = term[:shared] + rest
                terms.append(term)
                sizes.append(size)
        packed = PackedPostings(
            np.frombuffer(self._places.all(), self._place), np.frombuffer(self._counts.all(), np.uint8)
        )
        self._require_sound(packed)
        places, counts = packed.unpack()
        numbers = np.repeat(np.arange(len(terms), dtype=np.int32), sizes)
        return Postings(terms, numbers, places.astype(np.int32), counts)


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    """Return a number and the position after it."""
    if data[at] < 0x80:  # the common case: one byte
        return data[at], at + 1
    number = shift = 0
    while data[at] >= 0x80:
        number |= (data[at] & 0x7F) << shift
        shift += 7
        at += 1
    return number | data[at] << shift, at + 1
