"""Vectors of chunks that an index already holds, found by the hash of their content.

A changed file mostly consists of unchanged chunks, and branches and copies share theirs. A worker looks them up instead
of embedding them again. The stored vector is what embedding would give, so the rows are the same either way.
"""

from contextlib import suppress
from pathlib import Path

import numpy as np

from gitmem.arrays import NDArray
from gitmem.errors import GitmemError
from gitmem.indexing.worker_protocol import KnownSegments
from gitmem.named_tuple import NamedTuple
from gitmem.store.segment import Segment, find_segment


class Vectors(NamedTuple):
    """Quantised vectors of some texts: int8 [texts, dimensions], with a scale and a norm each, as they are stored.

    `missing` are the texts whose vectors are unknown.
    """

    vectors: NDArray[np.int8]
    scales: NDArray[np.float16]
    norms: NDArray[np.float16]
    missing: NDArray[np.int64]


class KnownVectors:
    """Open segments, to look up content hashes in. A segment that cannot be read knows nothing."""

    def __init__(self, known: KnownSegments | None = None) -> None:
        self._segments: list[Segment] = []
        for entry in known.entries if known else ():
            with suppress(GitmemError):
                segment = find_segment(Path(known.folder if known else ""), entry)
                if segment is not None and segment.rows:
                    self._segments.append(segment)

    def find(self, hashes: NDArray[np.uint8], dimensions: int) -> Vectors:
        """Return the vectors of texts by their content hashes, [texts, CONTENT_BYTES]."""
        found = Vectors(
            np.zeros((len(hashes), dimensions), np.int8),
            np.zeros(len(hashes), "<f2"),
            np.zeros(len(hashes), "<f2"),
            np.arange(len(hashes)),
        )
        for segment in self._segments:
            if not len(found.missing):
                break
            if segment.dimensions == dimensions:
                # A damaged block is found again, and reported, by the next search that needs it.
                with suppress(GitmemError):
                    found = found._replace(missing=_copy_known(segment, hashes, found))
        return found


def _copy_known(segment: Segment, hashes: NDArray[np.uint8], found: Vectors) -> NDArray[np.int64]:
    """Copy the missing vectors that a segment has; return the texts that remain."""
    rows = segment.find_contents(hashes[found.missing])
    is_known = rows >= 0
    texts, rows = found.missing[is_known], rows[is_known]
    if len(texts):
        vectors, scales, norms = (segment.vectors(rows), segment.values("scale", rows), segment.values("norm", rows))
        found.vectors[texts], found.scales[texts], found.norms[texts] = vectors, scales, norms
    return found.missing[~is_known]
