"""Fit the parameters that turn weighted sums into likelihoods, and judge them on repositories that were left out.

Cross-validation over repositories, as in `fit_code_weights`. A repository that is in two sets is in one fold. Prints
the tables for `gitmem/search/calibration.py`.
"""

import argparse
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gitmem.search.calibration import CODE, INPUTS, RECORDS, Curve, makes_sense
from tests.bench.calibration_samples import FOREIGN, MODES, Sample, add_options, load_samples
from tests.bench.figures import Figure
from tests.bench.score_calibration import ScoredResult, fit_logistic, measure_calibration
from tests.bench.scoring import mean

__all__ = ["add_options", "measure"]

FOLDS: Final = 7
PENALTY: Final = 1e-5
"""Weight of the L2 penalty for each sample, in units of each input's standard deviation."""

OF_MEANING: Final = ("cosine", "cosines", "unlike")
USED: Final = {
    "hybrid": tuple(INPUTS),
    "lexical": tuple(name for name in INPUTS if name not in OF_MEANING),
    "semantic": (),
}
"""Evidence that each mode has."""


def measure(options: argparse.Namespace) -> list[Figure]:
    """Fit, print the tables, and judge."""
    samples = load_samples(options)
    figures = []
    for kind in (CODE, RECORDS):
        for mode in MODES:
            own = [one for one in samples if (one.kind, one.mode) == (kind, mode)]
            if own:
                print(format_curve(kind, mode, fit_curve(own)))
                figures += judge_scores(f"{kind}, {mode}", left_out_scores(own))
    return figures


def left_out_scores(samples: Sequence[Sample]) -> list[tuple[Sample, ScoredResult]]:
    """Return each sample with its score by a curve that is fitted without its repository."""
    names = sorted({one.repository.rpartition("+")[2] for one in samples})
    scored = []
    for fold in range(FOLDS):
        outside = set(names[fold::FOLDS])
        inside = [one for one in samples if one.repository.rpartition("+")[2] not in outside]
        curve = fit_curve(inside)
        for one in samples:
            if one.repository.rpartition("+")[2] in outside:
                scored.append((one, ScoredResult(one.kind, score_sample(curve, one), one.relevant)))
    return scored


def score_sample(curve: Curve, sample: Sample) -> float:
    """Return the score of a result by a curve."""
    logit = curve.slope * sample.sum + curve.bias
    logit += sum(weight * sample.evidence[name] for name, weight in curve.evidence.items())
    return float(1 / (1 + np.exp(-logit)))


def judge_scores(subject: str, scored: Sequence[tuple[Sample, ScoredResult]]) -> list[Figure]:
    """Return the curve of all results, the error for each set of queries, and the share of refused queries."""
    figures = measure_calibration(subject, [result for _, result in scored])
    foreign = [pair for pair in scored if pair[0].category == FOREIGN]
    known = [pair for pair in scored if pair[0].category != FOREIGN]
    for query_set in sorted({one.query_set for one, _ in known}):
        own = [result for one, result in known if one.query_set == query_set]
        figures.append(replace(measure_calibration(subject, own)[-1], subject=f"{subject}: {query_set}"))
    for label, pairs in (("queries of the repository", known), ("queries about others", foreign)):
        best = [not makes_sense(result.score, one.evidence) for one, result in pairs if one.best]
        figures.append(Figure(subject, f"share of {len(best)} {label} refused", mean(best)))
    return figures


def fit_curve(samples: Sequence[Sample]) -> Curve:
    """Fit the curve of one kind and mode."""
    names = USED[samples[0].mode]
    columns: NDArray[np.float64] = np.array([[one.sum, *(one.evidence[name] for name in names)] for one in samples])
    weights, bias = fit_logistic(columns, np.array([one.relevant for one in samples], float), PENALTY)
    slope, *others = weights.tolist()
    return Curve(slope, bias, dict(zip(names, others, strict=True)))


def format_curve(kind: str, mode: str, curve: Curve) -> str:
    """Format a curve as in the code."""
    evidence = ", ".join(f'"{name}": {weight:.3g}' for name, weight in curve.evidence.items() if weight)
    return f'{kind} "{mode}": Curve({curve.slope:.3g}, {curve.bias:.4g}, {{{evidence}}}),'
