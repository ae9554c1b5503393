"""Calibration of the scores: queries about other repositories, and folds that leave out what they judge."""

import numpy as np
import pytest

from gitmem.search.calibration import CODE, Curve
from tests.bench.calibration_samples import FOREIGN, Sample, choose_foreign
from tests.bench.fit_calibration import fit_curve, format_curve, left_out_scores, score_sample
from tests.bench.quality import BenchQuery
from tests.bench.scoring import Target


def make_samples(repository: str, slope: float) -> list[Sample]:
    """Return samples of the mode semantic whose relevance depends on the sum with some slope."""
    dice = np.random.default_rng(len(repository))
    sums = dice.normal(0, 2, 4000)
    relevant = dice.random(len(sums)) < 1 / (1 + np.exp(-slope * sums + 1))
    rows = zip(sums.tolist(), relevant.tolist(), strict=True)
    return [Sample("set", repository, "x", CODE, "semantic", False, one, {}, answer) for one, answer in rows]


def test_queries_about_other_repositories_have_no_targets_and_are_as_many() -> None:
    queries = {name: [BenchQuery(name, f"{name} {n}", "x", (Target("a"),)) for n in range(3)] for name in "abc"}
    foreign = choose_foreign(queries, "a")
    assert len(foreign) == 3
    assert all(one.repository == "a" and one.category == FOREIGN and not one.targets for one in foreign)
    assert {one.text[0] for one in foreign} <= {"b", "c"}


def test_a_repository_is_scored_by_a_curve_that_was_fitted_on_the_others() -> None:
    samples = [*make_samples("owner+even", 1.0), *make_samples("even", 1.0), *make_samples("other", 3.0)]
    own = fit_curve(make_samples("other", 3.0))
    assert [own.slope, own.bias] == pytest.approx([3.0, -1.0], abs=0.2)
    assert format_curve(CODE, "semantic", Curve(3.0, -1.0, {})) == 'code "semantic": Curve(3, -1, {}),'
    expected = [score_sample(own, one) for one in samples if one.repository != "other"]
    scored = [result.score for one, result in left_out_scores(samples) if one.repository != "other"]
    assert sorted(scored) == pytest.approx(sorted(expected))
