"""Retrieval by meaning: a scan over sign bits picks rows, the stored vectors score them exactly.

The angle between two vectors is estimated by how many signs differ: E[differing bits] = dimensions * angle / pi
(Charikar 2002, random hyperplanes; the dimensions of a trained model behave alike). Scanning bits costs a thirtieth of
scanning the vectors.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gitmem.search.scope import Scope
from gitmem.store.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class DenseRanking:
    """Rows by falling cosine, and the spread of estimated cosines over all rows in scope."""

    rows: NDArray[np.int64]
    cosines: NDArray[np.float32]
    mean: float
    deviation: float


def search_dense(scope: Scope, vector: NDArray[np.float32], keep: int) -> DenseRanking:
    """The `keep` rows in scope that are nearest to a unit vector by their signs, scored exactly."""
    distances = bit_distances(scope.snapshot, vector)
    width = len(vector)
    histogram = np.bincount(distances if scope.whole else distances[scope.mask], minlength=width + 1)
    mean, deviation = _spread(histogram, width)
    if not scope.whole:
        distances = np.where(scope.mask, distances, width + 1)
    rows = _nearest(distances, histogram, min(keep, scope.rows))
    cosines = exact_cosines(scope.snapshot, vector, rows)
    order = np.lexsort((rows, -cosines))
    return DenseRanking(rows[order], cosines[order], mean, deviation)


def bit_distances(snapshot: Snapshot, vector: NDArray[np.float32]) -> NDArray[np.uint16]:
    """How many signs differ, for every row."""
    asked = np.packbits(vector > 0)
    parts = []
    for segment in snapshot.segments:
        bits = segment.bits()
        if bits.shape[1] % 8 == 0:
            differing = np.bitwise_count(bits.view(np.uint64) ^ asked.view(np.uint64))
        else:
            differing = np.bitwise_count(bits ^ asked)
        parts.append(differing.sum(axis=1, dtype=np.uint16))
    return np.concatenate(parts) if parts else np.zeros(0, np.uint16)


def _spread(histogram: NDArray[np.int64], width: int) -> tuple[float, float]:
    total = int(histogram.sum())
    if not total:
        return 0.0, 1.0
    cosines = np.cos(np.pi * np.arange(len(histogram)) / width)
    mean = float(histogram @ cosines) / total
    variance = float(histogram @ (cosines - mean) ** 2) / total
    return mean, max(variance, 1e-6) ** 0.5


def _nearest(distances: NDArray[np.uint16], histogram: NDArray[np.int64], keep: int) -> NDArray[np.int64]:
    """Rows of the smallest distances, at least `keep`: all that share the last distance are taken."""
    if keep <= 0:
        return np.zeros(0, np.int64)
    limit = int(np.searchsorted(np.cumsum(histogram), keep))
    return np.flatnonzero(distances <= limit)


def exact_cosines(snapshot: Snapshot, vector: NDArray[np.float32], rows: NDArray[np.int64]) -> NDArray[np.float32]:
    """Cosines of a unit vector with stored vectors."""
    cosines = np.zeros(len(rows), np.float32)
    for segment, own, places in snapshot.split(rows):
        scales = segment.column("scale")[own].astype(np.float32)
        cosines[places] = (segment.vectors(own).astype(np.float32) @ vector) * scales
    return cosines
