"""Which rows may be found: those of the view's blobs that pass the filters, decided before anything is ranked.

A narrow filter therefore never starves results that exist. Each row belongs to one path: the first, in path order, of
the paths that hold its blob and pass the filters.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gitmem.search.globs import compile_globs
from gitmem.store.snapshot import Snapshot
from gitmem.store.view_file import View
from gitmem.types import CHUNK_TYPES, RECORD_LANGUAGE


class Filters(NamedTuple):
    """What a question is limited to; empty means no limit. Globs follow gitignore."""

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    chunk_types: tuple[str, ...] = ()

    @property
    def any(self) -> bool:
        return bool(self.include or self.exclude or self.languages or self.chunk_types)


class Scope:
    """The rows in question. `entry_of` [rows] gives each row's place in the view, -1 where it is out of scope.

    `blob_of` is what `snapshot.match(view)` gives, for who has it already.
    """

    def __init__(
        self, snapshot: Snapshot, view: View, filters: Filters, blob_of: NDArray[np.int64] | None = None
    ) -> None:
        self.snapshot = snapshot
        self.view = view
        blob_of = snapshot.match(view) if blob_of is None else blob_of
        self._blob_of = blob_of
        allowed = (blob_of >= 0) & self._path_filter(filters)
        self.entry_of = _assign_rows(snapshot, blob_of, allowed)
        if filters.languages:
            self.entry_of[~self._language_rows(filters.languages)] = -1
        if filters.chunk_types:
            codes = [CHUNK_TYPES.index(chunk_type) for chunk_type in filters.chunk_types]
            self.entry_of[~np.isin(snapshot.column("kind"), codes)] = -1

    def keep(self, rows: NDArray[np.bool_]) -> None:
        """Put all rows but these out of scope; to be called before anything is asked of it."""
        self.entry_of[~rows] = -1

    def _path_filter(self, filters: Filters) -> NDArray[np.bool_]:
        if not (filters.include or filters.exclude):
            return np.ones(len(self.view), bool)
        matches = compile_globs(filters.include, filters.exclude)
        return np.fromiter((matches(path) for path in self.view.paths), bool, len(self.view))

    def _language_rows(self, languages: Sequence[str]) -> NDArray[np.bool_]:
        parts = []
        for segment in self.snapshot.segments:
            codes = [code for code, name in enumerate(segment.languages) if name in languages]
            parts.append(np.repeat(np.isin(segment.blob_languages, codes), np.diff(segment.first)))
        return np.concatenate(parts) if parts else np.zeros(0, bool)

    def rows_of(self, entries: NDArray[np.int64]) -> NDArray[np.int64]:
        """The rows in scope that belong to some entries, all of which are indexed."""
        rows, sizes = _rows_of_blobs(self.snapshot, self._blob_of[entries])
        inside: NDArray[np.bool_] = self.entry_of[rows] == np.repeat(entries, sizes)
        return rows[inside]

    @cached_property
    def mask(self) -> NDArray[np.bool_]:
        """Rows in scope."""
        return self.entry_of >= 0

    @cached_property
    def rows(self) -> int:
        """How many rows are in scope."""
        return int(self.mask.sum())

    @cached_property
    def whole(self) -> bool:
        """Whether every row of the snapshot is in scope."""
        return self.rows == self.snapshot.rows

    @cached_property
    def parts(self) -> list[NDArray[np.bool_]]:
        """The rows in scope, those of files and those of records apart where there are both."""
        if not any(RECORD_LANGUAGE in segment.languages for segment in self.snapshot.segments):
            return [self.mask]
        told = self._language_rows((RECORD_LANGUAGE,))
        parts = [part for part in (self.mask & ~told, self.mask & told) if part.any()]
        return parts if len(parts) == 2 else [self.mask]

    @cached_property
    def words(self) -> NDArray[np.float32]:
        """Words of each row's text."""
        return self.snapshot.column("words").astype(np.float32)

    @cached_property
    def lengths(self) -> NDArray[np.float32]:
        """Words of each row against the average of its part: documents are longer than files."""
        lengths = np.ones(len(self.words), np.float32)
        for part in self.parts:
            if part.any():
                lengths[part] = self.words[part] / max(float(self.words[part].mean()), 1e-9)
        return lengths

    @cached_property
    def file_words(self) -> NDArray[np.float32]:
        """Words of each path's rows, [entries]."""
        inside = self.entry_of[self.mask]
        return np.bincount(inside, self.words[self.mask], len(self.view)).astype(np.float32)

    @cached_property
    def file_lengths(self) -> NDArray[np.float32]:
        """Words of each path against the average of its part, [entries]."""
        lengths = np.ones(len(self.view), np.float32)
        for part in self.parts:
            filled = np.zeros(len(self.view), bool)
            filled[self.entry_of[part]] = True
            mean = float(self.file_words[filled].sum()) / max(int(filled.sum()), 1)
            lengths[filled] = self.file_words[filled] / max(mean, 1e-9)
        return lengths

    @cached_property
    def filled(self) -> NDArray[np.bool_]:
        """Which paths have a row in scope, [entries]."""
        filled = np.zeros(len(self.view), bool)
        filled[self.entry_of[self.mask]] = True
        return filled

    @cached_property
    def entries(self) -> int:
        """How many paths have a row in scope."""
        return int(self.filled.sum())


def _assign_rows(snapshot: Snapshot, blob_of: NDArray[np.int64], allowed: NDArray[np.bool_]) -> NDArray[np.int32]:
    entry_of = np.full(snapshot.rows, -1, np.int32)
    places = np.flatnonzero(allowed)
    blobs, first = np.unique(blob_of[places], return_index=True)
    rows, sizes = _rows_of_blobs(snapshot, blobs)
    entry_of[rows] = np.repeat(places[first], sizes)
    return entry_of


def _rows_of_blobs(snapshot: Snapshot, blobs: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The rows of some blobs, one blob's behind the other's, and how many each has."""
    starts, ends = snapshot.blob_first[blobs], snapshot.blob_first[blobs + 1]
    sizes = ends - starts
    within = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return np.repeat(starts, sizes) + within, sizes
