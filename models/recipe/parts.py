"""What word pieces have in common: the stem, and runs of characters. Rare pieces learn from the frequent ones so."""

import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from models.recipe.bags import Bags, make_bags
from models.recipe.tokenizer import CONTINUES

GRAM_BUCKETS: Final = 30_000
_GRAM_SIZES: Final = (4, 5)
_LEAST: Final = 4
"""Shorter pieces are their own stem and have no n-grams."""


def number_stems(pieces: Sequence[str], stem: Callable[[str], str]) -> NDArray[np.int64]:
    """The number of each piece's stem, int64 [pieces], in order of appearance; `##` makes no difference."""
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(_stem(piece, stem), len(numbers)) for piece in pieces])


def _stem(piece: str, stem: Callable[[str], str]) -> str:
    word = piece.removeprefix(CONTINUES)
    return stem(word) if word.isascii() and word.isalpha() and len(word) >= _LEAST else word


def hash_grams(pieces: Sequence[str]) -> Bags:
    """The character n-grams of each piece, hashed to `GRAM_BUCKETS`; `<` and `>` stand for the ends of a word."""
    return make_bags(_grams(piece) for piece in pieces)


def _grams(piece: str) -> Iterator[int]:
    word = piece.removeprefix(CONTINUES)
    if not word.isalpha() or len(word) < _LEAST:
        return
    text = f"{'<' if word == piece else ''}{word}>"
    for size in _GRAM_SIZES:
        for start in range(len(text) - size + 1):
            yield zlib.crc32(text[start : start + size].encode()) % GRAM_BUCKETS
