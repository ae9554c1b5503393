"""Inverted lists on disk: terms in order, and for each the places it stands at, ascending, with counts.

Terms stand in blocks of 16, each term as what it shares with the one before and the rest of it, so a dictionary takes
half its plain size; a term is found by bisection over the blocks. The highest bit of a place says that the term stands
there more than once; only then a count is stored, in the order of the places.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from gitmem.store.format import Buffer, Container, damaged

if TYPE_CHECKING:
    from gitmem.store.rows import Postings

ROW: Final = "<u2"
"""Places are rows of a segment: below 2^15."""

ENTRY: Final = "<u4"
"""Places are entries of a view: below 2^31."""

BLOCK_TERMS: Final = 16

KNOWN_TERMS: Final = 1000
"""Terms that an open list remembers the bounds of: one conversation asks with the same words again and again."""


def posting_sections(field: str, postings: "Postings", place: str) -> dict[str, Buffer]:
    """The sections that hold one field's lists."""
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
        f"{field}.block_at": offsets(blocks).data,
        f"{field}.posting_at": bounds[::BLOCK_TERMS].astype("<u4").data,
        f"{field}.repeat_at": repeats[bounds[::BLOCK_TERMS]].astype("<u4").data,
        f"{field}.places": (places.astype(np.int64) | repeated * flag).astype(place).data,
        f"{field}.counts": counts[repeated].data,
    }


def _build_block(terms: Sequence[bytes], bounds: Sequence[int], repeats: Sequence[int]) -> bytes:
    block, before = bytearray(), b""
    for number, term in enumerate(terms):
        shared = _shared(before, term)
        block += bytes((shared, len(term) - shared)) + term[shared:]
        block += _varint(bounds[number + 1] - bounds[number]) + _varint(repeats[number + 1] - repeats[number])
        before = term
    return bytes(block)


def _shared(first: bytes, second: bytes) -> int:
    for place, (one, other) in enumerate(zip(first, second, strict=False)):
        if one != other:
            return place
    return min(len(first), len(second))


def _varint(number: int) -> bytes:
    """Seven bits a byte, the lowest first; the highest bit says that more follow."""
    encoded = bytearray()
    while number >= 0x80:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes((*encoded, number))


def sort_postings(postings: "Postings") -> tuple[list[bytes], NDArray[np.int64], NDArray[np.int32], NDArray[np.uint8]]:
    """Sorted terms that occur, where each one's postings begin (one more at the end), rows ascending, counts."""
    order = sorted(range(len(postings.terms)), key=postings.terms.__getitem__)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    term = rank[postings.term]
    place = np.lexsort((postings.row, term))
    term = term[place]
    present, starts = np.unique(term, return_index=True)
    bounds = np.append(starts, len(term)).astype(np.int64)
    return [postings.terms[order[number]] for number in present], bounds, postings.row[place], postings.count[place]


def offsets(strings: Sequence[bytes]) -> NDArray[np.uint32]:
    """Where each of some joined strings begins, and where the last ends."""
    return np.cumsum([0, *map(len, strings)]).astype("<u4")


def checked_bounds(file: Container, name: str, end: int) -> NDArray[np.uint32]:
    """Offsets that must rise from 0 to `end`. Raises DamagedFile."""
    section = file[name]
    if len(section) < 4 or len(section) % 4:
        raise damaged(file.path, f"its part `{name}` is cut short")
    bounds = np.frombuffer(section.all(), "<u4")
    if bounds[0] != 0 or bounds[-1] != end or (bounds[1:] < bounds[:-1]).any():
        raise damaged(file.path, f"its part `{name}` points outside")
    return bounds


_Entry = tuple[int, bytes, int, int]
"""A term of a block: how much it shares with the one before, the rest of it, how many places and counts it has. Dozens
are passed over for each that is wanted."""


_Bounds = tuple[int, int, int, int]
"""Where the places of a term begin and end, and where its counts do."""


