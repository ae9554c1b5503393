"""Retrieval by meaning: a scan over sign bits selects candidate rows, and the stored vectors rescore them exactly.

Each row has one bit per dimension, the sign of its component. The Hamming distance between two rows of bits estimates
the angle between their vectors: E[differing bits] = dimensions * angle / pi (Charikar 2002, for random hyperplanes; the
dimensions of a trained model behave alike). A scan of bits costs a thirtieth of a scan of the vectors, and the order
it gives only has to be good enough that the nearest rows are among the candidates: their cosines are exact.
"""

import sys
from typing import Final

import numpy as np

from gitmem.arrays import NDArray
from gitmem.named_tuple import NamedTuple
from gitmem.search.scope import Scope
from gitmem.store.graph import RowGraph
from gitmem.store.open_segments import OpenSegments

SMALL_SHARE: Final = 0.2
"""Share of the rows below which a scope is scanned by itself.

The graph, and a scan of the whole snapshot, would mostly visit rows that are out of scope.
"""


MAX_DISTANCE: Final = 255
"""Largest distance of vectors of up to 256 dimensions: a byte each. Rows that differ in all signs are never near."""

_BYTE_DIMENSIONS: Final = 256
"""Longer vectors have distances of two bytes."""

Distances = NDArray[np.uint8] | NDArray[np.uint16]

_BLOCK_ROWS: Final = 1 << 14
"""Rows whose bits are compared at once: their words and the buffers for them stay in the second cache of a core."""

_HIGHEST_BYTE: Final = -1 if sys.byteorder == "little" else 0
"""Position of the highest byte of an integer in memory."""

_EXACT_ROWS: Final = 1 << 14
"""Rows whose vectors are compared at once: as floats they take 16 MB."""

_SUMMED: Final[dict[int, type[np.unsignedinteger]]] = {1: np.uint8, 2: np.uint16, 4: np.uint32}
"""Numbers of 64-bit words per row whose bit counts are summed as one integer, and its type."""


class DenseRanking(NamedTuple):
    """Rows by falling cosine."""

    rows: NDArray[np.int64]
    cosines: NDArray[np.float32]


def search_dense(scope: Scope, vector: NDArray[np.float32], count: int, graph: RowGraph | None = None) -> DenseRanking:
    """Return about the `count` rows of a scope nearest to a unit vector, with exact cosines."""
    rows = find_near_rows(scope, vector, count, graph)
    cosines = exact_cosines(scope.snapshot, vector, rows)
    order = np.lexsort((rows, -cosines))  # ties go by row
    return DenseRanking(rows[order], cosines[order])


