"""Open segments with their rows numbered consecutively: those of one index, or of several searched together."""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Final, TypeVar

import numpy as np

from gitmem.arrays import NDArray, differences
from gitmem.store.columns import COLUMNS
from gitmem.store.labels import label_symbol, unpack_units, unpack_whole
from gitmem.store.section import damaged
from gitmem.store.segment import Segment
from gitmem.types import DefinitionSpan, ResultUnit

_MIX: Final = 0x9E3779B97F4A7C15  # see store.keys

_Unpacked = TypeVar("_Unpacked")


class OpenSegments:
    """Open segments. Row r of segment s is row `bases[s] + r`; all vectors are of one model."""

    def __init__(self, segments: Sequence[Segment]) -> None:
        self.segments = list(segments)
        self.bases = np.cumsum([0] + [segment.rows for segment in self.segments]).astype(np.int64)

    @cached_property
    def _base_list(self) -> list[int]:
        bases: list[int] = self.bases.tolist()
        return bases

    @property
    def rows(self) -> int:
        return int(self.bases[-1])

    def require_whole(self) -> None:
        """Raise DamagedFile if a segment was truncated after it was opened."""
        for segment in self.segments:
            segment.require_whole()

    def column(self, name: str) -> NDArray[np.generic]:
        """Return a column over all rows, without copying it if there is one segment."""
        parts = [segment.column(name) for segment in self.segments]
        return parts[0] if len(parts) == 1 else np.concatenate(parts) if parts else np.zeros(0)

    def gather(self, names: Sequence[str], rows: NDArray[np.int64]) -> dict[str, NDArray[np.generic]]:
        """Return some columns of some rows, by name."""
        columns: dict[str, NDArray[np.generic]] = {name: np.zeros(len(rows), COLUMNS[name]) for name in names}
        for segment, own, places in self.split(rows):
            for name, column in columns.items():
                column[places] = segment.values(name, own)
        return columns

    def bits(self) -> Iterator[tuple[int, NDArray[np.uint8]]]:
        """Yield the bit signatures of consecutive rows, [rows, dimensions / 8], after the number of the first row."""
        for segment, start in zip(self.segments, self.bases.tolist(), strict=False):
            yield start, segment.bits()

    def labels(self, rows: NDArray[np.int64]) -> list[bytes]:
        """Return the labels of some rows, see `store.labels`."""
        labels = [b""] * len(rows)
        for segment, own, places in self.split(rows):
            for place, label in zip(places.tolist(), segment.labels(own), strict=True):
                labels[place] = label
        return labels

    def symbols(self, rows: NDArray[np.int64]) -> list[str]:
        """Return the qualified names of the chunks of some rows."""
        return list(map(label_symbol, self.labels(rows)))

    def units(
        self,
        rows: NDArray[np.int64],
        start: NDArray[np.generic],
        line: NDArray[np.generic],
        labels: Sequence[bytes] | None = None,
    ) -> list[tuple[ResultUnit, ...]]:
        """Return the results that share each of some rows; nothing for a row that is one itself.

        `start` and `line` are these columns of the rows, `labels` their labels if they are read already. Raises
        DamagedFile.
        """
        return self._unpack(unpack_units, rows, start, line, labels)

    def wholes(
        self,
        rows: NDArray[np.int64],
        start: NDArray[np.generic],
        line: NDArray[np.generic],
        labels: Sequence[bytes] | None = None,
    ) -> list[DefinitionSpan | None]:
        """Return the span of the definition of which each of some rows is a piece, else None.

        `start` and `line` are these columns of the rows, `labels` their labels if they are read already. Raises
        DamagedFile.
        """
        return self._unpack(unpack_whole, rows, start, line, labels)

    def _unpack(
        self,
        unpack: Callable[[bytes, int, int], _Unpacked],
        rows: NDArray[np.int64],
        start: NDArray[np.generic],
        line: NDArray[np.generic],
        labels: Sequence[bytes] | None,
    ) -> list[_Unpacked]:
        found: list[_Unpacked] = []
        try:
            found.extend(map(unpack, self.labels(rows) if labels is None else labels, start.tolist(), line.tolist()))
        except ValueError as problem:
            segment, _ = self.locate(int(rows[len(found)]))
            raise damaged(segment.path, "invalid label") from problem
        return found

    def locate(self, row: int) -> tuple[Segment, int]:
        """Return the segment of a row and the number of the row in it."""
        place = bisect_right(self._base_list, row) - 1
        return self.segments[place], row - self._base_list[place]

    def split(self, rows: NDArray[np.int64]) -> Iterator[tuple[Segment, NDArray[np.int64], NDArray[np.int64]]]:
        """Group rows by segment: yield the segment, the row numbers in it, and their positions in `rows`."""
        if len(self.segments) == 1:
            if len(rows):
                yield self.segments[0], rows, np.arange(len(rows))
            return
        owner = self.bases.searchsorted(rows, "right") - 1
        # Several indexes together have hundreds of segments, so the rows are sorted once instead of compared with each.
        order = owner.argsort(kind="stable")
        counts = np.bincount(owner, minlength=1)
        ends = np.cumsum(counts)
        for place in np.flatnonzero(counts).tolist():
            own = order[int(ends[place] - counts[place]) : int(ends[place])]
            yield self.segments[place], rows[own] - self.bases[place], own

    @cached_property
    def blob_bases(self) -> NDArray[np.int64]:
        """Number of the first blob of each segment, and the end: blobs are numbered consecutively, like rows."""
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
        """64-bit key of (blob, language, position in the blob) of each row, the same in every generation."""
        sizes = differences(self.blob_first)
        place = np.arange(self.rows) - np.repeat(self.blob_first[:-1], sizes)
        return np.repeat(self.blob_keys, sizes) + (place.astype(np.uint64) + np.uint64(1)) * np.uint64(_MIX)

    def vectors(self, rows: NDArray[np.int64]) -> NDArray[np.int8]:
        """Return the quantised vectors of some rows, [len(rows), dimensions]; only their blocks are read."""
        vectors = np.zeros((len(rows), self.dimensions), np.int8)
        for segment, own, places in self.split(rows):
            vectors[places] = segment.vectors(own)
        return vectors

    def unit_vectors(self, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the dequantised vectors of some rows, [len(rows), dimensions]."""
        return self.vectors(rows) * self.scales(rows)[:, None]

    def scales(self, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the factors that bring the vectors of some rows to unit length; 0 if it is not finite."""
        scales = self.gather(("scale",), rows)["scale"].astype(np.float32)
        return np.where(np.isfinite(scales), scales, np.float32(0))

    @cached_property
    def blob_outcomes(self) -> NDArray[np.uint8]:
        """Outcomes of all blobs, as indices into OUTCOMES."""
        parts = [segment.outcomes for segment in self.segments]
        return np.concatenate(parts) if parts else np.zeros(0, np.uint8)

    def blob(self, number: int) -> tuple[Segment, int]:
        """Return the segment of a blob and the number of the blob in it."""
        place = int(np.searchsorted(self.blob_bases, number, side="right")) - 1
        return self.segments[place], number - int(self.blob_bases[place])
