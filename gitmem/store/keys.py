"""64-bit keys of (object id, language), so that views and segments are joined by one sorted search.

The key is the first eight bytes of the object id, XORed with a hash of the language's name. A pair of blobs shares a
key with a probability of 1 in 2^64. Joins compare the ids as well, so that a collision costs an index entry, but never
gives a wrong result.
"""

import zlib
from collections.abc import Sequence
from typing import Final

import numpy as np

from gitmem.arrays import NDArray

# Odd constant near 2^64 / golden ratio, which spreads a 32-bit hash over 64 bits (Fibonacci hashing; Knuth, TAOCP 3).
_MIX: Final = 0x9E3779B97F4A7C15


def blob_keys(oids: NDArray[np.uint8], codes: NDArray[np.uint16], languages: Sequence[str]) -> NDArray[np.uint64]:
    """Return the keys of blobs: `oids` [n, 20 or 32], `codes` [n] indices into `languages`."""
    salts = np.array([_salt(name) for name in languages] or [0], np.uint64)
    heads = np.ascontiguousarray(oids[:, :8]).view(">u8").reshape(-1).astype(np.uint64)
    return heads ^ salts[codes] if len(codes) else heads


def match_keys(keys: NDArray[np.uint64], table: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return the index of each key in `table` (the last one, if it occurs twice), else -1."""
    if not len(table):
        return np.full(len(keys), -1, np.int64)
    order = np.argsort(table, kind="stable")
    ordered = table[order]
    places = np.maximum(np.searchsorted(ordered, keys, side="right") - 1, 0)
    return np.where(ordered[places] == keys, order[places], -1)


def blob_key(oid: bytes, language: str) -> int:
    """Return the key of one blob."""
    return int.from_bytes(oid[:8], "big") ^ _salt(language)


def _salt(language: str) -> int:
    return (zlib.crc32(language.encode()) * _MIX) & (2**64 - 1)