def search_exactly(
    scope: Scope, vector: NDArray[np.float32], count: int
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Return the rows of a scope with the `count` highest cosines and all that tie with the last, ascending.

    It reads all vectors, which costs some thirty times as much as the sign bits.
    """
    rows = np.flatnonzero(scope.mask)
    if not vector.any() or not len(rows):
        return np.zeros(0, np.int64), np.zeros(0, np.float32)
    parts = [rows[start : start + _EXACT_ROWS] for start in range(0, len(rows), _EXACT_ROWS)]
    cosines = np.concatenate([exact_cosines(scope.snapshot, vector, part) for part in parts])
    if len(rows) <= count:
        return rows, cosines
    best = cosines >= np.partition(cosines, -count)[-count]
    return rows[best], cosines[best]


def find_near_rows(
    scope: Scope, vector: NDArray[np.float32], count: int, graph: RowGraph | None = None
) -> NDArray[np.int64]:
    """Return about the `count` rows of a scope nearest to a unit vector, ascending.

    The scan over sign bits selects the rows or, if given, the graph does.
    """
    snapshot, part, size = scope.snapshot, scope.mask, scope.row_count
    if size < SMALL_SHARE * snapshot.rows:
        return _scan_rows(snapshot, np.flatnonzero(part), vector, count)
    if graph is not None:
        return _graph_rows(snapshot, part, vector, count, graph)
    distances = bit_distances(snapshot, vector)
    distances[scope.outside] = np.iinfo(distances.dtype).max  # rows out of scope are as far away as possible
    nearest = _nearest(distances, min(count, size))
    return nearest if size == snapshot.rows else nearest[part[nearest]]


def _scan_rows(
    snapshot: OpenSegments, rows: NDArray[np.int64], vector: NDArray[np.float32], count: int
) -> NDArray[np.int64]:
    """Return the nearest of some rows by their sign bits."""
    signs = np.packbits(vector > 0)
    distances = np.zeros(len(rows), _distance_type(signs))
    for segment, own, positions in snapshot.split(rows):
        distances[positions] = hamming_distances(segment.bits()[own], signs)
    return rows[_nearest(distances, min(count, len(rows)))]


def _graph_rows(
    snapshot: OpenSegments, part: NDArray[np.bool_], vector: NDArray[np.float32], count: int, graph: RowGraph
) -> NDArray[np.int64]:
    """Return the nearest rows of a scope found by the graph, and the nearest rows that the graph does not hold."""
    # The graph knows no scope, so ask for more by the share of rows out of scope: `count` are left on average.
    nearest = graph.nearest(vector, int(count * snapshot.rows / max(int(part.sum()), 1)))
    added = _scan_rows(snapshot, graph.missing[part[graph.missing]], vector, count)
    return np.sort(np.concatenate([nearest[part[nearest]], added]))


def bit_distances(snapshot: OpenSegments, vector: NDArray[np.float32]) -> Distances:
    """Return the number of differing signs between a vector and every row, [rows]; see `hamming_distances`."""
    signs = np.packbits(vector > 0)
    distances = np.empty(snapshot.rows, _distance_type(signs))
    for start, bits in snapshot.bits():
        distances[start : start + len(bits)] = hamming_distances(bits, signs)
    return distances


def _distance_type(signs: NDArray[np.uint8]) -> type[np.unsignedinteger]:
    return np.uint8 if 8 * len(signs) <= _BYTE_DIMENSIONS else np.uint16


def hamming_distances(bits: NDArray[np.uint8], signs: NDArray[np.uint8]) -> Distances:
    """Return the number of differing bits between each row of `bits` [rows, bytes] and `signs` [bytes].

    Of up to 256 bits a distance above MAX_DISTANCE counts as that.
    """
    width = len(signs) // 8
    if len(signs) % 8 or width not in _SUMMED:
        return _count_bits(bits, signs)
    words = np.ascontiguousarray(bits).view(np.uint64).reshape(-1)
    pattern = np.repeat(signs.view(np.uint64)[np.newaxis], min(_BLOCK_ROWS, len(bits)), axis=0).reshape(-1)
    # Buffers for one block of rows stay in the cache of the processor, and numpy allocates nothing per block.
    different = np.empty_like(pattern)
    counts = np.empty(len(pattern), np.uint8)
    distances = np.empty(len(bits), np.uint8)
    for start in range(0, len(words), max(len(pattern), 1)):
        own = words[start : start + len(pattern)]
        size = len(own)
        np.bitwise_xor(own, pattern[:size], out=different[:size])
        np.bitwise_count(different[:size], out=counts[:size])
        _sum_rows(counts[:size], width, distances[start // width : (start + size) // width])
    _mend_overflows(distances, bits, signs)
    return distances


def _count_bits(bits: NDArray[np.uint8], signs: NDArray[np.uint8]) -> Distances:
    """Return the distances of rows of any width."""
    # Words of 64 bits if the rows consist of them: an eighth of the operations.
    kind: type[np.unsignedinteger] = np.uint64 if len(signs) % 8 == 0 else np.uint8
    words, pattern = np.ascontiguousarray(bits).view(kind), np.ascontiguousarray(signs).view(kind)
    exact = np.empty(len(bits), np.uint16)
    for start in range(0, len(bits), _BLOCK_ROWS):
        block = np.bitwise_xor(words[start : start + _BLOCK_ROWS], pattern)
        exact[start : start + _BLOCK_ROWS] = np.bitwise_count(block).sum(axis=1, dtype=np.uint16)
    if 8 * len(signs) > _BYTE_DIMENSIONS:
        return exact
    return np.minimum(exact, MAX_DISTANCE).astype(np.uint8)


def _sum_rows(counts: NDArray[np.uint8], width: int, sums: NDArray[np.uint8]) -> None:
    """Write the sums, modulo 256, of groups of `width` bytes; `counts` is overwritten."""
    # A group is read as one integer. Multiplied by 0x0101..., its highest byte is the sum of all bytes: the carries of
    # the lower ones stay out of it, because they are sums of at most 64 * (width - 1) < 256. Copying that byte out of
    # the group is cheaper than shifting the integer.
    groups: NDArray[np.unsignedinteger] = counts.view(_SUMMED[width])
    groups *= groups.dtype.type(0x01010101 & ((1 << 8 * width) - 1))
    sums[:] = counts.reshape(-1, width)[:, _HIGHEST_BYTE]


def _mend_overflows(distances: NDArray[np.uint8], bits: NDArray[np.uint8], signs: NDArray[np.uint8]) -> None:
    """Correct the distance of rows in which all of 256 bits differ, which became 0."""
    if 8 * len(signs) <= MAX_DISTANCE:
        return
    zeros = np.flatnonzero(distances == 0)
    distances[zeros[(bits[zeros] != signs).any(axis=1)]] = MAX_DISTANCE


def _nearest(distances: Distances, count: int) -> NDArray[np.int64]:
    """Return the positions of the smallest distances: at least `count`, with all that share the largest of them."""
    if count <= 0:
        return np.zeros(0, np.int64)
    likely = np.flatnonzero(distances <= _upper_bound(distances, count))
    threshold = np.partition(distances[likely], count - 1)[count - 1]
    nearest: NDArray[np.int64] = likely[distances[likely] <= threshold]
    return nearest


def _upper_bound(distances: Distances, count: int) -> int:
    """Return a distance that at least `count` rows do not exceed, close to the smallest such one among many rows."""
    # The minima of 8 * count groups, as in `top_rows.lower_bound`: this reads the distances once and sorts few.
    size = len(distances) // (8 * count)
    if size < 2:
        return int(np.iinfo(distances.dtype).max)
    minima = distances[: size * 8 * count].reshape(size, -1).min(axis=0)
    return int(np.partition(minima, count - 1)[count - 1])


def exact_cosines(snapshot: OpenSegments, vector: NDArray[np.float32], rows: NDArray[np.int64]) -> NDArray[np.float32]:
    """Return the cosines of a unit vector with the stored vectors of some rows."""
    cosines = snapshot.scales(rows)
    # einsum, because a row must get the same bits whichever rows it is compared with: a matrix product does not promise
    # that.
    cosines *= np.einsum("ij,j->i", snapshot.vectors(rows).astype(np.float32), vector)
    return cosines
