"""Select pairs: each code once, no query with many answers. Some packages are held out as a whole."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

from models.recipe.packages import family
from models.recipe.pairs import Pair

HELD_OUT_PERCENT: Final = 7
MAX_REPEATS: Final = 4
"""Maximum number of pairs with the same query in the corpus. More frequent ones are boilerplate (`Constructor.`)."""

MAX_REPEATS_IN_PACKAGE: Final = 2
MIN_CODE: Final = 50
"""Minimum length of a code, white space excluded."""


def is_held_out(package: str) -> bool:
    """Return whether a package serves for measurement instead of training.

    This depends only on the name of its family, so that related packages stay together.
    """
    # A hash instead of a random draw: the split stays the same when packages are added.
    return int(hashlib.sha256(family(package).encode()).hexdigest(), 16) % 100 < HELD_OUT_PERCENT


class Corpus:
    """Removes duplicates across packages. The first package keeps a code, so held-out packages must come first."""

    def __init__(self, forbidden: frozenset[str] = frozenset()) -> None:
        self._codes = set(forbidden)
        self._queries: Counter[str] = Counter()

    def take(self, pairs: Iterable[Pair]) -> Iterator[Pair]:
        """Yield the pairs of one package that are new."""
        own: Counter[str] = Counter()
        for pair in sorted(pairs, key=_worth):
            query = pair.query.lower()
            repeats = self._queries[query] >= MAX_REPEATS or own[query] >= MAX_REPEATS_IN_PACKAGE
            if repeats or len("".join(pair.code.split())) < MIN_CODE or not self._is_new(pair):
                continue
            own[query] += 1
            self._queries[query] += 1
            yield pair

    def _is_new(self, pair: Pair) -> bool:
        """Return whether the code is new or, for a mention, already has another query."""
        key = f"{pair.digest}/mention" if pair.kind == "mention" else pair.digest
        if key in self._codes or (pair.kind == "mention" and pair.digest not in self._codes):
            return False
        self._codes.add(key)
        return True


def _worth(pair: Pair) -> int:
    """Return the sort key of a pair.

    If two pairs have the same code, documentation is the better query. Mentions follow the pairs that they mention.
    """
    return {"doc": 0, "class": 0, "name": 2, "mention": 3}.get(pair.kind, 1)
