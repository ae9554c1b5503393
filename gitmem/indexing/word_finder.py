"""Find the identifiers of the chunks of a blob as arrays of numbers, with one pass over the blob.

Chunks overlap, and a blob has many of them, so searching each chunk would read the text more often and run a Python
step for each word. ASCII chunks give the words that `gitmem.words.find_identifiers` finds; all others are left to it.
"""

from collections.abc import Sequence
from itertools import chain
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gitmem.identifier_counts import Identifiers
from gitmem.types import Chunk
from gitmem.words import find_identifiers

_SPACE: Final = 32
_WORD_BYTES: Final = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_")
_SHAPE: Final = bytes(code if code in _WORD_BYTES else _SPACE for code in range(256))
"""Translation of all bytes that belong to no ASCII identifier to blanks."""

Numbers = NDArray[np.int64]


def find_words(content: bytes, chunks: Sequence[Chunk], identifiers: Identifiers) -> tuple[Numbers, Numbers]:
    """Return for each occurrence of an identifier in the own text of a chunk the position of the chunk and its number.

    The occurrences are in no particular order.
    """
    parts = np.array(list(chain.from_iterable([chunk.parts for chunk in chunks])), np.int64).reshape(-1, 2)
    owners = np.repeat(np.arange(len(chunks)), [len(chunk.parts) for chunk in chunks])
    shaped = content.translate(_SHAPE)
    inside = np.zeros(len(content) + 2, np.bool_)  # with a blank before and after the text
    np.not_equal(np.frombuffer(shaped, np.uint8), _SPACE, out=inside[1:-1])
    others = set(owners[_are_cut(inside, parts)].tolist())
    if not content.isascii():
        others.update(place for place, chunk in enumerate(chunks) if not _is_ascii(content, chunk))
    starts = np.flatnonzero(inside[1:-1] & ~inside[:-2])
    numbers = np.fromiter(map(identifiers.__getitem__, shaped.split()), np.int64, len(starts))
    first, last = np.searchsorted(starts, parts[:, 0]), np.searchsorted(starts, parts[:, 1])
    sizes = last - first
    if others:
        sizes[np.isin(owners, list(others))] = 0
    # Positions of all occurrences: for each part a range from its first word on.
    occurrences = np.arange(int(sizes.sum())) + np.repeat(first - (np.cumsum(sizes) - sizes), sizes)
    found = [np.repeat(owners, sizes)], [numbers[occurrences]]
    for place in sorted(others):
        words = [identifiers[word] for word in _decoded_words(content, chunks[place])]
        found[0].append(np.full(len(words), place, np.int64))
        found[1].append(np.array(words, np.int64))
    return np.concatenate(found[0]), np.concatenate(found[1])


def _are_cut(inside: NDArray[np.bool_], parts: Numbers) -> NDArray[np.bool_]:
    """Return which parts begin or end in the middle of a word, as windows of very long lines do."""
    start, end = parts[:, 0] + 1, parts[:, 1] + 1
    return (inside[start] & inside[start - 1]) | (inside[end] & inside[end - 1])


def _is_ascii(content: bytes, chunk: Chunk) -> bool:
    return all(content[start:end].isascii() for start, end in chunk.parts)


def _decoded_words(content: bytes, chunk: Chunk) -> list[bytes]:
    encoding = encoding_of(content)
    text = "\n".join(content[start:end].decode(encoding, "replace") for start, end in chunk.parts)
    return [word.encode("utf-8") for word in find_identifiers(text)]


def encoding_of(content: bytes) -> str:
    """Return utf-8 if the content is valid UTF-8, else latin-1, which decodes anything."""
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return "latin-1"
    return "utf-8"
