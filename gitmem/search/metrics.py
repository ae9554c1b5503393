"""Quality of a ranked list against its expected targets, and the gain of one ranking over another. Pure."""

import math
from collections.abc import Sequence
from typing import Final

from gitmem.named_tuple import NamedTuple

CUTOFF: Final = 10
"""Number of results that count: the 10 of NDCG@10."""


class Quality(NamedTuple):
    """NDCG@10 and recall@10, of one query or on average."""

    ndcg: float
    recall: float


class Gain(NamedTuple):
    """Gain in NDCG of one ranking over another for the same queries.

    `mean` and `error` are the mean difference and its standard error, `better` and `worse` numbers of queries.
    """

    mean: float
    error: float
    better: int
    worse: int

    @property
    def is_clear(self) -> bool:
        """Return whether the mean exceeds its standard error; a smaller gain is likely chance."""
        return self.mean > self.error


def evaluate_ranking(matched_targets: Sequence[frozenset[int]], targets: int) -> Quality:
    """Score a list of results, best first, each given by the numbers of the targets it matches.

    NDCG with binary gain (Järvelin and Kekäläinen 2002): a result gains 1 / log2(rank + 1) if it is the first to match
    some target. The sum is divided by that of an ideal list, which begins with one result per target.
    """
    covered: set[int] = set()
    gain = 0.0
    for rank, numbers in enumerate(matched_targets[:CUTOFF], 1):
        if numbers - covered:
            gain += 1 / math.log2(rank + 1)
            covered |= numbers
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, min(CUTOFF, targets) + 1))
    return Quality(gain / ideal, len(covered) / targets)


def average(qualities: Sequence[Quality]) -> Quality:
    """Return the mean over queries; zeros if there are none."""
    count = len(qualities) or 1
    return Quality(sum(one.ndcg for one in qualities) / count, sum(one.recall for one in qualities) / count)


def compare(new: Sequence[Quality], old: Sequence[Quality]) -> Gain:
    """Return the paired difference in NDCG; both lists hold the same queries in the same order."""
    # Paired, because queries differ far more in difficulty than two rankings do on one query.
    differences = [one.ndcg - other.ndcg for one, other in zip(new, old, strict=True)]
    count = len(differences)
    mean = sum(differences) / count if count else 0.0
    variance = sum((value - mean) ** 2 for value in differences) / (count - 1) if count > 1 else 0.0
    better, worse = sum(value > 0 for value in differences), sum(value < 0 for value in differences)
    return Gain(mean, math.sqrt(variance / count) if count else 0.0, better, worse)
