"""The segments of several indexes as one, for a search over all of them.

Repositories are many and small. To look up a column in each of a hundred segments takes longer than to search it, so
the columns that searches use are joined once, and kept for the next search.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Final

import numpy as np

from gitmem.arrays import NDArray
from gitmem.store.columns import COLUMNS
from gitmem.store.open_segments import OpenSegments
from gitmem.store.segment import Segment

_FEW_ROWS: Final = 2048
"""Rows that are read one by one: some hundred candidates, which come from most of the segments."""


class CombinedSegments(OpenSegments):
    """Open segments with joined columns. Vectors stay where they are: they are most of an index."""

    def __init__(self, segments: Sequence[Segment]) -> None:
        super().__init__(segments)
        self._columns: dict[str, NDArray[np.generic]] = {}
        self._bits: NDArray[np.uint8] | None = None

    def column(self, name: str) -> NDArray[np.generic]:
        column = self._columns.get(name)
        if column is None:
            column = self._columns[name] = super().column(name)
        return column

    def gather(self, names: Sequence[str], rows: NDArray[np.int64]) -> dict[str, NDArray[np.generic]]:
        return {name: self.column(name)[rows].astype(COLUMNS[name], copy=False) for name in names}

    def bits(self) -> Iterator[tuple[int, NDArray[np.uint8]]]:
        yield 0, self._joined_bits()

    def _joined_bits(self) -> NDArray[np.uint8]:
        if self._bits is None:
            parts = [bits for _, bits in super().bits()]
            self._bits = np.concatenate(parts) if parts else np.zeros((0, 0), np.uint8)
        return self._bits

    def labels(self, rows: NDArray[np.int64]) -> list[bytes]:
        if len(rows) > _FEW_ROWS:
            return super().labels(rows)
        # The candidates of a query come from most of the segments, a few from each. Ten calls of numpy for each segment
        # would take ten times as long as this loop, which reads some bytes for each row.
        places = self._places_of(rows)
        # Each segment has one more bound than rows.
        first = rows + places
        bounds = (self._label_bounds[at].tolist() for at in (first, first + 1))
        read = [segment.read_label for segment in self.segments]
        return [read[place](start, end) for place, start, end in zip(places.tolist(), *bounds, strict=True)]

    def vectors(self, rows: NDArray[np.int64]) -> NDArray[np.int8]:
        if len(rows) > _FEW_ROWS or not self.segments:
            return super().vectors(rows)
        # As in `labels`. The magnitudes are not joined like columns: they are most of an index.
        places = self._places_of(rows)
        own = (rows - self.bases[places]).tolist()
        read = [segment.read_magnitudes for segment in self.segments]
        found = b"".join([read[place](row) for place, row in zip(places.tolist(), own, strict=True)])
        magnitudes = np.frombuffer(found, np.uint8).reshape(len(rows), self.segments[0].width("vectors"))
        return self.segments[0].levels.unpack(magnitudes, self._joined_bits()[rows], self.dimensions)

    def _places_of(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the numbers of the segments of some rows."""
        places: NDArray[np.int64] = np.searchsorted(self.bases, rows, side="right") - 1
        return places

    @cached_property
    def _label_bounds(self) -> NDArray[np.uint32]:
        """Offsets of the labels of all segments, one segment after the other."""
        return np.concatenate([np.zeros(0, np.uint32), *(segment.label_bounds() for segment in self.segments)])
