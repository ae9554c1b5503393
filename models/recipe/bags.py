"""Texts as bags of word pieces: the distinct pieces of each text with their counts, in flat arrays."""

import hashlib
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from models.recipe.records import Record

MAX_TOKENS: Final = 300
MAX_QUERY: Final = 64
MAX_NAME: Final = 12
_BATCH: Final = 4000
_Item = TypeVar("_Item")


class Weighted(NamedTuple):
    """Bags ready to be summed: `ids` int64 [n], `weights` float32 [n] (1 + ln(count)), `offsets` int64 [bags]."""

    ids: NDArray[np.int64]
    weights: NDArray[np.float32]
    offsets: NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Bags:
    """Bags in one array: bag i is `ids[starts[i]:starts[i + 1]]` (int32) with `counts` (uint16)."""

    ids: NDArray[np.int32]
    counts: NDArray[np.uint16]
    starts: NDArray[np.int64]

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Number of distinct pieces of each bag, int64 [bags]."""
        return np.diff(self.starts)

    def take(self, bags: NDArray[np.int64]) -> Weighted:
        """Return the bags at these positions, in this order."""
        places, offsets = self.places_of(bags)
        weights = (1 + np.log(self.counts[places])).astype(np.float32)
        return Weighted(self.ids[places].astype(np.int64), weights, offsets)

    def places_of(self, bags: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the positions of the bags' entries in the flat arrays, and the start of each bag among them."""
        # Expands ranges to positions without a loop: repeat each start, then add a running number that restarts per
        # bag.
        starts = self.starts[bags]
        sizes = self.starts[bags + 1] - starts
        offsets = np.cumsum(sizes) - sizes
        return np.repeat(starts - offsets, sizes) + np.arange(int(sizes.sum())), offsets


def join(parts: Sequence[Weighted]) -> Weighted:
    """Concatenate bags."""
    sizes = np.array([len(part.ids) for part in parts])
    shifts = np.cumsum(sizes) - sizes
    offsets = [part.offsets + shift for part, shift in zip(parts, shifts, strict=True)]
    ids, weights = (np.concatenate([part[field] for part in parts]) for field in (0, 1))
    return Weighted(ids, weights, np.concatenate(offsets))


class _BagsBuilder:
    """Builder of bags. Arrays of machine integers take a tenth of the memory of lists."""

    def __init__(self) -> None:
        self._ids, self._counts, self._starts = array("i"), array("H"), array("q", [0])

    def add(self, ids: Iterable[int]) -> None:
        bag = Counter(ids)
        self._ids.extend(bag)
        self._counts.extend(bag.values())
        self._starts.append(len(self._ids))

    def finish(self) -> Bags:
        return Bags(np.array(self._ids), np.array(self._counts), np.array(self._starts))


def make_bags(lists: Iterable[Iterable[int]]) -> Bags:
    """Return lists of piece ids as bags."""
    builder = _BagsBuilder()
    for ids in lists:
        builder.add(ids)
    return builder.finish()


def bags_of_texts(tokenizer: Tokenizer, texts: Iterable[str]) -> Bags:
    """Tokenise texts, each cut at `MAX_TOKENS` pieces."""
    return make_bags(ids[:MAX_TOKENS] for some in _batched(texts, _BATCH) for ids in _encode(tokenizer, some))


@dataclass(frozen=True, slots=True, eq=False)
class Corpus:
    """All pairs as bags, with one entry of each field for each pair.

    - `named` is the code with its qualified name in front, `name` the name alone, and `masked` the code without the
      pieces of its name.
    - `package` int64 numbers the packages in order of appearance.
    - Pairs with the same `query_key` int64 have the same query.
    """

    query: Bags
    code: Bags
    named: Bags
    name: Bags
    masked: Bags
    package: NDArray[np.int64]
    query_key: NDArray[np.int64]


def encode_records(tokenizer: Tokenizer, records: Iterable[Record]) -> Corpus:
    """Tokenise the pairs."""
    query, code, named, name, masked = (_BagsBuilder() for _ in range(5))
    numbers: dict[str, int] = {}
    packages, keys = array("q"), array("q")
    for some in _batched(records, _BATCH):
        queries = _encode(tokenizer, [record.query for record in some])
        codes = _encode(tokenizer, [record.code for record in some])
        names = _encode(tokenizer, [record.name.rpartition("/")[2] for record in some])
        for query_ids, code_ids, name_ids in zip(queries, codes, names, strict=True):
            # The name comes first, so that it stays when the code is cut.
            own = set(name_ids)
            query.add(query_ids[:MAX_QUERY])
            code.add(code_ids[:MAX_TOKENS])
            named.add((name_ids[:MAX_NAME] + code_ids)[:MAX_TOKENS])
            name.add(name_ids[:MAX_NAME])
            masked.add(piece for piece in code_ids[:MAX_TOKENS] if piece not in own)
        packages.extend(numbers.setdefault(record.package, len(numbers)) for record in some)
        keys.extend(_key(record.query) for record in some)
    return Corpus(
        query.finish(),
        code.finish(),
        named.finish(),
        name.finish(),
        masked.finish(),
        np.array(packages),
        np.array(keys),
    )


def _encode(tokenizer: Tokenizer, texts: list[str]) -> list[list[int]]:
    return [encoded.ids for encoded in tokenizer.encode_batch(texts, add_special_tokens=False)]


def _key(query: str) -> int:
    # Seven bytes fit into a non-negative int64, which leaves negative keys for names.
    return int.from_bytes(hashlib.sha256(query.lower().encode()).digest()[:7])


def _batched(items: Iterable[_Item], size: int) -> Iterator[list[_Item]]:
    iterator = iter(items)
    while some := list(islice(iterator, size)):
        yield some
