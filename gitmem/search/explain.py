"""Why a hit has its score: each feature's value times its weight, their sum, and what repeats of a file took. Pure."""

import math
from collections.abc import Mapping
from typing import NamedTuple

from gitmem.search.rank import OFFSET, SLOPE, weights_of


class Part(NamedTuple):
    """What one feature adds to a hit's sum."""

    name: str
    value: float
    weight: float

    @property
    def contribution(self) -> float:
        """Value times weight."""
        return self.value * self.weight


class Explanation(NamedTuple):
    """A score in its parts, the largest contribution first.

    `ranked` is the score before selection, `kept` what selection left of it: less than 1 for a further chunk of a file.
    """

    parts: list[Part]
    bias: float
    total: float
    ranked: float
    kept: float


def explain(features: Mapping[str, float], score: float, chunk_type: str) -> Explanation:
    """Take the score of a hit of some chunk type apart. Of `features` (`Hit.scores`) those count that have a weight.

    Weights are told as they act on the score, calibration included.
    """
    weights, bias = weights_of(chunk_type)
    bias = SLOPE * bias + OFFSET
    parts = [Part(name, features[name], SLOPE * weight) for name, weight in weights.items() if name in features]
    parts.sort(key=lambda part: (-abs(part.contribution), part.name))
    total = bias + sum(part.contribution for part in parts)
    ranked = 1.0 / (1.0 + math.exp(-total))
    return Explanation(parts, bias, total, ranked, score / ranked)
