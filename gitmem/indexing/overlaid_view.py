"""A view under edits: some entries replaced, removed or added, in memory only.

It equals the view of a tree with the same edits, entry by entry. A few edits of a large view cost almost nothing:
only the edits are decoded and sorted.
"""

from bisect import bisect_left
from collections.abc import Mapping
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gitmem.store.postings import Postings
from gitmem.store.view_file import View, ViewEntry, path_postings

MANY_EDITS: Final = 64
"""Number of edits above which decoding all paths of the view at once is faster than a binary search for each edit."""

_NO_ROWS: Final = np.zeros(0, np.int32)


class OverlaidView(View):
    """View under edits: each edited path maps to its new entry, or to None if it is removed.

    Entries are sorted by path. Instead of merging the columns of base and edits at once, the view keeps two index
    arrays, and each column is gathered with one of them when it is first read:

    `_source` [entries] gives the origin of each entry: its position in the base, or `len(base)` plus its position
    among the added entries. `_moved` [entries of the base] is the inverse: the new position of each base entry, or
    -1 if it is removed or replaced.
    """

    def __init__(self, base: View, edits: Mapping[bytes, ViewEntry | None]) -> None:
        self.tree = base.tree
        self._base = base
        self._added = sorted(entry for entry in edits.values() if entry is not None)
        self._merge(edits)
        # Codes of the base stay valid; new languages are appended.
        codes = {name: code for code, name in enumerate(base.languages)}
        self._added_codes = np.array([codes.setdefault(entry.language, len(codes)) for entry in self._added], np.uint16)
        self.languages = list(codes)

    def _merge(self, edits: Mapping[bytes, ViewEntry | None]) -> None:
        """Compute `_source` and `_moved` by merging the sorted edits into the sorted base."""
        size = len(self._base)
        path_at = self._base.paths.__getitem__ if len(edits) > MANY_EDITS else self._base.path
        insertion_points = {path: bisect_left(range(size), path, key=path_at) for path in edits}
        is_unchanged = np.ones(size, bool)
        is_unchanged[[place for path, place in insertion_points.items() if place < size and path_at(place) == path]] = 0
        unchanged = np.flatnonzero(is_unchanged)
        added_before = np.array([insertion_points[entry.path] for entry in self._added], np.int64)
        self._count = len(unchanged) + len(self._added)
        # An unchanged entry moves up by the number of entries added before it and down by those removed before it.
        # side="right": an entry added at its position sorts before it.
        self._moved = np.full(size, -1, np.int32)
        self._moved[unchanged] = np.arange(len(unchanged)) + np.searchsorted(added_before, unchanged, side="right")
        self._added_places = np.searchsorted(unchanged, added_before) + np.arange(len(added_before))
        self._source = np.empty(self._count, np.int64)
        self._source[self._moved[unchanged]] = unchanged
        self._source[self._added_places] = size + np.arange(len(added_before))

    def check(self) -> None:
        self._base.check()

    @cached_property
    def oids(self) -> NDArray[np.uint8]:
        if not self._added:
            return self._base.oids[self._source]
        added = np.frombuffer(b"".join(entry.oid for entry in self._added), np.uint8).reshape(len(self._added), -1)
        # An empty base does not know the width of its ids (SHA-1 or SHA-256).
        old = self._base.oids if len(self._base) else added[:0]
        return np.concatenate([old, added])[self._source]

    @cached_property
    def language_codes(self) -> NDArray[np.uint16]:
        return np.concatenate([self._base.language_codes, self._added_codes])[self._source]

    @cached_property
    def reasons(self) -> NDArray[np.uint8]:
        added = np.array([entry.reason for entry in self._added], np.uint8)
        return np.concatenate([self._base.reasons, added])[self._source]

    def path(self, entry: int) -> bytes:
        place = int(self._source[entry]) - len(self._base)
        return self._base.path(int(self._source[entry])) if place < 0 else self._added[place].path

    @cached_property
    def paths(self) -> list[bytes]:
        paths = [*self._base.paths, *(entry.path for entry in self._added)]
        return [paths[place] for place in self._source.tolist()]

    def find_postings(self, field: str, term: bytes) -> NDArray[np.unsignedinteger] | None:
        old = self._base.find_postings(field, term)
        moved = self._moved[old] if old is not None else _NO_ROWS
        entries = np.sort(np.concatenate([moved[moved >= 0], self._find_added(field, term)])).astype(np.uint32)
        return entries if len(entries) else None

    def _find_added(self, field: str, term: bytes) -> NDArray[np.int32]:
        postings = self._added_postings[field]
        if term not in postings.terms:
            return _NO_ROWS
        entries: NDArray[np.int32] = postings.row[postings.term == postings.terms.index(term)]
        return entries

    @cached_property
    def _added_postings(self) -> dict[str, Postings]:
        return path_postings(zip(self._added_places.tolist(), self._added, strict=True))

    def load_postings(self, field: str) -> Postings:
        return merge_postings(self._base.load_postings(field), self._moved, self._added_postings[field])


def merge_postings(old: Postings, moved: NDArray[np.int32], added: Postings) -> Postings:
    """Return the old postings at their new positions, without removed ones (-1 in `moved`), and the added postings."""
    row = moved[old.row]
    remains = row >= 0
    numbers = {term: number for number, term in enumerate(old.terms)}
    term = np.array([numbers.setdefault(word, len(numbers)) for word in added.terms], np.int32)
    return Postings(
        list(numbers),
        np.concatenate([old.term[remains], term[added.term]]),
        np.concatenate([row[remains], added.row]),
        np.concatenate([old.frequency[remains], added.frequency]),
    )
