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
#
# Two bytes hold rows below 2^15. A larger segment is divided into windows of 2^15 rows, and a place is the row within
# its window. For each term the windows with places are listed, and the number of places in each. This takes three bytes
# per term and window. Four bytes per place would take two more for each place, and most places belong to terms that
# fill their windows. Roaring bitmaps divide integers in the same way (Chambi et al. 2016).

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Final

import numpy as np

from gitmem.arrays import NDArray, differences
from gitmem.named_tuple import NamedTuple
from gitmem.store.format import Container
from gitmem.store.section import damaged

ROW: Final = "<u2"
"""Type of places that are rows of a segment, counted within a window."""

ENTRY: Final = "<u4"
"""Type of places that are entries of a view, below 2^31."""

WINDOW_ROWS: Final = 1 << 15
MAX_WINDOWS: Final = 1 << 8
"""Number of windows of a segment: a window is stored as one byte."""

BLOCK_TERMS: Final = 16

KNOWN_TERMS: Final = 1000
"""Number of terms whose bounds an open index caches: queries of one conversation repeat their words."""


class Postings(NamedTuple):
    """Postings in memory: `terms[term[i]]` occurs `frequency[i]` times (capped at 255) at place `row[i]`."""

    terms: list[bytes]
    term: NDArray[np.int32]
    row: NDArray[np.int32]
    frequency: NDArray[np.uint8]


class SortedPostings(NamedTuple):
    """Postings of some terms, sorted by term and place.

    `terms[i]` occurs at the places from `bounds[i]` up to `bounds[i + 1]`; `counts` are its frequencies there.
    """

    terms: list[bytes]
    bounds: NDArray[np.int64]
    places: NDArray[np.int64]
    counts: NDArray[np.uint8]


def has_windows(place: str, limit: int) -> bool:
    """Return whether places below `limit` are stored by window."""
    return place == ROW and limit > WINDOW_ROWS


def common_prefix(first: bytes, second: bytes) -> int:
    """Return the length of the prefix that two terms share."""
    for place, (one, other) in enumerate(zip(first, second, strict=False)):
        if one != other:
            return place
    return min(len(first), len(second))


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


_Entry = tuple[int, bytes, int, int, int]
"""Term of a block: length shared with its predecessor, remaining bytes, number of places, of counts and of lists.

A plain tuple, because a lookup skips many of them.
"""

_LOADED_TERMS: Final = 1 << 14

_PLACES_PER_TERM: Final = 16


class _Bounds(NamedTuple):
    """Where the postings of a term are: starts and ends of its places, its stored frequencies and its lists."""

    start: int
    end: int
    repeat_start: int
    repeat_end: int
    list_start: int
    list_end: int


class Windows(NamedTuple):
    """Windows with places of a term, and the number of places in each, minus one."""

    numbers: NDArray[np.uint8]
    sizes: NDArray[np.uint16]

    def starts(self) -> NDArray[np.uint32]:
        """Return the first row of the window of each place."""
        return np.repeat(self.numbers.astype(np.uint32) << 15, self.sizes.astype(np.int64) + 1)


class PackedPostings:
    """Postings of one term as they are stored: places with a flag for a frequency above one, and these frequencies.

    With `windows`, the places are counted within them.
    """

    __slots__ = ("_flag", "_packed", "_repeats", "_windows")

    def __init__(
        self, packed: NDArray[np.unsignedinteger], repeats: NDArray[np.uint8], windows: Windows | None = None
    ) -> None:
        self._packed = packed
        self._repeats = repeats
        self._windows = windows
        self._flag = packed.dtype.type(1 << (8 * packed.dtype.itemsize - 1))

    def __len__(self) -> int:
        return len(self._packed)

    def write_places(self, target: NDArray[np.integer]) -> None:
        """Write the places, ascending, to an array of a wider integer type, [len(self)]."""
        np.bitwise_and(self._packed, ~self._flag, out=target)
        if self._windows is not None:
            target += self._windows.starts().astype(target.dtype, copy=False)

    def write_repeats(self, target: NDArray[np.uint8]) -> None:
        """Write the frequencies above one to an array that holds ones, [len(self)]."""
        target[np.flatnonzero(self._packed >= self._flag)] = self._repeats

    def find_fault(self, limit: int) -> str:
        """Return why the postings cannot be those of a file with `limit` places, or ""."""
        if np.count_nonzero(self._packed >= self._flag) != len(self._repeats):
            return "counts do not match the places"
        if self._windows is not None and int(self._windows.sizes.astype(np.int64).sum()) + len(
            self._windows.sizes
        ) != len(self):
            return "windows do not match the places"
        return "place out of range" if len(self) and self.unpack()[0].max() >= limit else ""

    def unpack(self) -> tuple[NDArray[np.unsignedinteger], NDArray[np.uint8]]:
        """Return the places, ascending, and the frequencies."""
        counts = np.ones(len(self), np.uint8)
        self.write_repeats(counts)
        places = np.empty(len(self), self._packed.dtype if self._windows is None else np.uint32)
        self.write_places(places)
        return places, counts


