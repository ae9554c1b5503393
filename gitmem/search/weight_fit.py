"""Fusion weights for a repository: the best of a grid around the default ones. Pure."""

from collections.abc import Callable, Iterable, Sequence
from itertools import product
from typing import Final, NamedTuple

from gitmem.search.fuse import FusionWeights
from gitmem.search.metrics import Gain, Quality, average, compare
from gitmem.search.replay import JudgedRetrieval, measure_quality

FACTORS: Final = (0.25, 0.5, 0.7, 1.0, 1.4, 2.0, 4.0)
"""What each default weight is multiplied by. Finer steps find no more on halves of a hundred questions."""


class Fit(NamedTuple):
    """Weights that were best on one half of the questions, and what both halves say of them.

    `fitted` and `held_out` are the gains over the default weights, `before` and `after` the held-out averages.
    """

    weights: FusionWeights
    fitted: Gain
    held_out: Gain
    before: Quality
    after: Quality

    @property
    def is_better(self) -> bool:
        """Whether the held-out half clearly gains."""
        return self.held_out.is_clear


def fit(
    trials: Sequence[JudgedRetrieval],
    held_out: Sequence[JudgedRetrieval],
    default: FusionWeights,
    report: Callable[[int, int], None] = lambda _done, _total: None,
) -> Fit:
    """Try every pair of the grid on one half of the questions, and the best pair on the other.

    Of equally good pairs the one nearest to the default is taken, and the default itself where none clearly gains on
    the first half: the best of many by chance would be held to be good by chance, too.
    """
    tried: dict[FusionWeights, list[Quality]] = {}
    for done, weights in enumerate(_grid(default), 1):
        tried[weights] = [measure_quality(trial, weights) for trial in trials]
        report(done, len(FACTORS) ** 2)
    best = max(tried, key=lambda weights: average(tried[weights]).ndcg)
    best = best if compare(tried[best], tried[default]).is_clear else default
    before = [measure_quality(trial, default) for trial in held_out]
    after = [measure_quality(trial, best) for trial in held_out]
    return Fit(best, compare(tried[best], tried[default]), compare(after, before), average(before), average(after))


def _grid(default: FusionWeights) -> Iterable[FusionWeights]:
    """All pairs, those nearest to the default first."""
    steps = range(len(FACTORS))
    middle = FACTORS.index(1.0)
    pairs = sorted(product(steps, steps), key=lambda pair: (abs(pair[0] - middle) + abs(pair[1] - middle), pair))
    return (
        FusionWeights(round(default.semantic * FACTORS[one], 4), round(default.lexical * FACTORS[other], 4))
        for one, other in pairs
    )
