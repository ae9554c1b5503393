"""Vectors of the past: the sign of each component, which a segment has anyway, and one of four magnitudes.

The magnitudes are the centres of four ranges of a normal distribution that give the least squared error (Max 1960), in
units of the root mean square of the row. The error turns a vector by some ten degrees.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

_LIMITS: Final = np.array([0.5006, 1.050, 1.748], np.float32)
"""Ends of the ranges."""

_MAGNITUDES: Final = np.array([11, 34, 60, 97], np.int8)
"""Centres of the ranges (0.2451, 0.7560, 1.344 and 2.152) at a root mean square of 45."""

_SHIFTS: Final = np.array([0, 2, 4, 6], np.uint8)


def packed_width(dimensions: int) -> int:
    """Return the bytes of the packed magnitudes of a vector."""
    return -(-dimensions // 4)


def pack_magnitudes(vectors: NDArray[np.int8]) -> NDArray[np.uint8]:
    """Return the magnitudes of vectors, [vectors, dimensions], with two bits for each component."""
    size, dimensions = vectors.shape
    absolute = np.abs(vectors.astype(np.float32))
    unit = np.sqrt((absolute**2).sum(axis=1, keepdims=True) / max(dimensions, 1))
    levels = np.zeros((size, packed_width(dimensions), 4), np.uint8)
    by_component = levels.reshape(size, 4 * packed_width(dimensions))[:, :dimensions]
    for limit in _LIMITS:
        by_component += absolute > limit * unit
    packed: NDArray[np.uint8] = np.bitwise_or.reduce(levels << _SHIFTS, axis=2)
    return packed


def unpack_vectors(magnitudes: NDArray[np.uint8], signs: NDArray[np.uint8], dimensions: int) -> NDArray[np.int8]:
    """Return vectors from packed magnitudes and packed signs, [vectors, dimensions]."""
    levels = (magnitudes[:, :, None] >> _SHIFTS & 3).reshape(len(magnitudes), 4 * packed_width(dimensions))
    is_positive = np.unpackbits(signs, axis=1, count=dimensions).astype(bool)
    values = _MAGNITUDES[levels[:, :dimensions]]
    signed: NDArray[np.int8] = np.where(is_positive, values, -values)
    return signed


def unit_scales(vectors: NDArray[np.int8], scales: NDArray[np.float16]) -> NDArray[np.float16]:
    """Return the scales that bring vectors to unit length; vectors of nothing keep their scale of 0."""
    lengths = np.sqrt((vectors.astype(np.float32) ** 2).sum(axis=1))
    return np.where(scales > 0, 1 / np.maximum(lengths, 1), 0).astype(np.float16)
