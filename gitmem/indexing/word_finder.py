"""Find the identifiers of the rows of a batch as arrays of numbers, with one pass over the texts of all its blobs.

Chunks overlap, and a blob has many of them, so searching each chunk would read the text more often and run a Python
step for each word. ASCII rows give the words that `gitmem.words.find_identifiers` finds; all others are left to it.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate, chain
from typing import Final

import numpy as np

from gitmem.arrays import NDArray, is_among
from gitmem.identifier_counts import Identifiers
from gitmem.words import find_identifiers

_SPACE: Final = 32
_WORD_BYTES: Final = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_")
_SHAPE: Final = bytes(code if code in _WORD_BYTES else _SPACE for code in range(256))
"""Translation of all bytes that belong to no ASCII identifier to blanks."""

_FIRST_OTHER: Final = 128
"""First byte that is not ASCII."""

Numbers = NDArray[np.int64]
Spans = Sequence[tuple[int, int]]


def find_words(
    contents: Sequence[bytes], rows: Sequence[Sequence[Spans]], identifiers: Identifiers
) -> tuple[Numbers, Numbers]:
    """Return the number of the row and that of the identifier for each occurrence of an identifier in a row.

    `rows` has for each content its rows, each with its spans of text. Rows are numbered through all contents. The
    occurrences are in no particular order.
    """
    joined = b"\n".join(contents)
    spans, owners = _join_spans(contents, rows)
    shaped = joined.translate(_SHAPE)
    inside = np.zeros(len(joined) + 2, np.bool_)  # with a blank before and after the text
    np.not_equal(np.frombuffer(shaped, np.uint8), _SPACE, out=inside[1:-1])
    others = sorted(set(owners[_are_cut(inside, spans) | _are_other(joined, spans)].tolist()))
    starts = np.flatnonzero(inside[1:-1] & ~inside[:-2])
    numbers = np.fromiter(map(identifiers.__getitem__, shaped.split()), np.int64, len(starts))
    first, last = np.searchsorted(starts, spans[:, 0]), np.searchsorted(starts, spans[:, 1])
    sizes = last - first
    if others:
        sizes[is_among(owners, others)] = 0
    # Positions of all occurrences: for each span a range from its first word on.
    occurrences = np.arange(int(sizes.sum())) + np.repeat(first - (np.cumsum(sizes) - sizes), sizes)
    found = [np.repeat(owners, sizes)], [numbers[occurrences]]
    for row, words in zip(others, _find_others(contents, rows, others), strict=True):
        found[0].append(np.full(len(words), row, np.int64))
        found[1].append(np.fromiter((identifiers[word] for word in words), np.int64, len(words)))
    return np.concatenate(found[0]), np.concatenate(found[1])


def _join_spans(contents: Sequence[bytes], rows: Sequence[Sequence[Spans]]) -> tuple[Numbers, Numbers]:
    """Return all spans as offsets in the joined contents, [spans, 2], and the number of the row of each."""
    own = [spans for of_content in rows for spans in of_content]
    sizes = np.fromiter(map(len, own), np.int64, len(own))
    offsets = np.fromiter(chain.from_iterable(chain.from_iterable(own)), np.int64, 2 * int(sizes.sum()))
    bases = np.array(list(accumulate((len(content) + 1 for content in contents), initial=0)), np.int64)
    base_of_row = np.repeat(bases[:-1], [len(of_content) for of_content in rows])
    return offsets.reshape(-1, 2) + np.repeat(base_of_row, sizes)[:, None], np.repeat(np.arange(len(own)), sizes)


def _are_cut(inside: NDArray[np.bool_], spans: Numbers) -> NDArray[np.bool_]:
    """Return which spans begin or end in the middle of a word, as windows of very long lines do."""
    start, end = spans[:, 0] + 1, spans[:, 1] + 1
    return (inside[start] & inside[start - 1]) | (inside[end] & inside[end - 1])


def _are_other(joined: bytes, spans: Numbers) -> NDArray[np.bool_]:
    """Return which spans contain bytes that are not ASCII."""
    if joined.isascii():
        return np.zeros(len(spans), np.bool_)
    others = np.flatnonzero(np.frombuffer(joined, np.uint8) >= _FIRST_OTHER)
    has_other: NDArray[np.bool_] = np.searchsorted(others, spans[:, 0]) < np.searchsorted(others, spans[:, 1])
    return has_other


def _find_others(
    contents: Sequence[bytes], rows: Sequence[Sequence[Spans]], others: Sequence[int]
) -> Iterator[list[bytes]]:
    """Yield the words of each of some rows, ascending, as the decoded text has them."""
    first_rows = list(accumulate(map(len, rows), initial=0))
    place, encoding = -1, ""
    for row in others:
        number = bisect_right(first_rows, row) - 1
        content = contents[number]
        if number != place:
            place, encoding = number, encoding_of(content)
        spans = rows[number][row - first_rows[number]]
        text = "\n".join(content[start:end].decode(encoding, "replace") for start, end in spans)
        yield [word.encode("utf-8") for word in find_identifiers(text)]


def encoding_of(content: bytes) -> str:
    """Return utf-8 if the content is valid UTF-8, else latin-1, which decodes anything."""
    if content.isascii():
        return "utf-8"
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return "latin-1"
    return "utf-8"
