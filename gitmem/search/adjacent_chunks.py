"""The chunks on either side of a hit in its blob."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gitmem.search.hits import Hit
from gitmem.store.snapshot import Snapshot


class AdjacentChunk(NamedTuple):
    """A chunk beside a hit: bytes of the blob, half-open, and lines, 1-based and inclusive."""

    start: int
    end: int
    start_line: int
    end_line: int


def find_adjacent_chunks(snapshot: Snapshot, blob: int, hit: Hit) -> tuple[AdjacentChunk | None, AdjacentChunk | None]:
    """The chunks before and after a hit; `blob` is its blob's number in the snapshot.

    A chunk that lies inside the hit or around it, as a method and its class do, is not beside it; one that overlaps it,
    as windows of a document do, is.
    """
    rows = np.arange(snapshot.blob_first[blob], snapshot.blob_first[blob + 1])
    found = snapshot.gather(("start", "length", "line", "lines"), rows)
    start, length, line, lines = (found[name].astype(np.int64) for name in ("start", "length", "line", "lines"))
    end = start + length
    order = np.lexsort((-end, start))
    before = order[((start < hit.start) & (end < hit.end))[order]]
    after = order[((start > hit.start) & (end > hit.end))[order]]

    def beside(places: NDArray[np.int64]) -> AdjacentChunk | None:
        if not len(places):
            return None
        at = int(places[0])
        return AdjacentChunk(int(start[at]), int(end[at]), int(line[at]), int(line[at] + lines[at]) - 1)

    return beside(before[::-1]), beside(after)
