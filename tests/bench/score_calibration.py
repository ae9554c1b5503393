"""Calibration of scores as probabilities that a result is relevant. Pure."""

from collections.abc import Sequence
from typing import Final, NamedTuple

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


def fit_logistic(
    columns: NDArray[np.float64], relevant: NDArray[np.float64], penalty: float
) -> tuple[NDArray[np.float64], float]:
    """Fit weights and bias of the logistic curve from inputs to relevance (Platt 1999) by Newton's method.

    The penalty is that of L2 for each sample, on weights in units of the standard deviation of their inputs. The first
    input has none.
    """
    centre, spread = columns.mean(axis=0), columns.std(axis=0)
    spread[spread == 0] = 1.0
    scaled = np.concatenate([(columns - centre) / spread, np.ones((len(columns), 1))], axis=1)
    parameters = np.zeros(scaled.shape[1])
    ridge = np.full(len(parameters), penalty * len(columns))
    ridge[[0, -1]] = 0.0
    for _ in range(50):
        probability = 1 / (1 + np.exp(-np.clip(scaled @ parameters, -30, 30)))
        curvature = scaled.T @ (scaled * (probability * (1 - probability) + 1e-9)[:, None]) + np.diag(ridge)
        parameters -= np.linalg.solve(curvature, scaled.T @ (probability - relevant) + ridge * parameters)
    weights = parameters[:-1] / spread
    return weights, float(parameters[-1] - weights @ centre)