class PostingList:
    """The lists of one field in an open file."""

    def __init__(self, container: Container, field: str, place: str, limit: int) -> None:
        """Places are of the numpy type `place`, and below `limit`."""
        self._file = container
        self._limit = limit
        self._field = field
        self._place = np.dtype(place)
        self._flag = self._place.type(1 << (8 * self._place.itemsize - 1))
        self._terms = container[f"{field}.terms"]
        self._places = container[f"{field}.places"]
        self._counts = container[f"{field}.counts"]
        self._first_terms: dict[int, bytes] = {}
        self._known: dict[bytes, _Bounds | None] = {}

    @cached_property
    def _block_at(self) -> list[int]:
        bounds: list[int] = checked_bounds(self._file, f"{self._field}.block_at", len(self._terms)).tolist()
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
            raise damaged(self._file.path, f"its part `{self._field}.{name}` is cut short")
        return column

    def find(self, term: bytes) -> tuple[NDArray[np.unsignedinteger], NDArray[np.uint8]] | None:
        """Places of a term, ascending, and counts; None where it does not stand anywhere."""
        try:
            bounds = self._known[term]
        except KeyError:
            bounds = self._look_up(term)
            if len(self._known) >= KNOWN_TERMS:
                self._known.clear()
            self._known[term] = bounds
        return None if bounds is None else self._read(*bounds)

    def _look_up(self, term: bytes) -> _Bounds | None:
        block = self._find_block(term)
        if block < 0:
            return None
        start, repeat = int(self._posting_at[block]), int(self._repeat_at[block])
        matched = 0  # how far the last term passed, which is before the wanted one, agrees with it
        for shared, rest, places, repeats in self._iter_block(block):
            if shared < matched:
                return None
            if shared == matched:
                wanted = term[matched:]
                if rest >= wanted:
                    return (start, start + places, repeat, repeat + repeats) if rest == wanted else None
                matched += _shared(rest, wanted)
            start, repeat = start + places, repeat + repeats
        return None

    def _find_block(self, term: bytes) -> int:
        """The last block whose first term is not behind the wanted one, -1 where there is none."""
        return bisect_right(range(len(self._block_at) - 1), term, key=self._first_term) - 1

    def _first_term(self, block: int) -> bytes:
        """Remembered: every search begins with the same few."""
        term = self._first_terms.get(block)
        if term is None:
            start = self._block_at[block]
            length = self._terms.read(start + 1, start + 2)[0]
            term = self._first_terms[block] = bytes(self._terms.read(start + 2, start + 2 + length))
        return term

    def _iter_block(self, block: int) -> Iterator[_Entry]:
        data = bytes(self._terms.read(*self._block_at[block : block + 2]))
        at, end = 0, len(data)
        while at < end:
            try:
                behind = at + 2 + data[at + 1]
                places, after = _read_varint(data, behind)
                repeats, after = _read_varint(data, after)
            except IndexError as problem:
                raise damaged(self._file.path, f"a block of its part `{self._field}.terms` is cut short") from problem
            yield data[at], data[at + 2 : behind], places, repeats
            at = after

    def _read(
        self, start: int, end: int, repeat_start: int, repeat_end: int
    ) -> tuple[NDArray[np.unsignedinteger], NDArray[np.uint8]]:
        size = self._place.itemsize
        packed = np.frombuffer(self._places.read(size * start, size * end), self._place)
        return self._unpack(packed, np.frombuffer(self._counts.read(repeat_start, repeat_end), np.uint8))

    def _unpack(
        self, packed: NDArray[np.unsignedinteger], repeats: NDArray[np.uint8]
    ) -> tuple[NDArray[np.unsignedinteger], NDArray[np.uint8]]:
        repeated = np.flatnonzero(packed >= self._flag)
        if len(repeated) != len(repeats):
            raise damaged(self._file.path, f"its part `{self._field}.counts` does not fit its places")
        counts = np.ones(len(packed), np.uint8)
        counts[repeated] = repeats
        places = packed & ~self._flag
        if len(places) and places.max() >= self._limit:
            raise damaged(self._file.path, f"its part `{self._field}.places` points outside")
        return places, counts

    def load(self) -> "Postings":
        """Everything, as triples."""
        from gitmem.store.rows import Postings

        terms, sizes = [], []
        for block in range(len(self._block_at) - 1):
            term = b""
            for shared, rest, size, _ in self._iter_block(block):
                term = term[:shared] + rest
                terms.append(term)
                sizes.append(size)
        places, counts = self._unpack(
            np.frombuffer(self._places.all(), self._place), np.frombuffer(self._counts.all(), np.uint8)
        )
        numbers = np.repeat(np.arange(len(terms), dtype=np.int32), sizes)
        return Postings(terms, numbers, places.astype(np.int32), counts)


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    """A number and where the next one begins."""
    if data[at] < 0x80:  # nearly all are so small
        return data[at], at + 1
    number = shift = 0
    while data[at] >= 0x80:
        number |= (data[at] & 0x7F) << shift
        shift += 7
        at += 1
    return number | data[at] << shift, at + 1
