"""Find the chunks directly before and after a hit in its blob."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gitmem.search.hits import Hit
from gitmem.store.snapshot import Snapshot


class AdjacentChunk(NamedTuple):
    """Span of a chunk next to a hit: bytes of the blob, half-open, and lines, 1-based and inclusive."""

    start: int
    end: int
    start_line: int
    end_line: int


def find_adjacent_chunks(snapshot: Snapshot, blob: int, hit: Hit) -> tuple[AdjacentChunk | None, AdjacentChunk | None]:
    """Find the chunks before and after a hit; `blob` is the number of its blob in the snapshot.

    A chunk inside the hit or around it, such as a method and its class, is not adjacent. One that overlaps it, such as
    the next window of a document, is.
    """
    rows = np.arange(snapshot.blob_first[blob], snapshot.blob_first[blob + 1])
    columns = snapshot.gather(("start", "length", "line", "lines"), rows)
    start, length, line, lines = (columns[name].astype(np.int64) for name in ("start", "length", "line", "lines"))
    end = start + length
    # By start, and of equal starts the longest first. Before the hit: starts and ends earlier. After it: both later.
    order = np.lexsort((-end, start))
    before = order[((start < hit.start) & (end < hit.end))[order]]
    after = order[((start > hit.start) & (end > hit.end))[order]]

    def first_of(positions: NDArray[np.int64]) -> AdjacentChunk | None:
        if not len(positions):
            return None
        at = int(positions[0])
        return AdjacentChunk(int(start[at]), int(end[at]), int(line[at]), int(line[at] + lines[at]) - 1)

    return first_of(before[::-1]), first_of(after)
