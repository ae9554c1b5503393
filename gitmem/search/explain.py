"""Explain the score of a hit: the contribution of each feature, their sum, and the damping of repeats. Pure."""

import math
from collections.abc import Mapping
from typing import NamedTuple

from gitmem.search.rank import OFFSET, SLOPE, weights_for


class Contribution(NamedTuple):
    """Value and weight of one feature of a hit."""

    name: str
    value: float
    weight: float

    @property
    def contribution(self) -> float:
        """Return the amount added to the sum: value times weight."""
        return self.value * self.weight


class Explanation(NamedTuple):
    """Decomposition of a score, the largest contribution first.

    `total` is the bias plus all contributions, and `ranked` the score it gives before selection. `repeat_factor` is
    the factor that selection applied to it: less than 1 for a further chunk of a file.
    """

    parts: list[Contribution]
    bias: float
    total: float
    ranked: float
    repeat_factor: float


def explain(features: Mapping[str, float], score: float, chunk_type: str) -> Explanation:
    """Decompose the score of a hit of some chunk type. Of `features` (`Hit.scores`) only those with a weight count.

    Weights and bias are reported as they act on the confidence, calibration included.
    """
    weights, bias = weights_for(chunk_type)
    # Calibration maps the logit x of a score to SLOPE * x + OFFSET, so it can be folded into weights and bias.
    bias = SLOPE * bias + OFFSET
    parts = [Contribution(name, features[name], SLOPE * weight) for name, weight in weights.items() if name in features]
    parts.sort(key=lambda part: (-abs(part.contribution), part.name))
    total = bias + sum(part.contribution for part in parts)
    ranked = 1.0 / (1.0 + math.exp(-total))
    return Explanation(parts, bias, total, ranked, score / ranked)
