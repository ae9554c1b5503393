"""Keys of terms for the inverted index of the server: a hash of the term with the impact that it has in a blob.

    key = crc32(term) modulo 2^29, impact (2 bits), rows (1 bit)

An inverted index of PostgreSQL (GIN) lists the blobs of a key and nothing else. With the impact in the key, a lookup
knows how much a term adds to the score of a blob before any row of the table is read.
"""

# Impact-ordered postings (Anh, de Kretser and Moffat 2001): the weights of a term in its documents are quantised, and
# documents of one weight share a list. Four levels are enough, because the candidates are scored again exactly. The
# impact of a blob is that of its best row, an upper bound for every row as in block-max indexes (Ding and Suel 2011).
# Two terms with one hash, one pair in 2^29, only make a blob a candidate without a match.

import zlib
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gitmem.search.lexical import K1, ROW_WEIGHTS, saturate

MEAN_WORDS: Final = 100.0
"""Words of a typical row. Keys must be the same whoever publishes a blob, so the mean of no tree can be used."""

_LEVELS: Final = 4
_TOP: Final = K1 + 1
_ROWS: Final = (1.0, 3.0)
"""Numbers of rows that the two codes stand for: 1, and more."""

_HASH: Final = (1 << 29) - 1


class TermKey(NamedTuple):
    """Key of a term, and its meaning: a share of the term's highest score, and a number of rows."""

    key: int
    impact: float
    rows: float


def hash_terms(terms: Sequence[bytes]) -> NDArray[np.uint32]:
    """Return the hashes of some terms."""
    return np.fromiter((zlib.crc32(term) & _HASH for term in terms), np.uint32, len(terms))


def pack_keys(hashes: NDArray[np.uint32], impacts: NDArray[np.float64], rows: NDArray[np.int64]) -> NDArray[np.int32]:
    """Return the keys of terms in a blob, given the impact of each and the number of rows that hold it."""
    level = np.minimum(impacts / _TOP * _LEVELS, _LEVELS - 1).astype(np.uint32)
    code = (rows > 1).astype(np.uint32)
    return (hashes << np.uint32(3) | level << np.uint32(1) | code).view(np.int32)


def keys_of(term: bytes) -> list[TermKey]:
    """Return all keys that a term may have."""
    base = int(hash_terms([term])[0])
    numbers = np.arange(8, dtype=np.uint32) | np.uint32(base << 3)
    keys: list[int] = numbers.view(np.int32).tolist()
    # The middle of a level stands for all of it.
    return [TermKey(key, (at // 2 + 0.5) / _LEVELS * _TOP, _ROWS[at % 2]) for at, key in enumerate(keys)]


def row_impacts(
    text: NDArray[np.float64], symbol: NDArray[np.float64], words: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return BM25F's saturated frequencies of a term in rows of some lengths, without its idf."""
    norm = 1 - ROW_WEIGHTS.b + ROW_WEIGHTS.b * words / MEAN_WORDS
    return saturate(ROW_WEIGHTS.text * text / norm + ROW_WEIGHTS.symbol * symbol)


def path_keys(stem: Sequence[bytes], folder: Sequence[bytes]) -> list[int]:
    """Return the keys of the words of a path: those of the file's name are odd."""
    odd = (hash_terms(stem).astype(np.int64) << 1) | 1  # below 2^30
    return sorted({*odd.tolist(), *(hash_terms(folder).astype(np.int64) << 1).tolist()})
