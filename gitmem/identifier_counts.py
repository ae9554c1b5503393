"""Convert many texts to arrays of (text, id, count), without a Python step for each word of each text.

Each identifier has a number for as long as a process indexes, and its ids (terms or word pieces) are looked up once.
numpy then expands the identifiers of all texts to their ids and sums the counts. As in a sparse matrix, the ids of all
identifiers are in one array, with the start and the number of ids of each.
"""

from array import array
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gitmem.words import Text

Numbers = NDArray[np.int64]


class Counts(NamedTuple):
    """Sparse counts: `ids[i]` occurs `counts[i]` times in bag `bags[i]`. Sorted by bag, then id, without duplicates."""

    bags: Numbers
    ids: Numbers
    counts: Numbers


class Identifiers(dict[bytes, int]):
    """Numbers of identifiers, which are UTF-8. Looking up an unknown one numbers it."""

    def __init__(self) -> None:
        self.names: list[bytes] = []
        """Identifiers by their number."""

    def __missing__(self, identifier: bytes) -> int:
        number = self[identifier] = len(self.names)
        self.names.append(identifier)
        return number


class Bags(NamedTuple):
    """Identifiers of `size` texts, by their numbers in `identifiers`. Several counts of one in a text are added up."""

    identifiers: Identifiers
    size: int
    counts: Counts


def count_occurrences(bags: Numbers, numbers: Numbers) -> Counts:
    """Count identifiers. `numbers` has one entry for each occurrence, and `bags` the text that it is in."""
    return _sum(bags, numbers, np.ones(len(numbers), np.int64))


def bag_texts(texts: Sequence[Text]) -> Bags:
    """Return the identifiers of texts that were counted one by one."""
    identifiers = Identifiers()
    words = [identifiers[word.encode("utf-8", "replace")] for text in texts for word in text.identifiers]
    times = [count for text in texts for count in text.identifiers.values()]
    bags = np.repeat(np.arange(len(texts)), np.array([len(text.identifiers) for text in texts], np.int64))
    return Bags(identifiers, len(texts), _sum(bags, np.array(words, np.int64), np.array(times, np.int64)))


class IdTable:
    """Ids of every identifier that was looked up so far. `ids_of` returns those of one."""

    def __init__(self, ids_of: Callable[[str], Iterable[int]]) -> None:
        self._ids_of = ids_of
        self._identifiers: Identifiers | None = None
        self._sizes = self._ids = np.zeros(0, np.int64)

    def count(self, bags: Bags) -> Counts:
        """Replace the identifiers of texts by their ids, and sum the counts of equal ids."""
        self._extend(bags.identifiers)
        return _sum(*_expand(bags.counts, self._sizes, self._ids))

    def _extend(self, identifiers: Identifiers) -> None:
        """Look up the ids of identifiers that are new."""
        if identifiers is not self._identifiers:
            self._identifiers = identifiers
            self._sizes = self._ids = np.zeros(0, np.int64)
        new = identifiers.names[len(self._sizes) :]
        if not new:
            return
        ids_of = self._ids_of
        sizes, ids = array("q"), array("q")
        for name in new:
            before = len(ids)
            ids.extend(ids_of(name.decode("utf-8")))
            sizes.append(len(ids) - before)
        self._sizes = np.concatenate([self._sizes, np.array(sizes, np.int64)])
        self._ids = np.concatenate([self._ids, np.array(ids, np.int64)])


def _expand(words: Counts, sizes: Numbers, ids: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """Return one entry for each id of each word: its bag, the id, and the count of the word.

    `words` are the numbers of identifiers, and `sizes` the number of ids of each identifier.
    """
    starts = np.cumsum(sizes) - sizes
    each = sizes[words.ids]
    # Numbers each id within its word: 0, 1, 0, 0, 1, 2 for words of two, one and three ids.
    within = np.arange(int(each.sum())) - np.repeat(np.cumsum(each) - each, each)
    return np.repeat(words.bags, each), ids[np.repeat(starts[words.ids], each) + within], np.repeat(words.counts, each)


def _sum(bags: Numbers, ids: Numbers, times: Numbers) -> Counts:
    """Sum the entries of equal bag and id: sort by one combined key, then reduce each stretch of equal keys."""
    if not len(ids):
        return Counts(bags.astype(np.int64), ids.astype(np.int64), times.astype(np.int64))
    # Count and key share one number if they fit: sorting numbers is several times faster than sorting their positions.
    width, high = int(ids.max()) + 1, int(times.max()) + 1
    pairs = bags * width + ids
    if (int(bags.max()) + 1) * width * high < 1 << 62:
        pairs, times = np.divmod(np.sort(pairs * high + times), high)
    else:
        order = np.argsort(pairs, kind="stable")
        pairs, times = pairs[order], times[order]
    first = np.flatnonzero(np.concatenate([[True], pairs[1:] != pairs[:-1]]))
    return Counts(pairs[first] // width, pairs[first] % width, np.add.reduceat(times, first))
