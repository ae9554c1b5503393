"""Calibration of scores as probabilities that a result is relevant. Pure."""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tests.bench.figures import Figure

BINS: Final = 10


class ScoredResult(NamedTuple):
    """Kind, score and relevance of one result."""

    kind: str
    score: float
    answers: bool


def calibration(subject: str, told: Sequence[ScoredResult]) -> list[Figure]:
    """Return mean score and relevance for each bin, and the expected calibration error (Naeini et al. 2015)."""
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


def fit_logistic(sums: NDArray[Any], answers: NDArray[Any]) -> tuple[float, float]:
    """Fit slope and offset of the logistic curve from sums to relevance (Platt 1999) by Newton's method."""
    columns = np.stack([sums, np.ones(len(sums))], axis=1)
    told = np.zeros(2)
    for _ in range(50):
        likely = 1 / (1 + np.exp(-np.clip(columns @ told, -30, 30)))
        curvature = columns.T @ (columns * (likely * (1 - likely) + 1e-9)[:, None])
        told -= np.linalg.solve(curvature, columns.T @ (likely - answers))
    return float(told[0]), float(told[1])
