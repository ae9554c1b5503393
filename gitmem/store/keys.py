"""64-bit keys of (object id, language), so that views and segments are joined by one sorted search.

The key is the first eight bytes of the object id mixed with the language's name. Two different blobs share a key with
a chance of 1 in 2^64 a pair; whoever joins compares the ids as well, so such a pair costs an index entry, never a
wrong answer.
"""

import zlib
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

_MIX: Final = 0x9E3779B97F4A7C15


def blob_keys(oids: NDArray[np.uint8], codes: NDArray[np.uint16], languages: Sequence[str]) -> NDArray[np.uint64]:
    """Keys of blobs: `oids` [n, 20 or 32], `codes` [n] places in `languages`."""
    salts = np.array([(zlib.crc32(name.encode()) * _MIX) & (2**64 - 1) for name in languages] or [0], np.uint64)
    heads = np.ascontiguousarray(oids[:, :8]).view(">u8").reshape(-1).astype(np.uint64)
    return heads ^ salts[codes] if len(codes) else heads


def match_keys(wanted: NDArray[np.uint64], offered: NDArray[np.uint64]) -> NDArray[np.int64]:
    """For each wanted key its place among the offered ones (the last, where it is offered twice), else -1."""
    if not len(offered):
        return np.full(len(wanted), -1, np.int64)
    order = np.argsort(offered, kind="stable")
    ranked = offered[order]
    places = np.maximum(np.searchsorted(ranked, wanted, side="right") - 1, 0)
    return np.where(ranked[places] == wanted, order[places], -1)
