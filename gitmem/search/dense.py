"""Retrieval by meaning: a scan over sign bits picks rows, the stored vectors score them exactly.

The angle between two vectors is estimated by how many signs differ: E[differing bits] = dimensions * angle / pi
(Charikar 2002, random hyperplanes; the dimensions of a trained model behave alike). Scanning bits costs a thirtieth of
scanning the vectors.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gitmem.search.scope import Scope
from gitmem.store.graph import RowGraph
from gitmem.store.snapshot import Snapshot

FEW: Final = 0.2
"""A part of a scope that holds less of the rows than this is scanned alone: the graph would find mostly what it must
not, and a scan of everything would look mostly at that."""


class DenseRanking(NamedTuple):
    """Rows by falling cosine."""

    rows: NDArray[np.int64]
    cosines: NDArray[np.float32]


def search_dense(scope: Scope, vector: NDArray[np.float32], keep: int, graph: RowGraph | None = None) -> DenseRanking:
    """About the `keep` rows of each part of a scope nearest to a unit vector: found by their signs or by the graph,
    scored exactly."""
    parts = [_near_rows(scope.snapshot, part, vector, keep, graph) for part in scope.parts]
    rows = parts[0] if len(parts) == 1 else np.sort(np.concatenate(parts))
    cosines = exact_cosines(scope.snapshot, vector, rows)
    order = np.lexsort((rows, -cosines))
    return DenseRanking(rows[order], cosines[order])


def _near_rows(
    snapshot: Snapshot, part: NDArray[np.bool_], vector: NDArray[np.float32], keep: int, graph: RowGraph | None
) -> NDArray[np.int64]:
    count = int(part.sum())
    if count < FEW * snapshot.rows:
        return _scanned_few(snapshot, np.flatnonzero(part), vector, keep)
    if graph is not None:
        return _graph_rows(snapshot, part, vector, keep, graph)
    distances = bit_distances(snapshot, vector)
    if count < snapshot.rows:
        distances = np.where(part, distances, np.uint16(len(vector) + 1))
    return _nearest(distances, min(keep, count))


def _scanned_few(
    snapshot: Snapshot, rows: NDArray[np.int64], vector: NDArray[np.float32], keep: int
) -> NDArray[np.int64]:
    """The nearest of some rows."""
    signs = np.packbits(vector > 0)
    distances = np.zeros(len(rows), np.uint16)
    for segment, own, places in snapshot.split(rows):
        distances[places] = _differing(segment.bits()[own], signs)
    return rows[_nearest(distances, min(keep, len(rows)))]


def _graph_rows(
    snapshot: Snapshot, part: NDArray[np.bool_], vector: NDArray[np.float32], keep: int, graph: RowGraph
) -> NDArray[np.int64]:
    """What the graph finds, enlarged by what the part leaves out, and the nearest of the rows the graph lacks."""
    found = graph.nearest(vector, int(keep * snapshot.rows / max(int(part.sum()), 1)))
    new = _scanned_few(snapshot, graph.missing[part[graph.missing]], vector, keep)
    return np.sort(np.concatenate([found[part[found]], new]))


def bit_distances(snapshot: Snapshot, vector: NDArray[np.float32]) -> NDArray[np.uint16]:
    """How many signs differ, for every row."""
    asked = np.packbits(vector > 0)
    parts = [_differing(segment.bits(), asked) for segment in snapshot.segments]
    return np.concatenate(parts) if parts else np.zeros(0, np.uint16)


def _differing(bits: NDArray[np.uint8], asked: NDArray[np.uint8]) -> NDArray[np.uint16]:
    """Differing bits of each row [rows, bytes] and one signature [bytes]."""
    wide = np.uint64 if bits.shape[1] % 8 == 0 else np.uint8
    columns = np.ascontiguousarray(bits).view(wide).T
    total = np.zeros(len(bits), np.uint16)
    for column, own in zip(columns, asked.view(wide), strict=True):  # faster than work along so short an axis
        total += np.bitwise_count(column ^ own)
    return total


def _nearest(distances: NDArray[np.uint16], keep: int) -> NDArray[np.int64]:
    """Places of the smallest distances, at least `keep`: all that share the last distance are taken."""
    if keep <= 0:
        return np.zeros(0, np.int64)
    limit = int(np.searchsorted(np.cumsum(np.bincount(distances)), keep))
    return np.flatnonzero(distances <= limit)


def exact_cosines(snapshot: Snapshot, vector: NDArray[np.float32], rows: NDArray[np.int64]) -> NDArray[np.float32]:
    """Cosines of a unit vector with stored vectors."""
    cosines = np.zeros(len(rows), np.float32)
    for segment, own, places in snapshot.split(rows):
        scales = segment.column("scale")[own].astype(np.float32)
        cosines[places] = (segment.vectors(own).astype(np.float32) @ vector) * scales
    return cosines
