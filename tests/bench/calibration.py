"""Calibration of the scores: how often results with some score are relevant, and how often nonsense is refused.

`fit-calibration` judges the same samples by parameters that are fitted without their repositories.
"""

import argparse

from gitmem.search.calibration import CURVES
from tests.bench.calibration_samples import add_options, load_samples
from tests.bench.figures import Figure
from tests.bench.fit_calibration import judge_scores, score_sample
from tests.bench.score_calibration import ScoredResult

__all__ = ["add_options", "measure"]


def measure(options: argparse.Namespace) -> list[Figure]:
    """Score all samples by the parameters in the code."""
    figures = []
    samples = load_samples(options)
    for kind, mode in sorted({(one.kind, one.mode) for one in samples}):
        curve = CURVES[kind][mode]
        own = [one for one in samples if (one.kind, one.mode) == (kind, mode)]
        scored = [(one, ScoredResult(kind, score_sample(curve, one), one.relevant)) for one in own]
        figures += judge_scores(f"{kind}, {mode}", scored)
    return figures
