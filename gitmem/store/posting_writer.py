"""Write inverted indexes: sort postings, and encode them in the format that `store.postings` describes and reads."""

import numpy as np

from gitmem.store.format import Buffer
from gitmem.store.postings import (
    BLOCK_TERMS,
    WINDOW_ROWS,
    Postings,
    SortedPostings,
    common_prefix,
    has_windows,
)


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
        self._block_at = [0]
        self._starts: list[tuple[int, int, int]] = []
        self._last = b""
        self._number = 0
        self._totals = 0, 0, 0

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
            self._window_sizes += (np.diff(np.append(starts, len(windows))) - 1).astype("<u2").tobytes()
            lists = np.searchsorted(starts, bounds)
        else:
            lists = np.zeros(len(bounds), np.int64)
        self._counts += counts[repeated].tobytes()
        self._add_terms(terms, bounds.tolist(), repeats.tolist(), lists.tolist())
        return (places | repeated * np.int64(self._flag)).astype(self._place).data

    def _add_terms(self, terms: list[bytes], bounds: list[int], repeats: list[int], lists: list[int]) -> None:
        """Encode terms: for each, shared length, rest length, rest, number of places, of stored frequencies, of lists.

        The number of lists, of places in one window, is only stored if there are windows.
        """
        block, before = self._terms, self._last
        places_before, repeats_before, lists_before = self._totals
        for number, term in enumerate(terms):
            if self._number % BLOCK_TERMS == 0:
                if self._number:
                    self._block_at.append(len(block))
                self._starts.append(
                    (places_before + bounds[number], repeats_before + repeats[number], lists_before + lists[number])
                )
                before = b""
            self._number += 1
            shared = common_prefix(before, term)
            block += bytes((shared, len(term) - shared)) + term[shared:]
            block += _varint(bounds[number + 1] - bounds[number]) + _varint(repeats[number + 1] - repeats[number])
            if self._is_windowed:
                block += _varint(lists[number + 1] - lists[number])
            before = term
        self._last = before
        self._totals = places_before + bounds[-1], repeats_before + repeats[-1], lists_before + lists[-1]

    def finish(self, field: str) -> dict[str, Buffer]:
        """Return the sections of the field except its places, those first that every lookup reads."""
        at = np.array(self._starts, np.int64).reshape(-1, 3).astype("<u4")
        block_at = np.array([*self._block_at, len(self._terms)] if self._number else [0], "<u4")
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


def _varint(number: int) -> bytes:
    """Encode seven bits per byte, lowest first; the highest bit marks that more follow (LEB128)."""
    encoded = bytearray()
    while number >= 0x80:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes((*encoded, number))


def sort_postings(postings: Postings) -> SortedPostings:
    """Sort postings by term and row, and drop unused terms."""
    order = sorted(range(len(postings.terms)), key=postings.terms.__getitem__)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    term = rank[postings.term]
    place = np.lexsort((postings.row, term))
    term = term[place]
    present, starts = np.unique(term, return_index=True)
    bounds = np.append(starts, len(term)).astype(np.int64)
    terms = [postings.terms[order[number]] for number in present]
    return SortedPostings(terms, bounds, postings.row[place].astype(np.int64), postings.frequency[place])
