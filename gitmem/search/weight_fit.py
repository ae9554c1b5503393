"""Fit the fusion weights to a repository: a grid search around the default weights. Pure.

One half of the queries selects the weights, the other half tests them. With two weights the grid has only 49 points, so
all of them are tried.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import product
from typing import Final

from gitmem.named_tuple import NamedTuple
from gitmem.search.fuse import FusionWeights
from gitmem.search.metrics import Gain, Quality, average, compare
from gitmem.search.replay import JudgedRetrieval, measure_quality

FACTORS: Final = (0.25, 0.5, 0.7, 1.0, 1.4, 2.0, 4.0)
"""Factors on each default weight. Finer steps gain nothing on halves of a hundred queries."""


class WeightFit(NamedTuple):
    """Best weights on one half of the queries, and the measurements on both halves.

    `fitted` and `held_out` are gains over the default weights on the fitting and the held-out half. `before` and
    `after` are averages over the held-out half.
    """

    weights: FusionWeights
    fitted: Gain
    held_out: Gain
    before: Quality
    after: Quality

    @property
    def is_better(self) -> bool:
        """Return whether the held-out half clearly gains."""
        return self.held_out.is_clear


def fit_weights(
    fitting: Sequence[JudgedRetrieval],
    held_out: Sequence[JudgedRetrieval],
    default: FusionWeights,
    report: Callable[[int, int], None] = lambda _done, _total: None,
) -> WeightFit:
    """Measure every pair of the grid on one half of the queries, and the best pair on the held-out half.

    Of equally good pairs the nearest to the default wins. Without a clear gain on the first half the default stays:
    the best of many pairs is often best by chance, and would pass the second test by chance, too.
    """
    qualities: dict[FusionWeights, list[Quality]] = {}
    for done, weights in enumerate(_grid(default), 1):
        qualities[weights] = [measure_quality(judged, weights) for judged in fitting]
        report(done, len(FACTORS) ** 2)
    best = max(qualities, key=lambda weights: average(qualities[weights]).ndcg)  # the first of equals: the nearest
    best = best if compare(qualities[best], qualities[default]).is_clear else default
    before = [measure_quality(judged, default) for judged in held_out]
    after = [measure_quality(judged, best) for judged in held_out]
    gain = compare(qualities[best], qualities[default])
    return WeightFit(best, gain, compare(after, before), average(before), average(after))


def _grid(default: FusionWeights) -> Iterable[FusionWeights]:
    """Return all pairs of weights, those nearest to the default first."""
    steps = range(len(FACTORS))
    middle = FACTORS.index(1.0)
    # The distance counts steps of the grid in both directions.
    pairs = sorted(product(steps, steps), key=lambda pair: (abs(pair[0] - middle) + abs(pair[1] - middle), pair))
    return (
        FusionWeights(round(default.semantic * FACTORS[one], 4), round(default.lexical * FACTORS[other], 4))
        for one, other in pairs
    )
