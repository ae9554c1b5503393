"""A view under edits: some entries replaced, removed or added.

It equals the view of a tree with the same edits, entry by entry. A few edits of a large view cost almost nothing:
neither the paths nor the columns of the view are copied until they are used.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Self

import numpy as np

from gitmem.arrays import NDArray
from gitmem.named_tuple import NamedTuple
from gitmem.store.composed_view import ComposedView
from gitmem.store.path_postings import merge_postings
from gitmem.store.postings import Postings
from gitmem.store.view_file import View, ViewEntry, load_view

EditedEntries = Mapping[bytes, ViewEntry | None]
"""New entry of each edited path; None if the path is removed."""

_DECODED_PER_SEARCH: Final = 400
"""Number of paths that are decoded at once in the time of one binary search that decodes the paths it compares."""


class LocatedEdits(NamedTuple):
    """Edits with their places in a view.

    Entry i of `added`, in path order, comes before entry `places[i]` of the view, which is the entry it replaces, if
    there is one. `removed` are the entries that are replaced or removed, ascending.
    """

    added: list[ViewEntry]
    places: NDArray[np.int64]
    removed: NDArray[np.int64]


class Edits(NamedTuple):
    """The same with the added entries as a view, whose postings have been computed."""

    added: View
    places: NDArray[np.int64]
    removed: NDArray[np.int64]


def locate_edits(base: View, edits: EditedEntries, known: Mapping[bytes, int] | None = None) -> LocatedEdits:
    """Find the places of edits in a view. `known` has the places of some paths."""
    places = dict(known or {})
    unknown = [path for path in edits if path not in places]
    path_at = base.paths.__getitem__ if len(unknown) * _DECODED_PER_SEARCH > len(base) else base.path
    places |= {path: bisect_left(range(len(base)), path, key=path_at) for path in unknown}
    removed = [place for path in edits if (place := places[path]) < len(base) and path_at(place) == path]
    added = sorted(entry for entry in edits.values() if entry is not None)
    located = np.array([places[entry.path] for entry in added], np.int64)
    return LocatedEdits(added, located, np.array(sorted(removed), np.int64))


class OverlaidView(ComposedView):
    """View under edits.

    Entries are sorted by path. Instead of merging the columns of base and edits at once, the view keeps two index
    arrays, and each column is gathered with one of them when it is first read:

    `_source` [entries] gives the origin of each entry: its position in the base, or `len(base)` plus its position
    among the added entries. `_moved` [entries of the base] is the inverse: the new position of each base entry, or
    -1 if it is removed or replaced.
    """

    def __init__(self, base: View, edits: Edits, tree: str = "") -> None:
        self.tree = tree or base.tree
        self._base = base
        self.edits = edits
        self._added = edits.added
        self._parts = base, edits.added
        self._count = len(base) - len(edits.removed) + len(edits.added)
        # Codes of the base stay valid; new languages are appended.
        codes = {name: code for code, name in enumerate(base.languages)}
        added_codes = [codes.setdefault(name, len(codes)) for name in edits.added.languages]
        self._added_codes = np.array(added_codes or [0], np.uint16)
        self.languages = list(codes)

    @classmethod
    def of(cls, base: View, edits: EditedEntries) -> Self:
        """Return a view under edits that are given by path."""
        located = locate_edits(base, edits)
        added = load_view(Path("edits"), base.tree, located.added)
        return cls(base, Edits(added, located.places, located.removed))

    @cached_property
    def _remains(self) -> NDArray[np.bool_]:
        remains = np.ones(len(self._base), bool)
        remains[self.edits.removed] = False
        return remains

    @cached_property
    def _moved(self) -> NDArray[np.int32]:
        # A base entry moves up by the number of entries added before it and down by those removed before it. An entry
        # added at its position sorts before it.
        added_before = np.cumsum(np.bincount(self.edits.places, minlength=len(self._base) + 1)[: len(self._base)])
        moved = (np.cumsum(self._remains) - 1 + added_before).astype(np.int32)
        moved[self.edits.removed] = -1
        return moved

    @cached_property
    def _added_places(self) -> NDArray[np.int64]:
        removed_before = np.searchsorted(self.edits.removed, self.edits.places)
        added_places: NDArray[np.int64] = self.edits.places - removed_before + np.arange(len(self._added))
        return added_places

    @cached_property
    def _source(self) -> NDArray[np.int64]:
        source = np.empty(self._count, np.int64)
        source[self._moved[self._remains]] = np.flatnonzero(self._remains)
        source[self._added_places] = len(self._base) + np.arange(len(self._added))
        return source

    def _locate(self, entry: int) -> tuple[View, int]:
        # Computed from the edits alone: looking up some entries must not build the arrays over all of them.
        place = bisect_left(self._added_list, entry)
        if place < len(self._added_list) and self._added_list[place] == entry:
            return self._added, place
        return self._base, self._base_entry(entry - place)

    def _base_entry(self, number: int) -> int:
        """Return the entry of the base that is the `number`-th of those that remain."""
        return number + bisect_right(self._remaining_before, number)

    @cached_property
    def _added_list(self) -> list[int]:
        places: list[int] = self._added_places.tolist()
        return places

    @cached_property
    def _remaining_before(self) -> list[int]:
        """Number of entries of the base that remain before each removed one."""
        counts: list[int] = (self.edits.removed - np.arange(len(self.edits.removed))).tolist()
        return counts

    def gather(self, join: Callable[[View], NDArray[Any]]) -> NDArray[Any]:
        parts = [self._base.gather(join)]
        if len(self._added):
            # An empty base does not know the width of its ids (SHA-1 or SHA-256).
            added = self._added.gather(join)
            parts = [*parts, added] if len(self._base) else [added]
        return np.concatenate(parts)[self._source]

    @cached_property
    def language_codes(self) -> NDArray[np.uint16]:
        added = self._added_codes[self._added.language_codes]
        return np.concatenate([self._base.language_codes, added])[self._source]

    @cached_property
    def paths(self) -> list[bytes]:
        paths = [*self._base.paths, *self._added.paths]
        return [paths[place] for place in self._source.tolist()]

    def find_blob(self, key: int) -> list[int]:
        moved = self._moved[self._base.find_blob(key)]
        return sorted([*moved[moved >= 0].tolist(), *self._added_places[self._added.find_blob(key)].tolist()])

    def find_postings(self, field: str, term: bytes) -> NDArray[np.unsignedinteger] | None:
        old, added = self._base.find_postings(field, term), self._added.find_postings(field, term)
        if old is None and added is None:
            return None
        moved = self._moved[old] if old is not None else np.zeros(0, np.int32)
        places = self._added_places[added] if added is not None else np.zeros(0, np.int64)
        entries = np.sort(np.concatenate([moved[moved >= 0], places])).astype(np.uint32)
        return entries if len(entries) else None

    def load_postings(self, field: str) -> Postings:
        return merge_postings(
            self._base.load_postings(field), self._moved, self._added.load_postings(field), self._added_places
        )
