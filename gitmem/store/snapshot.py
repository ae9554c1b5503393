"""A snapshot: the segments of one generation opened together, their rows numbered through.

It stays whole whatever writers do meanwhile: segments never change, and their files outlive a generation by a grace
period. A segment that is gone or damaged is left out and named, so that the rest still answers and the next index run
makes it anew.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gitmem.errors import DamagedFile
from gitmem.paths import IndexPaths
from gitmem.store.columns import COLUMNS, RETRIED
from gitmem.store.keys import match_keys
from gitmem.store.manifest import Manifest
from gitmem.store.segment import Segment, find_segment
from gitmem.store.view_file import INDEXED, View

_MIX: Final = 0x9E3779B97F4A7C15


class Snapshot:
    """The open segments of a manifest. Row r of segment s is row `bases[s] + r`."""

    def __init__(self, paths: IndexPaths, manifest: Manifest) -> None:
        self.manifest = manifest
        self.segments: list[Segment] = []
        self.lost: list[str] = []
        self._matched: tuple[View, NDArray[np.int64]] | None = None
        for entry in manifest.segments:
            try:
                segment = find_segment(paths.segments, entry)
            except DamagedFile as problem:
                self.lost.append(problem.message)
                continue
            if segment is None:
                self.lost.append(f"`{paths.segment(entry.name)}` is missing")
            else:
                self.segments.append(segment)
        self.bases = np.cumsum([0] + [segment.rows for segment in self.segments]).astype(np.int64)

    @cached_property
    def _base_list(self) -> list[int]:
        bases: list[int] = self.bases.tolist()
        return bases

    @property
    def rows(self) -> int:
        return int(self.bases[-1])

    def require_whole(self) -> None:
        """Raise DamagedFile where somebody has cut a segment short since it was opened."""
        for segment in self.segments:
            segment.require_whole()

    def column(self, name: str) -> NDArray[np.generic]:
        """A column over all rows (one segment: a view of the file)."""
        parts = [segment.column(name) for segment in self.segments]
        return parts[0] if len(parts) == 1 else np.concatenate(parts) if parts else np.zeros(0)

    def gather(self, names: Sequence[str], rows: NDArray[np.int64]) -> dict[str, NDArray[np.generic]]:
        """Some columns of some rows."""
        found: dict[str, NDArray[np.generic]] = {name: np.zeros(len(rows), COLUMNS[name]) for name in names}
        for segment, own, places in self.split(rows):
            for name, column in found.items():
                column[places] = segment.column(name)[own]
        return found

    def symbols(self, rows: NDArray[np.int64]) -> list[str]:
        """The qualified names of some rows' chunks."""
        symbols = [""] * len(rows)
        for segment, own, places in self.split(rows):
            for place, symbol in zip(places.tolist(), segment.symbols(own), strict=True):
                symbols[place] = symbol
        return symbols

    def locate(self, row: int) -> tuple[Segment, int]:
        """The segment of a row and the row's number in it."""
        place = bisect_right(self._base_list, row) - 1
        return self.segments[place], row - self._base_list[place]

    def split(self, rows: NDArray[np.int64]) -> Iterator[tuple[Segment, NDArray[np.int64], NDArray[np.int64]]]:
        """Share rows out among segments: the segment, rows as numbered in it, and their places in `rows`."""
        owner = np.searchsorted(self.bases, rows, side="right") - 1
        for place, segment in enumerate(self.segments):
            own = np.flatnonzero(owner == place)
            if len(own):
                yield segment, rows[own] - self.bases[place], own

    @cached_property
    def blob_bases(self) -> NDArray[np.int64]:
        """Blobs numbered through like rows."""
        return np.cumsum([0] + [segment.blobs for segment in self.segments]).astype(np.int64)

    @cached_property
    def blob_first(self) -> NDArray[np.int64]:
        """First row of each blob over all segments, and the end: [blobs + 1]."""
        parts = [segment.first[:-1] + base for segment, base in zip(self.segments, self.bases, strict=False)]
        return np.concatenate([*parts, self.bases[-1:]])

    @cached_property
    def blob_keys(self) -> NDArray[np.uint64]:
        """Keys of all blobs."""
        return np.concatenate([segment.keys for segment in self.segments]) if self.segments else np.zeros(0, np.uint64)

    @property
    def dimensions(self) -> int:
        """Length of a vector; 0 in an empty index."""
        return self.segments[0].dimensions if self.segments else 0

    @cached_property
    def row_keys(self) -> NDArray[np.uint64]:
        """A 64-bit key of (blob, language, place in the blob) for each row, the same in every generation."""
        sizes = np.diff(self.blob_first)
        place = np.arange(self.rows) - np.repeat(self.blob_first[:-1], sizes)
        return np.repeat(self.blob_keys, sizes) + (place.astype(np.uint64) + np.uint64(1)) * np.uint64(_MIX)

    def unit_vectors(self, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """The vectors of some rows at full scale, [len(rows), dimensions]."""
        vectors = np.zeros((len(rows), self.dimensions), np.float32)
        for segment, own, places in self.split(rows):
            scales = segment.column("scale")[own].astype(np.float32)
            vectors[places] = segment.vectors(own) * scales[:, None]
        return vectors

    @cached_property
    def blob_outcomes(self) -> NDArray[np.uint8]:
        """Outcomes of all blobs, as numbers of OUTCOMES."""
        parts = [segment.outcomes for segment in self.segments]
        return np.concatenate(parts) if parts else np.zeros(0, np.uint8)

    def match(self, view: View) -> NDArray[np.int64]:
        """For each entry of a view the number of its blob here, -1 where it is not indexed, -2 where it never is.

        The last view is remembered: a question asks several times, and it takes a sort of all blobs.
        """
        if self._matched is None or self._matched[0] is not view:
            found = self._match(view)
            found.flags.writeable = False
            self._matched = view, found
        return self._matched[1]

    def _match(self, view: View) -> NDArray[np.int64]:
        order = self._tried_last
        found = match_keys(view.keys, self.blob_keys[order])
        found[found >= 0] = order[found[found >= 0]]
        found[self._differ(view, found)] = -1
        found[view.reasons != INDEXED] = -2
        return found

    @cached_property
    def _tried_last(self) -> NDArray[np.int64]:
        """All blobs, the unread before the read: a blob that failed once and stands twice is the one that was read."""
        outcomes = self.blob_outcomes
        unread = np.zeros(len(outcomes), bool)
        for outcome in RETRIED:
            unread |= outcomes == outcome
        return np.concatenate([np.flatnonzero(unread), np.flatnonzero(~unread)])

    def _differ(self, view: View, found: NDArray[np.int64]) -> NDArray[np.int64]:
        """Entries whose 64-bit key met a blob of another id."""
        hit = np.flatnonzero(found >= 0)
        if not len(hit):
            return hit
        ids = np.concatenate([segment.oids for segment in self.segments])[found[hit]]
        differing: NDArray[np.int64] = hit[(ids != view.oids[hit]).any(axis=1)]
        return differing

    def blob(self, number: int) -> tuple[Segment, int]:
        """The segment of a blob and the blob's number in it."""
        place = int(np.searchsorted(self.blob_bases, number, side="right")) - 1
        return self.segments[place], number - int(self.blob_bases[place])
