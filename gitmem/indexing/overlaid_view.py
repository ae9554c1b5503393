"""A tree with what is uncommitted over it, and its view: some paths replaced, removed or added, without a file.

The view is what one made of the changed tree would be, entry by entry, and costs next to nothing for a few changes in
a large tree: nothing is decoded or sorted anew but the changes.
"""

from bisect import bisect_left
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from gitmem.store.postings import Postings
from gitmem.store.view_file import View, ViewEntry, path_postings

if TYPE_CHECKING:
    pass

_MANY_EDITS: Final = 64
"""From here on all paths of the view are decoded at once instead of the few that each search looks at."""


class OverlaidView(View):
    """A view under edits: for each path its new entry, or None where it is gone."""

    def __init__(self, base: View, edits: Mapping[bytes, ViewEntry | None]) -> None:
        self.tree = base.tree
        self._base = base
        self._added = sorted(entry for entry in edits.values() if entry is not None)
        self._set_places(edits)
        known = {name: code for code, name in enumerate(base.languages)}
        self._added_codes = np.array([known.setdefault(entry.language, len(known)) for entry in self._added], np.uint16)
        self.languages = list(known)

    def _set_places(self, edits: Mapping[bytes, ViewEntry | None]) -> None:
        """`_source` says of each entry where it comes from: a place in the base, or behind it in what was added;
        `_moved` says of each place in the base where it is now, -1 where it is gone."""
        size = len(self._base)
        path_at = self._base.paths.__getitem__ if len(edits) > _MANY_EDITS else self._base.path
        before = {path: bisect_left(range(size), path, key=path_at) for path in edits}
        keep = np.ones(size, bool)
        keep[[place for path, place in before.items() if place < size and path_at(place) == path]] = False
        kept = np.flatnonzero(keep)
        at = np.array([before[entry.path] for entry in self._added], np.int64)
        self._count = len(kept) + len(self._added)
        self._moved = np.full(size, -1, np.int32)
        self._moved[kept] = np.arange(len(kept)) + np.searchsorted(at, kept, side="right")
        self._added_places = np.searchsorted(kept, at) + np.arange(len(at))
        self._source = np.empty(self._count, np.int64)
        self._source[self._moved[kept]] = kept
        self._source[self._added_places] = size + np.arange(len(at))

    def check(self) -> None:
        self._base.check()

    @cached_property
    def oids(self) -> NDArray[np.uint8]:
        if not self._added:
            return self._base.oids[self._source]
        ids = np.frombuffer(b"".join(entry.oid for entry in self._added), np.uint8).reshape(len(self._added), -1)
        old = self._base.oids if len(self._base) else ids[:0]
        return np.concatenate([old, ids])[self._source]

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
        places = self._moved[old] if old is not None else np.zeros(0, np.int32)
        found = np.sort(np.concatenate([places[places >= 0], self._find_added(field, term)])).astype(np.uint32)
        return found if len(found) else None

    def _find_added(self, field: str, term: bytes) -> NDArray[np.int32]:
        words = self._added_postings[field]
        rows: NDArray[np.int32] = words.row[words.term == words.terms.index(term)] if term in words.terms else _NONE
        return rows

    @cached_property
    def _added_postings(self) -> dict[str, Postings]:
        return path_postings(zip(self._added_places.tolist(), self._added, strict=True))

    def load_postings(self, field: str) -> Postings:
        return join_postings(self._base.load_postings(field), self._moved, self._added_postings[field])


def join_postings(old: Postings, moved: NDArray[np.int32], added: Postings) -> Postings:
    """The old postings at their new places, without those that have none, and the added ones."""
    row = moved[old.row]
    kept = row >= 0
    numbers = {term: number for number, term in enumerate(old.terms)}
    term = np.array([numbers.setdefault(word, len(numbers)) for word in added.terms], np.int32)
    return Postings(
        list(numbers),
        np.concatenate([old.term[kept], term[added.term]]),
        np.concatenate([row[kept], added.row]),
        np.concatenate([old.frequency[kept], added.frequency]),
    )


_NONE: Final = np.zeros(0, np.int32)