class PostingList:
    """Inverted index of one field in an open file."""

    def __init__(self, container: Container, field: str, place: str, limit: int) -> None:
        """Open the sections of `field`; `place` is the numpy type of places, which must be below `limit`."""
        self._file = container
        self._limit = limit
        self._field = field
        self._place = np.dtype(place)
        self._flag = self._place.type(1 << (8 * self._place.itemsize - 1))
        self._is_windowed = has_windows(place, limit)
        self._terms = container[f"{field}.terms"]
        self._places = container[f"{field}.places"]
        self._counts = container[f"{field}.counts"]
        if self._is_windowed:
            self._windows = container[f"{field}.windows"]
            self._window_sizes = container[f"{field}.window_sizes"]
        self._first_terms: dict[int, bytes] = {}
        self._bounds: dict[bytes, _Bounds | None] = {}

    @cached_property
    def _block_at(self) -> NDArray[np.uint32]:
        return read_offsets(self._file, f"{self._field}.block_at", len(self._terms))

    @cached_property
    def _posting_at(self) -> NDArray[np.uint32]:
        return self._column("posting_at")

    @cached_property
    def _repeat_at(self) -> NDArray[np.uint32]:
        return self._column("repeat_at")

    @cached_property
    def _window_at(self) -> NDArray[np.uint32]:
        return self._column("window_at") if self._is_windowed else np.zeros(len(self._block_at), np.uint32)

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
                self._require_sound(self._read(bounds))
            if len(self._bounds) >= KNOWN_TERMS:
                self._bounds.clear()
            self._bounds[term] = bounds
        return None if bounds is None else self._read(bounds)

    def _look_up(self, term: bytes) -> _Bounds | None:
        block = self._find_block(term)
        if block < 0:
            return None
        start, repeat, first = int(self._posting_at[block]), int(self._repeat_at[block]), int(self._window_at[block])
        # Compare without decoding terms. `matched` is the length of the prefix that the term before the current one
        # shares with the target, and that term sorts before the target. If the current term shares more than that with
        # its predecessor, it also sorts before the target, and is skipped. If it shares less, it sorts after it.
        matched = 0
        for shared, rest, places, repeats, lists in self._iter_block(block):
            if shared < matched:
                return None
            if shared == matched:
                target = term[matched:]
                if rest >= target:
                    found = _Bounds(start, start + places, repeat, repeat + repeats, first, first + lists)
                    return found if rest == target else None
                matched += common_prefix(rest, target)
            start, repeat, first = start + places, repeat + repeats, first + lists
        return None

    def _find_block(self, term: bytes) -> int:
        """Return the last block whose first term does not sort after `term`, or -1."""
        return bisect_right(range(len(self._block_at) - 1), term, key=self._first_term) - 1

    def _first_term(self, block: int) -> bytes:
        """Return the first term of a block; cached, because every binary search begins with the same few blocks."""
        term = self._first_terms.get(block)
        if term is None:
            start = int(self._block_at[block])
            length = self._terms.read(start + 1, start + 2)[0]
            term = self._first_terms[block] = bytes(self._terms.read(start + 2, start + 2 + length))
        return term

    def _iter_block(self, block: int) -> Iterator[_Entry]:
        """Yield the terms of a block. Raises DamagedFile."""
        yield from self._parse_terms(bytes(self._terms.read(*self._block_at[block : block + 2].tolist())))

    def _parse_terms(self, data: bytes) -> Iterator[_Entry]:
        at, end, lists = 0, len(data), 0
        try:
            while at < end:
                rest_end = at + 2 + data[at + 1]
                places, after = _read_varint(data, rest_end)
                repeats, after = _read_varint(data, after)
                if self._is_windowed:
                    lists, after = _read_varint(data, after)
                yield data[at], data[at + 2 : rest_end], places, repeats, lists
                at = after
        except IndexError as problem:
            raise damaged(self._file.path, f"truncated block in section `{self._field}.terms`") from problem

    def _read(self, bounds: _Bounds) -> PackedPostings:
        size = self._place.itemsize
        places = np.frombuffer(self._places.read(size * bounds.start, size * bounds.end), self._place)
        repeats = np.frombuffer(self._counts.read(bounds.repeat_start, bounds.repeat_end), np.uint8)
        if not self._is_windowed:
            return PackedPostings(places, repeats)
        windows = np.frombuffer(self._windows.read(bounds.list_start, bounds.list_end), "<u1")
        sizes = np.frombuffer(self._window_sizes.read(2 * bounds.list_start, 2 * bounds.list_end), "<u2")
        return PackedPostings(places, repeats, Windows(windows, sizes))

    def _require_sound(self, postings: PackedPostings) -> None:
        fault = postings.find_fault(self._limit)
        if fault:
            raise damaged(self._file.path, f"{fault} in field `{self._field}`")

    def iter_parts(self, terms: int) -> Iterator[SortedPostings]:
        """Yield all postings in parts of about `terms` terms, in order. Raises DamagedFile if they are inconsistent.

        Parts have fewer terms where these have more than `_PLACES_PER_TERM` places each.
        """
        blocks, block = len(self._block_at) - 1, 0
        end = _Bounds(0, 0, 0, 0, 0, 0)
        while block < blocks:
            full = int(np.searchsorted(self._posting_at[:blocks], end.end + terms * _PLACES_PER_TERM))
            last = max(block + 1, min(block + max(1, terms // BLOCK_TERMS), full, blocks))
            names, sizes, end = self._load_terms(block, last, end)
            block = last
            packed = self._read(end)
            self._require_sound(packed)
            places, counts = packed.unpack()
            bounds = np.cumsum([0, *sizes])
            yield SortedPostings(names, bounds, places.astype(np.int64), counts)
            self._places.release(self._place.itemsize * end.start, self._place.itemsize * end.end)
            self._counts.release(end.repeat_start, end.repeat_end)
        if len(self._places) != end.end * self._place.itemsize or len(self._counts) != end.repeat_end:
            raise damaged(self._file.path, f"section `{self._field}.places` does not match its terms")

    def _load_terms(self, first: int, last: int, before: _Bounds) -> tuple[list[bytes], list[int], _Bounds]:
        """Return the terms of some blocks, the number of places of each, and where these are; they follow `before`."""
        names: list[bytes] = []
        sizes: list[int] = []
        term, repeat_total, list_total = b"", 0, 0
        start, end = int(self._block_at[first]), int(self._block_at[last])
        data = bytes(self._terms.read(start, end))
        self._terms.release(start, end)
        for shared, rest, places, repeats, lists in self._parse_terms(data):
            before_term, term = term, term[:shared] + rest
            if term <= before_term and names:
                raise damaged(self._file.path, f"terms out of order in section `{self._field}.terms`")
            names.append(term)
            sizes.append(places)
            repeat_total += repeats
            list_total += lists
        bounds = (before.end, before.end + sum(sizes), before.repeat_end, before.repeat_end + repeat_total)
        return names, sizes, _Bounds(*bounds, before.list_end, before.list_end + list_total)

    def load(self) -> Postings:
        """Return all postings as triples."""
        terms: list[bytes] = []
        numbers, rows, counts = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], [np.zeros(0, np.uint8)]
        for part in self.iter_parts(_LOADED_TERMS):
            numbers.append(np.repeat(np.arange(len(terms), len(terms) + len(part.terms)), differences(part.bounds)))
            rows.append(part.places)
            counts.append(part.counts)
            terms += part.terms
        return Postings(
            terms,
            np.concatenate(numbers).astype(np.int32),
            np.concatenate(rows).astype(np.int32),
            np.concatenate(counts),
        )


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
