"""What the index knows of the chunk of a hit, beyond what the search needs: for programs."""

import numpy as np

from gitmem.answering.searcher import Searcher
from gitmem.named_tuple import NamedTuple
from gitmem.search.hits import Hit
from gitmem.store.snapshot import Snapshot


class HitDetails(NamedTuple):
    """Number of a chunk in its file, from 0 and as in a location `BLOB:0`; number of chunks and bytes of the file.

    `indexed_at` is when the segment with the chunk was written, in seconds since 1970: when the chunk was indexed, or
    when its segment was last merged. None if the file of the segment is gone.
    """

    chunk_index: int
    total_chunks: int
    file_bytes: int
    indexed_at: float | None


def read_details(searcher: Searcher, hit: Hit, file_bytes: int) -> HitDetails:
    """Return the details of a hit of a searcher, whose file has so many bytes."""
    snapshot, number = searcher.locate(hit)
    sizes, positions = _count_results(snapshot, number, hit)
    # A row with several definitions gives several results, each of which counts.
    index = sum(sizes[: hit.chunk]) + positions
    return HitDetails(index, sum(sizes), file_bytes, indexed_time(snapshot, number))


def indexed_time(snapshot: Snapshot, blob: int) -> float | None:
    """Return when the segment with a blob was written, in seconds since 1970; None if it does not exist any more."""
    try:
        return snapshot.blob(blob)[0].path.stat().st_mtime
    except OSError:
        return None


def _count_results(snapshot: Snapshot, blob: int, hit: Hit) -> tuple[list[int], int]:
    """Return the number of results in each row of a blob, and the position of a hit among those of its row."""
    first, end = snapshot.blob_first[blob : blob + 2].tolist()
    rows = np.arange(first, end, dtype=np.int64)
    columns = snapshot.gather(("start", "line"), rows)
    units = snapshot.units(rows, columns["start"], columns["line"])
    own = units[hit.chunk]
    position = next((place for place, unit in enumerate(own) if unit.start == hit.start and unit.end == hit.end), 0)
    return [max(1, len(of_row)) for of_row in units], position
