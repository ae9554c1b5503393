"""How good a ranked list is against the targets it should hold, and how much better one way of ranking is. Pure."""

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

CUTOFF: Final = 10
"""Results that are looked at."""


class Quality(NamedTuple):
    """NDCG@10 and recall@10, of a question or on average."""

    ndcg: float
    recall: float


class Gain(NamedTuple):
    """What one ranking is worth over another on the same questions: mean difference, its standard error, and how many
    questions it answers better and worse."""

    mean: float
    error: float
    better: int
    worse: int

    @property
    def is_clear(self) -> bool:
        """Whether it is more than its standard error: less is likely to be chance."""
        return self.mean > self.error


def evaluate_ranking(met: Sequence[frozenset[int]], targets: int) -> Quality:
    """Score a list of results, best first, each with the numbers of the targets it meets.

    Binary gain (Järvelin and Kekäläinen 2002): a result counts where it is the first to meet a target, discounted by
    log2(rank + 1), over the same sum of a list that begins with all targets.
    """
    seen: set[int] = set()
    gained = 0.0
    for rank, numbers in enumerate(met[:CUTOFF], 1):
        if numbers - seen:
            gained += 1 / math.log2(rank + 1)
            seen |= numbers
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, min(CUTOFF, targets) + 1))
    return Quality(gained / ideal, len(seen) / targets)


def average(qualities: Sequence[Quality]) -> Quality:
    """The mean over questions; zeros where there are none."""
    count = len(qualities) or 1
    return Quality(sum(one.ndcg for one in qualities) / count, sum(one.recall for one in qualities) / count)


def compare(new: Sequence[Quality], old: Sequence[Quality]) -> Gain:
    """The paired difference in NDCG; both lists answer the same questions in the same order."""
    differences = [one.ndcg - other.ndcg for one, other in zip(new, old, strict=True)]
    count = len(differences)
    mean = sum(differences) / count if count else 0.0
    variance = sum((value - mean) ** 2 for value in differences) / (count - 1) if count > 1 else 0.0
    better, worse = sum(value > 0 for value in differences), sum(value < 0 for value in differences)
    return Gain(mean, math.sqrt(variance / count) if count else 0.0, better, worse)
