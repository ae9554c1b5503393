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
    relevant: bool


def measure_calibration(subject: str, results: Sequence[ScoredResult]) -> list[Figure]:
    """Return mean score and relevance for each bin, and the expected calibration error (Naeini et al. 2015)."""
    scores = np.array([one.score for one in results])
    relevant = np.array([one.relevant for one in results], float)
    bins = np.minimum((scores * BINS).astype(int), BINS - 1)
    figures, error = [], 0.0
    for number in range(BINS):
        inside = bins == number
        if inside.any():
            mean_score, relevance = float(scores[inside].mean()), float(relevant[inside].mean())
            error += float(inside.mean()) * abs(mean_score - relevance)
            figures.append(
                Figure(
                    subject,
                    f"share relevant of {int(inside.sum())} results with mean score {mean_score:.2f}",
                    relevance,
                )
            )
    return [*figures, Figure(subject, "expected calibration error", error)]


def fit_logistic(sums: NDArray[Any], relevant: NDArray[Any]) -> tuple[float, float]:
    """Fit slope and offset of the logistic curve from sums to relevance (Platt 1999) by Newton's method."""
    columns = np.stack([sums, np.ones(len(sums))], axis=1)
    parameters = np.zeros(2)
    for _ in range(50):
        probability = 1 / (1 + np.exp(-np.clip(columns @ parameters, -30, 30)))
        curvature = columns.T @ (columns * (probability * (1 - probability) + 1e-9)[:, None])
        parameters -= np.linalg.solve(curvature, columns.T @ (probability - relevant))
    return float(parameters[0]), float(parameters[1])
