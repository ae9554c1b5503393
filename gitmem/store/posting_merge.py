"""Merge the postings of several segments, term by term, with only a few terms of each in memory."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence

import numpy as np

from gitmem.arrays import NDArray, differences
from gitmem.store.postings import SortedPostings


def merge_postings(sources: Sequence[Iterator[SortedPostings]], bases: Sequence[int]) -> Iterator[SortedPostings]:
    """Yield the postings of all sources, with places increased by the base of their source; bases ascend.

    Each source yields its terms in order, and so does the result.
    """
    # A merge of sorted runs (Knuth, TAOCP 3, section 5.4.1), of many terms at a time: all sources have read their terms
    # up to the smallest of their last terms, so everything up to it can be merged by numpy.
    cursors = [_Cursor(source, base) for source, base in zip(sources, bases, strict=False)]
    while cursors := [cursor for cursor in cursors if cursor.fill()]:
        last = min(cursor.last for cursor in cursors)
        yield _join([part for cursor in cursors if (part := cursor.take(last)).terms])


class _Cursor:
    """Terms of a source that are read and not yet merged."""

    def __init__(self, source: Iterator[SortedPostings], base: int) -> None:
        self._source = source
        self._base = base
        self._part: SortedPostings | None = None
        self._next = 0

    def fill(self) -> bool:
        """Read on if nothing is left; return False at the end of the source."""
        while self._part is None or self._next == len(self._part.terms):
            self._part, self._next = next(self._source, None), 0
            if self._part is None:
                return False
        return True

    @property
    def last(self) -> bytes:
        """Return the last term that is read."""
        assert self._part is not None
        return self._part.terms[-1]

    def take(self, last: bytes) -> SortedPostings:
        """Return the terms up to `last`."""
        assert self._part is not None
        start, self._next = self._next, bisect_right(self._part.terms, last, self._next)
        bounds = self._part.bounds[start : self._next + 1]
        own = slice(int(bounds[0]), int(bounds[-1]))
        return SortedPostings(
            self._part.terms[start : self._next],
            bounds - bounds[0],
            self._part.places[own] + self._base,
            self._part.counts[own],
        )


def _join(parts: Sequence[SortedPostings]) -> SortedPostings:
    """Return the postings of parts whose places ascend from part to part."""
    if len(parts) == 1:
        return parts[0]
    terms = sorted({term for part in parts for term in part.terms})
    numbers = {term: number for number, term in enumerate(terms)}
    own = [np.fromiter(map(numbers.__getitem__, part.terms), np.int64, len(part.terms)) for part in parts]
    sizes = np.zeros(len(terms), np.int64)
    for part, ids in zip(parts, own, strict=True):
        sizes[ids] += differences(part.bounds)  # a term occurs once in a part
    bounds = np.concatenate([[0], np.cumsum(sizes)])
    places = np.empty(int(bounds[-1]), np.int64)
    counts = np.empty(int(bounds[-1]), np.uint8)
    free = bounds[:-1].copy()
    for part, ids in zip(parts, own, strict=True):
        _scatter(part, free[ids], places, counts)
        free[ids] += differences(part.bounds)
    return SortedPostings(terms, bounds, places, counts)


def _scatter(
    part: SortedPostings, starts: NDArray[np.int64], places: NDArray[np.int64], counts: NDArray[np.uint8]
) -> None:
    """Copy the postings of each term of a part to its place in the result, given by `starts`."""
    targets = np.repeat(starts - part.bounds[:-1], differences(part.bounds)) + np.arange(len(part.places))
    places[targets] = part.places
    counts[targets] = part.counts
