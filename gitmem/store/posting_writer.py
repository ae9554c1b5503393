"""Write inverted indexes: sort postings, and encode them in the format that `store.postings` describes and reads."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from gitmem.arrays import NDArray, differences
from gitmem.named_tuple import NamedTuple
from gitmem.store.format import Buffer
from gitmem.store.postings import (
    BLOCK_TERMS,
    WINDOW_ROWS,
    Postings,
    SortedPostings,
    has_windows,
)

Numbers = NDArray[np.int64]

_COMPARED_TERMS: Final = 4096
"""Terms that are compared at once, in a table of at most 255 bytes for each."""


def posting_sections(field: str, postings: Postings, place: str, limit: int) -> dict[str, Buffer]:
    """Return the sections of a file for the postings of one field, whose places are below `limit`."""
    writer = PostingWriter(place, limit)
    places = writer.add(sort_postings(postings))
    return writer.finish(field) | {f"{field}.places": places}


class PostingWriter:
    """Encodes the postings of one field, term after term: `add` for each part, in the order of the terms.

    Everything is kept in memory but the places, which are the largest part: `add` returns them encoded.
    """

    def __init__(self, place: str, limit: int) -> None:
        """Begin; `place` is the numpy type of places, all of which will be below `limit`."""
        self._place = np.dtype(place)
        self._is_windowed = has_windows(place, limit)
        self._flag = 1 << (8 * self._place.itemsize - 1)
        self._terms = bytearray()
        self._counts = bytearray()
        self._windows = bytearray()
        self._window_sizes = bytearray()
        self._block_at: list[int] = []
        self._starts: list[list[int]] = []
        self._last = b""
        self._number = 0
        self._totals: tuple[int, ...] = 0, 0, 0

    def add(self, postings: SortedPostings) -> Buffer:
        """Append terms that follow all earlier ones, each with at least one place; return their encoded places."""
        terms, bounds, places, counts = postings
        repeated = counts > 1
        repeats = np.concatenate([[0], np.cumsum(repeated)])[bounds]
        if self._is_windowed:
            windows, places = places >> 15, places & (WINDOW_ROWS - 1)
            # A list of a term in a window starts at each change of the window, and at the first place of each term.
            is_start = np.concatenate([[True], windows[1:] != windows[:-1]])[: len(windows)]
            is_start[bounds[:-1]] = True
            starts = np.flatnonzero(is_start)
            self._windows += windows[starts].astype("<u1").tobytes()
            self._window_sizes += (differences(np.concatenate([starts, [len(windows)]])) - 1).astype("<u2").tobytes()
            lists = np.searchsorted(starts, bounds)
        else:
            lists = np.zeros(len(bounds), np.int64)
        self._counts += counts[repeated].tobytes()
        self._add_terms(terms, bounds, repeats, lists)
        return (places | repeated * np.int64(self._flag)).astype(self._place).data

    def _add_terms(self, terms: list[bytes], bounds: Numbers, repeats: Numbers, lists: Numbers) -> None:
        """Encode terms: for each, shared length, rest length, rest, number of places, of stored frequencies, of lists.

        The number of lists, of places in one window, is only stored if there are windows.
        """
        totals = np.array(self._totals)
        columns = (bounds, repeats, lists)
        if terms:
            is_first = (np.arange(len(terms)) + self._number) % BLOCK_TERMS == 0
            numbers = [_varints(differences(column)) for column in columns[: 3 if self._is_windowed else 2]]
            encoded, starts = _encode_terms(terms, np.where(is_first, 0, _common_prefixes(self._last, terms)), numbers)
            self._block_at += (len(self._terms) + starts[is_first]).tolist()
            self._starts += (totals[:, None] + np.stack(columns)[:, :-1][:, is_first]).T.tolist()
            self._terms += encoded
            self._last = terms[-1]
            self._number += len(terms)
        self._totals = tuple((totals + [column[-1] for column in columns]).tolist())

    def finish(self, field: str) -> dict[str, Buffer]:
        """Return the sections of the field except its places, those first that every lookup reads."""
        at = np.array(self._starts, np.int64).reshape(-1, 3).astype("<u4")
        block_at = np.array([*self._block_at, len(self._terms)], "<u4")
        sections: dict[str, Buffer] = {
            f"{field}.block_at": block_at.data,
            f"{field}.posting_at": np.ascontiguousarray(at[:, 0]).data,
            f"{field}.repeat_at": np.ascontiguousarray(at[:, 1]).data,
        }
        if self._is_windowed:
            sections[f"{field}.window_at"] = np.ascontiguousarray(at[:, 2]).data
            sections[f"{field}.windows"] = self._windows
            sections[f"{field}.window_sizes"] = self._window_sizes
        return sections | {f"{field}.terms": self._terms, f"{field}.counts": self._counts}


class _Varints(NamedTuple):
    """Encoded numbers, [numbers, bytes], of which the first `sizes` bytes count."""

    encoded: NDArray[np.uint8]
    sizes: Numbers


def _varints(numbers: Numbers) -> _Varints:
    """Encode seven bits per byte, lowest first; the highest bit marks that more follow (LEB128)."""
    width = max(1, -(-int(numbers.max()).bit_length() // 7))
    digits = numbers[:, None] >> 7 * np.arange(width)
    has_more = digits >= 0x80
    return _Varints((digits & 0x7F | has_more << 7).astype(np.uint8), 1 + has_more.sum(axis=1))


def _common_prefixes(before: bytes, terms: Sequence[bytes]) -> Numbers:
    """Return the length of the prefix that each term shares with the one before it."""
    shared = np.empty(len(terms), np.int64)
    for start in range(0, len(terms), _COMPARED_TERMS):
        group = [before, *terms[start : start + _COMPARED_TERMS]]
        # As a table of bytes, in which short terms are padded with zeros.
        table = np.array(group).view(np.uint8).reshape(len(group), -1)
        differs = table[1:] != table[:-1]
        lengths = np.fromiter(map(len, group), np.int64, len(group))
        shortest = np.minimum(lengths[1:], lengths[:-1])
        first = np.where(differs.any(axis=1), differs.argmax(axis=1), shortest)
        shared[start : start + _COMPARED_TERMS] = np.minimum(first, shortest)
        before = group[-1]
    return shared


def _encode_terms(terms: Sequence[bytes], shared: Numbers, numbers: Sequence[_Varints]) -> tuple[bytes, Numbers]:
    """Return the encoded terms, and where each of them begins; `shared` are the lengths that are left out."""
    lengths = np.fromiter(map(len, terms), np.int64, len(terms))
    rests = lengths - shared
    sizes = 2 + rests + sum(each.sizes for each in numbers)
    starts = np.cumsum(sizes) - sizes
    encoded = np.empty(int(sizes.sum()), np.uint8)
    encoded[starts], encoded[starts + 1] = shared, rests
    # Each rest is the end of its term in the joined terms. Copy it by giving each byte the place that it goes to.
    joined = np.frombuffer(b"".join(terms), np.uint8)
    within = np.arange(int(rests.sum())) - np.repeat(np.cumsum(rests) - rests, rests)
    encoded[np.repeat(starts + 2, rests) + within] = joined[np.repeat(np.cumsum(lengths) - rests, rests) + within]
    at = starts + 2 + rests
    for each in numbers:
        for place in range(each.encoded.shape[1]):
            has = each.sizes > place
            encoded[at[has] + place] = each.encoded[has, place]
        at = at + each.sizes
    return encoded.tobytes(), starts


def sort_postings(postings: Postings) -> SortedPostings:
    """Sort postings by term and row, and drop unused terms."""
    order = sorted(range(len(postings.terms)), key=postings.terms.__getitem__)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    term, place, count = _sort_by_term_and_place(rank[postings.term], postings.row, postings.frequency)
    starts = np.flatnonzero(differences(term, -1))
    bounds = np.concatenate([starts, [len(term)]])
    terms = [postings.terms[order[number]] for number in term[starts].tolist()]
    return SortedPostings(terms, bounds, place, count)


def _sort_by_term_and_place(
    terms: Numbers, places: NDArray[np.int32], counts: NDArray[np.uint8]
) -> tuple[Numbers, Numbers, NDArray[np.uint8]]:
    """Return postings sorted by term, then place. No two have both in common."""
    # All three share one number if they fit: sorting numbers is many times faster than sorting their positions.
    width = int(places.max(initial=0)).bit_length()
    if int(terms.max(initial=0)).bit_length() + width + 8 >= 63:
        order = np.lexsort((places, terms))
        return terms[order], places[order].astype(np.int64), counts[order]
    keys = np.sort((terms << width | places) << 8 | counts)
    return keys >> width + 8, keys >> 8 & (1 << width) - 1, (keys & 0xFF).astype(np.uint8)
