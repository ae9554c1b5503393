"""Many bags of identifiers to arrays of (bag, id, count), without a Python step for every word of every text.

Each different identifier is looked up once; what it stands for (terms, word pieces) is then spread and summed by numpy.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Counts(NamedTuple):
    """`ids[i]` stands `counts[i]` times in bag `bags[i]`; sorted by bag, then id, each pair once."""

    bags: NDArray[np.int64]
    ids: NDArray[np.int64]
    counts: NDArray[np.int64]


def count_ids(texts: Sequence[Mapping[str, int]], ids_of: Callable[[str], Sequence[int]]) -> Counts:
    """Replace the identifiers of each bag (identifier to count) by the ids they stand for, and sum."""
    numbers: dict[str, int] = {}
    words: list[int] = []
    times: list[int] = []
    for text in texts:
        words += [numbers.setdefault(identifier, len(numbers)) for identifier in text]
        times += text.values()
    known = [ids_of(identifier) for identifier in numbers]
    sizes = np.fromiter(map(len, known), np.int64, len(known))
    ids = np.fromiter(chain.from_iterable(known), np.int64, int(sizes.sum()))
    bags = np.repeat(np.arange(len(texts)), np.fromiter(map(len, texts), np.int64, len(texts)))
    return _sum(*_spread(np.array(words, np.int64), np.array(times, np.int64), bags, sizes, ids))


def _spread(
    words: NDArray[np.int64],
    times: NDArray[np.int64],
    bags: NDArray[np.int64],
    sizes: NDArray[np.int64],
    ids: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """One entry for every id of every word: its bag, the id, the word's count."""
    starts = np.cumsum(sizes) - sizes
    each = sizes[words]
    within = np.arange(int(each.sum())) - np.repeat(np.cumsum(each) - each, each)
    return np.repeat(bags, each), ids[np.repeat(starts[words], each) + within], np.repeat(times, each)


def _sum(bags: NDArray[np.int64], ids: NDArray[np.int64], times: NDArray[np.int64]) -> Counts:
    if not len(ids):
        return Counts(bags, ids, times)
    width = int(ids.max()) + 1
    pairs = bags * width + ids
    order = np.argsort(pairs, kind="stable")
    pairs = pairs[order]
    first = np.flatnonzero(np.concatenate([[True], pairs[1:] != pairs[:-1]]))
    return Counts(pairs[first] // width, pairs[first] % width, np.add.reduceat(times[order], first))
