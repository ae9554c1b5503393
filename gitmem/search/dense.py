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

GRAPH_SHARE: Final = 0.2
"""A scope that holds less of the rows than this is scanned: the graph would find mostly what it must not."""


class DenseRanking(NamedTuple):
    """Rows by falling cosine."""

    rows: NDArray[np.int64]
    cosines: NDArray[np.float32]


def search_dense(scope: Scope, vector: NDArray[np.float32], keep: int, graph: RowGraph | None = None) -> DenseRanking:
    """About the `keep` rows in scope nearest to a unit vector: found by their signs or by the graph, scored exactly."""
    if graph is not None and scope.rows >= GRAPH_SHARE * scope.snapshot.rows:
        rows = _graph_rows(scope, vector, keep, graph)
    else:
        rows = _scanned_rows(scope, vector, keep)
    cosines = exact_cosines(scope.snapshot, vector, rows)
    order = np.lexsort((rows, -cosines))
    return DenseRanking(rows[order], cosines[order])


def _scanned_rows(scope: Scope, vector: NDArray[np.float32], keep: int) -> NDArray[np.int64]:
    distances = bit_distances(scope.snapshot, vector)
    if not scope.whole:
        distances = np.where(scope.mask, distances, np.uint16(len(vector) + 1))
    return _nearest(distances, min(keep, scope.rows))


def _graph_rows(scope: Scope, vector: NDArray[np.float32], keep: int, graph: RowGraph) -> NDArray[np.int64]:
    """What the graph finds, enlarged by what the scope leaves out, and the nearest of the rows the graph lacks."""
    asked = int(keep * scope.snapshot.rows / max(scope.rows, 1))
    found = graph.nearest(vector, asked)
    lacking = graph.lacking[scope.mask[graph.lacking]]
    signs = np.packbits(vector > 0)
    distances = np.zeros(len(lacking), np.uint16)
    for segment, own, places in scope.snapshot.split(lacking):
        distances[places] = _differing(segment.bits()[own], signs)
    new = lacking[_nearest(distances, min(keep, len(lacking)))]
    return np.sort(np.concatenate([found[scope.mask[found]], new]))


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
