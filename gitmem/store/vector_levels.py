"""Vectors with few magnitudes for a component. A segment stores their signs apart, because a search scans these.

    packed = one plane of bits after the other: of the numbers of all magnitudes first the lowest bits, then the next

Vectors are int8 with a scale, and the largest component of each is 127 (`embedding.encoder.quantise`).
"""

from abc import ABC, abstractmethod
from typing import Final

import numpy as np

from gitmem.arrays import NDArray
from gitmem.named_tuple import NamedTuple

_LEVELS: Final = 32
_GROWTH: Final = 1.5
"""Exponent by which magnitudes grow up to 127. Most components are small, but the large ones decide about a cosine. Its
error is least between even steps (1) and those that give the least squared error of a component."""

_PAST_LIMITS: Final = np.array([0.5006, 1.050, 1.748], np.float32)
_PAST_MAGNITUDES: Final = np.array([11, 34, 60, 97], np.int8)
"""Ends and centres of four ranges of a normal distribution that give the least squared error (Max 1960), in units of
the root mean square; the centres (0.2451, 0.7560, 1.344 and 2.152) are at one of 45. The error turns a vector by some
ten degrees."""

_BITS_OF_BYTE: Final = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).view(np.uint64)[:, 0]
"""The eight bits of each byte as the eight bytes of a number, the highest first in memory."""


class Snapped(NamedTuple):
    """`vectors` int8 [n, dimensions] and `scales` float32 [n]: a vector is approximately int8 * scale."""

    vectors: NDArray[np.int8]
    scales: NDArray[np.float32]


class Levels(ABC):
    """Packed form of vectors: the number of one of 2**`bits` magnitudes for each component."""

    def __init__(self, bits: int, magnitudes: NDArray[np.int8]) -> None:
        self.bits = bits
        self.magnitudes = magnitudes
        self._values = np.concatenate([-magnitudes, magnitudes])
        """Components by the number of their magnitude, with the bit of a positive sign above it."""

    def width(self, dimensions: int) -> int:
        """Return the bytes of a packed vector."""
        return self.bits * -(-dimensions // 8)

    def pack(self, vectors: NDArray[np.int8]) -> NDArray[np.uint8]:
        """Return the magnitudes of vectors, packed, [vectors, width]."""
        numbers = self._number(vectors)
        return np.concatenate([np.packbits(numbers >> bit & 1, axis=1) for bit in range(self.bits)], axis=1)

    def unpack(self, packed: NDArray[np.uint8], signs: NDArray[np.uint8], dimensions: int) -> NDArray[np.int8]:
        """Return vectors from packed magnitudes and packed signs, int8 [vectors, dimensions]."""
        # Eight components at once, each in a byte of a number.
        planes = packed.reshape(len(packed), self.bits, signs.shape[1])
        numbers = _BITS_OF_BYTE[signs] << np.uint64(self.bits)
        for bit in range(self.bits):
            numbers |= _BITS_OF_BYTE[planes[:, bit]] << np.uint64(bit)
        return self._values[numbers.view(np.uint8)[:, :dimensions]]

    @abstractmethod
    def _number(self, vectors: NDArray[np.int8]) -> NDArray[np.uint8]:
        """Return the number of the magnitude of each component."""


class _SearchedLevels(Levels):
    """Levels of the segments of a tree. Vectors of `snap_to_levels` are read as they were written."""

    def __init__(self) -> None:
        growth = (np.arange(1, _LEVELS + 1) / _LEVELS) ** _GROWTH
        super().__init__(_LEVELS.bit_length() - 1, np.rint(127 * growth).astype(np.int8))
        limits = (self.magnitudes[1:].astype(np.float64) + self.magnitudes[:-1]) / 2
        components = np.arange(256).astype(np.uint8).view(np.int8)
        # By the byte of a component: the number of the nearest magnitude, and the component with it.
        self._number_of = np.searchsorted(limits, np.abs(components.astype(int))).astype(np.uint8)
        self._nearest_of = self._values[self._number_of + _LEVELS * (components > 0)]

    def _number(self, vectors: NDArray[np.int8]) -> NDArray[np.uint8]:
        numbers: NDArray[np.uint8] = self._number_of[vectors.view(np.uint8)]
        return numbers

    def nearest(self, vectors: NDArray[np.int8]) -> NDArray[np.int8]:
        """Return vectors with the nearest magnitude for each component; 0 becomes the smallest negative one."""
        nearest: NDArray[np.int8] = self._nearest_of[vectors.view(np.uint8)]
        return nearest

    def steps(self, vectors: NDArray[np.int8]) -> NDArray[np.int16]:
        """Return the components as numbers without gaps, by size: neighbouring levels differ by one."""
        numbers = self._number(vectors).astype(np.int16)
        return np.where(vectors > 0, numbers, -1 - numbers)


class _PastLevels(Levels):
    """Levels of the segments of the past, which are many and searched seldom."""

    def __init__(self) -> None:
        super().__init__(2, _PAST_MAGNITUDES)

    def _number(self, vectors: NDArray[np.int8]) -> NDArray[np.uint8]:
        absolute = np.abs(vectors.astype(np.float32))
        unit = np.sqrt((absolute**2).sum(axis=1, keepdims=True) / max(vectors.shape[1], 1))
        numbers = np.zeros(vectors.shape, np.uint8)
        for limit in _PAST_LIMITS:
            numbers += absolute > limit * unit
        return numbers


SEARCHED_LEVELS: Final = _SearchedLevels()
PAST_LEVELS: Final = _PastLevels()


def snap_to_levels(vectors: NDArray[np.int8], scales: NDArray[np.floating]) -> Snapped:
    """Return quantised vectors with the magnitudes of SEARCHED_LEVELS, and scales that keep their lengths."""
    snapped = SEARCHED_LEVELS.nearest(vectors)
    before, after = (np.sqrt((each.astype(np.float32) ** 2).sum(axis=1)) for each in (vectors, snapped))
    return Snapped(snapped, (scales.astype(np.float32) * before / np.maximum(after, 1)).astype(np.float32))


def unit_scales(vectors: NDArray[np.int8], scales: NDArray[np.float16]) -> NDArray[np.float16]:
    """Return the scales that bring vectors to unit length; vectors of nothing keep their scale of 0."""
    lengths = np.sqrt((vectors.astype(np.float32) ** 2).sum(axis=1))
    return np.where(scales > 0, 1 / np.maximum(lengths, 1), 0).astype(np.float16)
