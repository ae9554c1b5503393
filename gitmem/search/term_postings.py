"""Postings of a query's terms over all segments, and the number of rows and files in scope that hold each term.

Rows are numbered over the whole snapshot. Postings are not restricted to the scope: only the counts are, and whoever
scores rows asks for rows in scope. So a common term costs no filtered copy of its postings.
"""

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Final

import numpy as np

from gitmem.arrays import NDArray
from gitmem.named_tuple import NamedTuple
from gitmem.search.scope import Scope, TermCounts
from gitmem.store.postings import PackedPostings

_ROW: Final = np.int32
"""Type of row numbers: half the memory traffic of the native integer."""

MAX_COUNTED: Final = 1 << 14
"""Terms whose counts a scope keeps: some 4 MB in a server that answers many long texts."""

MAX_RECENT: Final = 1 << 22
"""Postings of terms that a scope of many segments keeps: some 5 bytes each."""

_NO_HOLDERS: Final = TermCounts(0, 0)


class FieldPostings:
    """Rows that hold a term in one field, ascending, and how often each does."""

    def __init__(self, parts: Iterable[tuple[PackedPostings, int]]) -> None:
        """Join the postings of segments; each part comes with the number of the segment's first row."""
        self._parts = [(packed, base) for packed, base in parts if len(packed)]
        self._size = sum(len(packed) for packed, _ in self._parts)

    def __len__(self) -> int:
        return self._size

    @cached_property
    def rows(self) -> NDArray[np.int32]:
        """Rows with the term, ascending."""
        rows = np.empty(len(self), _ROW)
        end = 0
        for packed, base in self._parts:
            start, end = end, end + len(packed)
            packed.write_places(rows[start:end])
            rows[start:end] += _ROW(base)
        return rows

    @cached_property
    def counts(self) -> NDArray[np.uint8]:
        """Term frequency in each of the rows."""
        counts = np.ones(len(self), np.uint8)
        end = 0
        for packed, _ in self._parts:
            start, end = end, end + len(packed)
            packed.write_repeats(counts[start:end])
        return counts

    def find(self, rows: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return the positions at which some rows are or would be, and whether each has the term."""
        positions = self.rows.searchsorted(rows)
        if not len(self.rows):
            return positions, np.zeros(len(rows), bool)
        holds: NDArray[np.bool_] = self.rows.take(positions, mode="clip") == rows
        return positions, holds

    def frequencies_in(self, rows: NDArray[np.int32]) -> NDArray[np.float32]:
        """Return the term frequency in each of some rows, 0 if the row does not hold the term."""
        frequencies = np.zeros(len(rows), np.float32)
        positions, holds = self.find(rows)
        frequencies[holds] = self.counts[positions[holds]]
        return frequencies

    def sum_in(self, ranges: "RowRanges") -> NDArray[np.float64]:
        """Return the sum of the term frequencies in the rows of each range."""
        first, last = (self.rows.searchsorted(bounds) for bounds in (ranges.first, ranges.last))
        sizes = last - first
        owner = np.arange(len(sizes)).repeat(sizes)
        positions = np.arange(int(sizes.sum())) + (first - (sizes.cumsum() - sizes)).repeat(sizes)
        return np.bincount(owner, self.counts[positions], len(sizes)).astype(np.float64, copy=False)


class RowRanges(NamedTuple):
    """Rows of some files: from `first` up to `last`, half-open."""

    first: NDArray[np.int32]
    last: NDArray[np.int32]


class TermPostings(NamedTuple):
    """Postings of a term: rows with the term in text and symbol, entries in scope with the term in their path."""

    text: FieldPostings
    symbol: FieldPostings
    stem: NDArray[np.int64]
    folder: NDArray[np.int64]
    counts: TermCounts

    @property
    def size(self) -> int:
        """Number of postings of rows."""
        return len(self.text) + len(self.symbol)


def find_term(scope: Scope, name: str) -> TermPostings:
    """Find the postings of a term, and count the rows and files without filters that hold it."""
    recent = scope.recent_terms
    if recent is None:
        return _find_term(scope, name)
    if name not in recent:
        postings = _find_term(scope, name)
        if sum(TermPostings(*known).size for known in recent.values()) + postings.size > MAX_RECENT:
            recent.clear()
        recent[name] = postings
    return TermPostings(*recent[name])


def find_symbols(scope: Scope, name: str) -> FieldPostings:
    """Find the rows whose symbols have a term; without the other fields and the counts, which ranking needs."""
    return _find_rows(scope, "symbol", name.encode("utf-8", "replace"))


def _find_term(scope: Scope, name: str) -> TermPostings:
    term = name.encode("utf-8", "replace")
    text, symbol = (_find_rows(scope, field, term) for field in ("text", "symbol"))
    stem, folder = (find_entries(scope, field, term) for field in ("stem", "folder"))
    whole = scope.whole
    counts = whole.term_counts.get(name)
    if counts is None:
        counts = _count_holders(whole, text, symbol) if len(text) or len(symbol) else _NO_HOLDERS
        if not counts.rows:
            # Path matches do not count otherwise: a folder's name would make a term common in all files below it.
            counts = _count_below(whole, [find_entries(whole, field, term) for field in ("stem", "folder")])
        if len(whole.term_counts) >= MAX_COUNTED:
            whole.term_counts.clear()
        whole.term_counts[name] = counts
    return TermPostings(text, symbol, stem, folder, counts)


def _find_rows(scope: Scope, field: str, term: bytes) -> FieldPostings:
    parts = (
        (packed, int(base))
        for segment, base in zip(scope.snapshot.segments, scope.snapshot.bases, strict=False)
        if (packed := segment.find_packed_postings(field, term)) is not None
    )
    return FieldPostings(parts)


def find_entries(scope: Scope, field: str, term: bytes) -> NDArray[np.int64]:
    """Find the entries with rows in scope and a term in a part of their path."""
    postings = scope.view.find_postings(field, term)
    if postings is None:
        return np.zeros(0, np.int64)
    entries = postings.astype(np.int64)
    return entries[scope.has_rows[entries]]


def _count_holders(scope: Scope, text: FieldPostings, symbol: FieldPostings) -> TermCounts:
    """Count the rows and files in scope with a term in text or symbol."""
    rows = np.concatenate([text.rows, symbol.rows[~text.find(symbol.rows)[1]]])
    entries = scope.entry_of.take(rows)
    holds = np.zeros(len(scope.view) + 1, bool)
    holds[entries] = True  # -1, the entry of rows out of scope, is the last element
    inside = len(rows) if scope.is_whole_snapshot else int(np.count_nonzero(entries >= 0))
    return TermCounts(inside, int(np.count_nonzero(holds[:-1])))


def _count_below(scope: Scope, places: Sequence[NDArray[np.int64]]) -> TermCounts:
    """Count the entries with a term in their path, and their rows in scope."""
    holds = np.zeros(len(scope.view), bool)
    for entries in places:
        holds[entries] = True
    entries = np.flatnonzero(holds)
    return TermCounts(len(scope.rows_of(entries)), len(entries))
