"""Find parts shared by word pieces: stems and character n-grams. Rare pieces learn from frequent ones through them.

The n-grams are those of fastText (Bojanowski et al. 2017), hashed to a fixed number of buckets.
"""

import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from models.recipe.bags import Bags, make_bags
from models.recipe.tokenizer import CONTINUATION

GRAM_BUCKETS: Final = 30_000
_GRAM_SIZES: Final = (4, 5)
_MIN_LENGTH: Final = 4
"""Shorter pieces are their own stem and have no n-grams."""


def number_stems(pieces: Sequence[str], stem: Callable[[str], str]) -> NDArray[np.int64]:
    """Return the number of each piece's stem, int64 [pieces], in order of appearance. `##` is ignored."""
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(_stem(piece, stem), len(numbers)) for piece in pieces])


def _stem(piece: str, stem: Callable[[str], str]) -> str:
    word = piece.removeprefix(CONTINUATION)
    return stem(word) if word.isascii() and word.isalpha() and len(word) >= _MIN_LENGTH else word


def hash_grams(pieces: Sequence[str]) -> Bags:
    """Return the character n-grams of each piece, hashed to `GRAM_BUCKETS`. `<` and `>` mark the ends of a word."""
    return make_bags(_grams(piece) for piece in pieces)


def _grams(piece: str) -> Iterator[int]:
    word = piece.removeprefix(CONTINUATION)
    if not word.isalpha() or len(word) < _MIN_LENGTH:
        return
    # A continuation has no start mark: its first letters are inside a word.
    text = f"{'<' if word == piece else ''}{word}>"
    for size in _GRAM_SIZES:
        for start in range(len(text) - size + 1):
            yield zlib.crc32(text[start : start + size].encode()) % GRAM_BUCKETS
