"""Retrieval by meaning: a scan over sign bits selects candidate rows, and the stored vectors rescore them exactly.

Each row has one bit per dimension, the sign of its component. The Hamming distance between two rows of bits estimates
the angle between their vectors: E[differing bits] = dimensions * angle / pi (Charikar 2002, for random hyperplanes; the
dimensions of a trained model behave alike). A scan of bits costs a thirtieth of a scan of the vectors, and the order
it gives only has to be good enough that the nearest rows are among the candidates: their cosines are exact.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gitmem.search.scope import Scope
from gitmem.store.graph import RowGraph
from gitmem.store.snapshot import Snapshot

SMALL_SHARE: Final = 0.2
"""Share of the rows below which a partition of the scope is scanned by itself.

The graph, and a scan of the whole snapshot, would mostly visit rows that are out of scope.
"""


class DenseRanking(NamedTuple):
    """Rows by falling cosine."""

    rows: NDArray[np.int64]
    cosines: NDArray[np.float32]


def search_dense(scope: Scope, vector: NDArray[np.float32], count: int, graph: RowGraph | None = None) -> DenseRanking:
    """Return about the `count` rows of each partition of a scope nearest to a unit vector, with exact cosines.

    The scan over sign bits selects the rows or, if given, the graph does.
    """
    parts = [_nearest_rows(scope.snapshot, part, vector, count, graph) for part in scope.partitions]
    rows = parts[0] if len(parts) == 1 else np.sort(np.concatenate(parts))
    cosines = exact_cosines(scope.snapshot, vector, rows)
    order = np.lexsort((rows, -cosines))  # ties go by row
    return DenseRanking(rows[order], cosines[order])


def _nearest_rows(
    snapshot: Snapshot, part: NDArray[np.bool_], vector: NDArray[np.float32], count: int, graph: RowGraph | None
) -> NDArray[np.int64]:
    size = int(part.sum())
    if size < SMALL_SHARE * snapshot.rows:
        return _scan_rows(snapshot, np.flatnonzero(part), vector, count)
    if graph is not None:
        return _graph_rows(snapshot, part, vector, count, graph)
    distances = bit_distances(snapshot, vector)
    if size < snapshot.rows:
        # Rows out of scope get a distance that no row can have.
        distances = np.where(part, distances, np.uint16(len(vector) + 1))
    return _nearest(distances, min(count, size))


def _scan_rows(
    snapshot: Snapshot, rows: NDArray[np.int64], vector: NDArray[np.float32], count: int
) -> NDArray[np.int64]:
    """Return the nearest of some rows by their sign bits."""
    signs = np.packbits(vector > 0)
    distances = np.zeros(len(rows), np.uint16)
    for segment, own, positions in snapshot.split(rows):
        distances[positions] = _hamming_distances(segment.bits()[own], signs)
    return rows[_nearest(distances, min(count, len(rows)))]


def _graph_rows(
    snapshot: Snapshot, part: NDArray[np.bool_], vector: NDArray[np.float32], count: int, graph: RowGraph
) -> NDArray[np.int64]:
    """Return the nearest rows of a partition found by the graph, and the nearest rows that the graph does not hold."""
    # The graph knows no scope, so ask for more by the share of rows out of scope: `count` are left on average.
    nearest = graph.nearest(vector, int(count * snapshot.rows / max(int(part.sum()), 1)))
    added = _scan_rows(snapshot, graph.missing[part[graph.missing]], vector, count)
    return np.sort(np.concatenate([nearest[part[nearest]], added]))


def bit_distances(snapshot: Snapshot, vector: NDArray[np.float32]) -> NDArray[np.uint16]:
    """Return the number of differing signs between a vector and every row, [rows]."""
    signs = np.packbits(vector > 0)
    distances = [_hamming_distances(segment.bits(), signs) for segment in snapshot.segments]
    return np.concatenate(distances) if distances else np.zeros(0, np.uint16)


def _hamming_distances(bits: NDArray[np.uint8], signs: NDArray[np.uint8]) -> NDArray[np.uint16]:
    """Return the number of differing bits between each row of `bits` [rows, bytes] and `signs` [bytes]."""
    word = np.uint64 if bits.shape[1] % 8 == 0 else np.uint8
    columns = np.ascontiguousarray(bits).view(word).T
    total = np.zeros(len(bits), np.uint16)
    # One pass per column over all rows: faster than a reduction along an axis of a few words.
    for column, own in zip(columns, signs.view(word), strict=True):
        total += np.bitwise_count(column ^ own)
    return total


def _nearest(distances: NDArray[np.uint16], count: int) -> NDArray[np.int64]:
    """Return the positions of the smallest distances: at least `count`, with all that share the largest of them."""
    if count <= 0:
        return np.zeros(0, np.int64)
    # Distances are small integers, so a histogram gives the threshold in one pass without sorting.
    threshold = int(np.searchsorted(np.cumsum(np.bincount(distances)), count))
    return np.flatnonzero(distances <= threshold)


def exact_cosines(snapshot: Snapshot, vector: NDArray[np.float32], rows: NDArray[np.int64]) -> NDArray[np.float32]:
    """Return the cosines of a unit vector with the stored vectors of some rows."""
    cosines = np.zeros(len(rows), np.float32)
    for segment, own, positions in snapshot.split(rows):
        # Vectors are stored as int8; `scale` brings each to unit length.
        scales = segment.column("scale")[own].astype(np.float32)
        cosines[positions] = (segment.vectors(own).astype(np.float32) @ vector) * scales
    return cosines
