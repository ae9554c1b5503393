"""Whether a score says how likely a result answers. Pure."""

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from tests.bench.figures import Figure

BINS: Final = 10


class Told(NamedTuple):
    """A result: its kind, the score it had, and whether it answered."""

    kind: str
    score: float
    answers: bool


def calibration(subject: str, told: Sequence[Told]) -> list[Figure]:
    """What results of each bin of scores said and were, and the expected calibration error (Naeini et al. 2015)."""
    scores = np.array([one.score for one in told])
    answers = np.array([one.answers for one in told], float)
    bins = np.minimum((scores * BINS).astype(int), BINS - 1)
    figures, error = [], 0.0
    for number in range(BINS):
        inside = bins == number
        if inside.any():
            said, was = float(scores[inside].mean()), float(answers[inside].mean())
            error += float(inside.mean()) * abs(said - was)
            figures.append(Figure(subject, f"{int(inside.sum())} results said {said:.2f}, share that answered", was))
    return [*figures, Figure(subject, "expected calibration error", error)]
