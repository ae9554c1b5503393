"""Convert many bags of identifiers to arrays of (bag, id, count), without a Python step for each word of each text.

Each distinct identifier is looked up once. numpy then expands it to its ids (terms or word pieces) in every bag and
sums the counts. As in a sparse matrix, the ids of all identifiers are in one array, with the start and the number of
ids of each.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Counts(NamedTuple):
    """Sparse counts: `ids[i]` occurs `counts[i]` times in bag `bags[i]`. Sorted by bag, then id, without duplicates."""

    bags: NDArray[np.int64]
    ids: NDArray[np.int64]
    counts: NDArray[np.int64]


def distinct_identifiers(texts: Iterable[Mapping[str, int]]) -> list[str]:
    """Return the identifiers of all bags without duplicates, in order of their first occurrence."""
    return list(dict.fromkeys(chain.from_iterable(texts)))


def count_ids(texts: Sequence[Mapping[str, int]], ids_by_identifier: Mapping[str, Sequence[int]]) -> Counts:
    """Replace the identifiers of each bag (identifier to count) by their ids, and sum the counts of equal ids.

    `ids_by_identifier` has the ids of every distinct identifier.
    """
    numbers = {identifier: number for number, identifier in enumerate(ids_by_identifier)}
    words: list[int] = []
    times: list[int] = []
    for text in texts:
        words += [numbers[identifier] for identifier in text]
        times += text.values()
    ids_by_word = list(ids_by_identifier.values())
    sizes = np.fromiter(map(len, ids_by_word), np.int64, len(ids_by_word))
    ids = np.fromiter(chain.from_iterable(ids_by_word), np.int64, int(sizes.sum()))
    bags = np.repeat(np.arange(len(texts)), np.fromiter(map(len, texts), np.int64, len(texts)))
    return _sum(*_expand(np.array(words, np.int64), np.array(times, np.int64), bags, sizes, ids))


def _expand(
    words: NDArray[np.int64],
    times: NDArray[np.int64],
    bags: NDArray[np.int64],
    sizes: NDArray[np.int64],
    ids: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return one entry for each id of each word: its bag, the id, and the count of the word.

    `words`, `times` and `bags` have one entry for each word of each bag, `sizes` one for each distinct word.
    """
    starts = np.cumsum(sizes) - sizes
    each = sizes[words]
    # Numbers each id within its word: 0, 1, 0, 0, 1, 2 for words of two, one and three ids.
    within = np.arange(int(each.sum())) - np.repeat(np.cumsum(each) - each, each)
    return np.repeat(bags, each), ids[np.repeat(starts[words], each) + within], np.repeat(times, each)


def _sum(bags: NDArray[np.int64], ids: NDArray[np.int64], times: NDArray[np.int64]) -> Counts:
    """Sum the entries of equal bag and id: sort by one combined key, then reduce each stretch of equal keys."""
    if not len(ids):
        return Counts(bags, ids, times)
    width = int(ids.max()) + 1
    pairs = bags * width + ids
    order = np.argsort(pairs, kind="stable")
    pairs = pairs[order]
    first = np.flatnonzero(np.concatenate([[True], pairs[1:] != pairs[:-1]]))
    return Counts(pairs[first] // width, pairs[first] % width, np.add.reduceat(times[order], first))
