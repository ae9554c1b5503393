"""The segments of several indexes as one, for a search over all of them.

Repositories are many and small. To look up a column in each of a hundred segments takes longer than to search it, so
the columns that searches use are joined once, and kept for the next search.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from gitmem.store.columns import COLUMNS
from gitmem.store.open_segments import OpenSegments
from gitmem.store.segment import Segment


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
        if self._bits is None:
            parts = [bits for _, bits in super().bits()]
            self._bits = np.concatenate(parts) if parts else np.zeros((0, 0), np.uint8)
        yield 0, self._bits
