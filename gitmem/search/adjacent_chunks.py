"""Find the chunks directly before and after a hit in its blob."""

import numpy as np

from gitmem.named_tuple import NamedTuple
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
    shared = snapshot.units(rows, columns["start"], columns["line"])
    start, length, line, lines = (columns[name].tolist() for name in ("start", "length", "line", "lines"))
    chunks: list[AdjacentChunk] = []
    for place, units in enumerate(shared):
        first = line[place]
        whole = AdjacentChunk(start[place], start[place] + length[place], first, first + lines[place] - 1)
        chunks += [AdjacentChunk(*unit[:4]) for unit in units] or [whole]
    # By start, and of equal starts the longest first. Before the hit: starts and ends earlier. After it: both later.
    chunks.sort(key=lambda chunk: (chunk.start, -chunk.end))
    before = [chunk for chunk in chunks if chunk.start < hit.start and chunk.end < hit.end]
    after = [chunk for chunk in chunks if chunk.start > hit.start and chunk.end > hit.end]
    return (before[-1] if before else None), (after[0] if after else None)
