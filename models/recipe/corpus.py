"""What is kept of all pairs: each code once, no question that many answers share, whole packages held out."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

from models.recipe.packages import family
from models.recipe.pairs import Pair

HELD_OUT_PERCENT: Final = 7
MAX_REPEATS: Final = 4
"""How often one question may stand in the whole corpus: more often it is boilerplate (`Constructor.`)."""

MAX_REPEATS_IN_PACKAGE: Final = 2
MIN_INK: Final = 50


def is_held_out(package: str) -> bool:
    """Whether a package serves to measure and not to train, by its family's name alone: siblings go together."""
    return int(hashlib.sha256(family(package).encode()).hexdigest(), 16) % 100 < HELD_OUT_PERCENT


class Corpus:
    """Remembers what was taken. Packages that come first keep what later ones repeat, so held-out ones come first."""

    def __init__(self, forbidden: frozenset[str] = frozenset()) -> None:
        self._codes = set(forbidden)
        self._questions: Counter[str] = Counter()

    def take(self, pairs: Iterable[Pair]) -> Iterator[Pair]:
        """The pairs of one package that are new."""
        own: Counter[str] = Counter()
        for pair in sorted(pairs, key=_worth):
            question = pair.question.lower()
            repeats = self._questions[question] >= MAX_REPEATS or own[question] >= MAX_REPEATS_IN_PACKAGE
            if repeats or len("".join(pair.code.split())) < MIN_INK or not self._is_new(pair):
                continue
            own[question] += 1
            self._questions[question] += 1
            yield pair

    def _is_new(self, pair: Pair) -> bool:
        """A mention is a second question to code that has one already."""
        key = f"{pair.digest}/mention" if pair.kind == "mention" else pair.digest
        if key in self._codes or (pair.kind == "mention" and pair.digest not in self._codes):
            return False
        self._codes.add(key)
        return True


def _worth(pair: Pair) -> int:
    """Documentation is the better question where two pairs share a code; mentions come after what they mention."""
    return {"doc": 0, "class": 0, "name": 2, "mention": 3}.get(pair.kind, 1)
