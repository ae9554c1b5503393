"""Convert many texts to arrays of (text, id, count), without a Python step for each word of each text.

Each identifier has a number for as long as a process indexes, and its ids (terms or word pieces) are looked up once.
numpy then expands the identifiers of all texts to their ids and sums the counts. As in a sparse matrix, the ids of all
identifiers are in one array, with the start and the number of ids of each. New identifiers are divided into their parts
in one pass, because identifiers are many and their parts are few.
"""

import re
from array import array
from collections.abc import Callable, Iterable, Sequence
from typing import Final

import numpy as np

from gitmem.arrays import NDArray, differences
from gitmem.named_tuple import NamedTuple
from gitmem.words import ASCII_PART, MAX_IDENTIFIER, Text

_PART_OR_END: Final = f"{ASCII_PART}|\n"
_END: Final = -1
"""Stands for the end of an identifier among the numbers of parts."""

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

        self.parts = Parts()
        self._divided: tuple[int, Division] | None = None

    def __missing__(self, identifier: bytes) -> int:
        number = self[identifier] = len(self.names)
        self.names.append(identifier)
        return number

    def divide_from(self, first: int) -> "Division":
        """Return the parts of all identifiers from a number on. The last result is kept for a second caller."""
        if self._divided is None or self._divided[0] != first or len(self._divided[1].sizes) < len(self.names) - first:
            self._divided = first, self.parts.divide(self.names[first:])
        return self._divided[1]


class Parts(dict[str, int]):
    """Numbers of the parts of ASCII identifiers, whatever their case."""

    def __init__(self) -> None:
        self["\n"] = _END
        self.names: list[str] = []
        """Parts by their number, in lower case."""

    def __missing__(self, part: str) -> int:
        name = part.lower()
        if name == part or name not in self:
            self[name] = len(self.names)
            self.names.append(name)
        number = self[part] = self[name]
        return number

    def divide(self, identifiers: Sequence[bytes]) -> "Division":
        """Divide identifiers into their parts, with one search in all of them together."""
        lines = [name[:MAX_IDENTIFIER] if name.isascii() else b"" for name in identifiers]
        text = b"\n".join([*lines, b""]).decode("ascii")
        found = re.findall(_PART_OR_END, text)
        numbers = np.fromiter(map(self.__getitem__, found), np.int64, len(found))
        sizes = differences(np.concatenate([[-1], np.flatnonzero(numbers == _END)])) - 1
        others = [place for place, name in enumerate(identifiers) if not name.isascii()]
        return Division(text, sizes, numbers[numbers != _END], others)


class Division(NamedTuple):
    """Identifiers divided into parts.

    `text` has a line for each identifier, cut if it is long, and empty if it is not ASCII. `sizes` are the numbers of
    parts of each, and `parts` the numbers of all these in `Parts`. `others` are the places of those that are not ASCII.
    """

    text: str
    sizes: Numbers
    parts: Numbers
    others: list[int]


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


class Ids(NamedTuple):
    """Ids of identifiers: the number of ids of each, and the ids of the first, the second, and so on."""

    sizes: Numbers
    ids: Numbers


class IdTable:
    """Ids of every identifier that was looked up so far. `look_up` returns those of all from a number on."""

    def __init__(self, look_up: Callable[[Identifiers, int], Ids]) -> None:
        self._look_up = look_up
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
        if len(self._sizes) < len(identifiers.names):
            sizes, ids = self._look_up(identifiers, len(self._sizes))
            self._sizes = np.concatenate([self._sizes, sizes])
            self._ids = np.concatenate([self._ids, ids])


def one_by_one(ids_of: Callable[[str], Iterable[int]]) -> Callable[[Identifiers, int], Ids]:
    """Return a function that looks up each identifier by itself: the fastest way for a few."""
    return lambda identifiers, first: _ids_of_each(ids_of, (name.decode("utf-8") for name in identifiers.names[first:]))


class PartIds:
    """Ids of identifiers that follow from their parts. Each part is looked up once.

    `ids_of_part` returns the ids of a part, which is in lower case, and `ids_of_other` those of an identifier that is
    not ASCII.
    """

    def __init__(self, ids_of_part: Callable[[str], Iterable[int]], ids_of_other: Callable[[str], Iterable[int]]):
        self._ids_of_part = ids_of_part
        self._ids_of_other = ids_of_other
        self._parts: Parts | None = None
        self._known = Ids(np.zeros(0, np.int64), np.zeros(0, np.int64))

    def look_up(self, identifiers: Identifiers, first: int) -> Ids:
        """Return the ids of all identifiers from a number on, with repetitions."""
        return gather(*self.find(identifiers, first), len(identifiers.names) - first)

    def find(self, identifiers: Identifiers, first: int) -> tuple[Numbers, Numbers]:
        """Return pairs of identifier and id in no particular order; identifiers count from `first`."""
        division = identifiers.divide_from(first)
        sizes, ids = self._ids_of_parts(identifiers.parts)
        owners = np.repeat(np.arange(len(division.sizes)), division.sizes)
        ones = np.ones(len(owners), np.int64)
        owners, ids, _ = _expand(Counts(owners, division.parts, ones), sizes, ids)
        names = [identifiers.names[first + place].decode("utf-8") for place in division.others]
        others = _ids_of_each(self._ids_of_other, names)
        other_owners = np.repeat(np.array(division.others, np.int64), others.sizes)
        return np.concatenate([owners, other_owners]), np.concatenate([ids, others.ids])

    def _ids_of_parts(self, parts: Parts) -> Ids:
        if parts is not self._parts:
            self._parts = parts
            self._known = Ids(np.zeros(0, np.int64), np.zeros(0, np.int64))
        new = _ids_of_each(self._ids_of_part, parts.names[len(self._known.sizes) :])
        self._known = Ids(*(np.concatenate(pair) for pair in zip(self._known, new, strict=True)))
        return self._known


def gather(owners: Numbers, ids: Numbers, size: int) -> Ids:
    """Return the ids of `size` identifiers, given pairs of identifier and id in any order."""
    return Ids(np.bincount(owners, minlength=size), ids[np.argsort(owners, kind="stable")])


def _ids_of_each(ids_of: Callable[[str], Iterable[int]], names: Iterable[str]) -> Ids:
    sizes, ids = array("q"), array("q")
    for name in names:
        before = len(ids)
        ids.extend(ids_of(name))
        sizes.append(len(ids) - before)
    return Ids(np.array(sizes, np.int64), np.array(ids, np.int64))


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
