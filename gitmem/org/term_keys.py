"""Hashes of terms and the codes that the server keeps with them: how much a term matters in a blob.

    code = impact (2 bits), rows (1 bit)

With the impact in a posting, a lookup knows how much a term adds to the score of a blob before any row is read.
"""

# Impact-ordered postings (Anh, de Kretser and Moffat 2001): the weights of a term in its documents are quantised. Four
# levels are enough, because the candidates are scored again exactly. The impact of a blob is that of its best row, an
# upper bound for every row as in block-max indexes (Ding and Suel 2011).

import zlib
from collections.abc import Sequence
from typing import Final

import numpy as np

from gitmem.arrays import NDArray
from gitmem.named_tuple import NamedTuple
from gitmem.search.lexical import K1, ROW_WEIGHTS, saturate

MEAN_WORDS: Final = 100.0
"""Words of a typical row. Codes must be the same whoever publishes a blob, so the mean of no tree can be used."""

TOP: Final = K1 + 1
"""Highest impact: the limit of the saturation."""

_LEVELS: Final = 4
_ROWS: Final = (1.0, 3.0)
"""Numbers of rows that the two codes stand for: 1, and more."""

# The middle of a level stands for all of it.
CODE_IMPACTS: Final = tuple((code // 2 + 0.5) / _LEVELS * TOP for code in range(2 * _LEVELS))
CODE_ROWS: Final = tuple(_ROWS[code % 2] for code in range(2 * _LEVELS))

_PATH_HASH: Final = (1 << 29) - 1


class TermCodes(NamedTuple):
    """Terms of a blob: the sorted hashes, and the code of each."""

    hashes: NDArray[np.uint32]
    codes: NDArray[np.uint8]


def hash_terms(terms: Sequence[bytes]) -> NDArray[np.uint32]:
    """Return the hashes of some terms."""
    return np.fromiter(map(zlib.crc32, terms), np.uint32, len(terms))


def pack_codes(impacts: NDArray[np.float64], rows: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Return the codes of terms in a blob, given the impact of each and the number of rows that hold it."""
    level = np.minimum(impacts / TOP * _LEVELS, _LEVELS - 1).astype(np.uint8)
    return level << np.uint8(1) | (rows > 1).astype(np.uint8)


def row_impacts(
    text: NDArray[np.float64], symbol: NDArray[np.float64], words: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return BM25F's saturated frequencies of a term in rows of some lengths, without its idf."""
    norm = 1 - ROW_WEIGHTS.b + ROW_WEIGHTS.b * words / MEAN_WORDS
    return saturate(ROW_WEIGHTS.text * text / norm + ROW_WEIGHTS.symbol * symbol)


def path_hashes(terms: Sequence[bytes]) -> NDArray[np.int64]:
    """Return the hashes of words of paths, below 2^29: a bit is left for the part of the path."""
    return hash_terms(terms).astype(np.int64) & _PATH_HASH


def path_keys(stem: Sequence[bytes], folder: Sequence[bytes]) -> list[int]:
    """Return the keys of the words of a path: those of the file's name are odd."""
    return sorted({*(path_hashes(stem) << 1 | 1).tolist(), *(path_hashes(folder) << 1).tolist()})
