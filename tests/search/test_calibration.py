"""Scores: likelihoods that keep the order of a query's results, and queries that make no sense."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.search.calibration import (
    BEST_FILES,
    CURVES,
    FLOOR,
    INPUTS,
    calibrate,
    makes_sense,
    measure_evidence,
    weigh_evidence,
)
from gitmem.search.query_parser import parse_query
from tests.search.judged_queries import make_judged

CURVE_OF = [(kind, mode) for kind, modes in CURVES.items() for mode in modes]


@given(st.lists(st.floats(-40, 40), max_size=20), st.sampled_from(CURVE_OF), st.floats(-20, 20))
def test_scores_keep_the_order_of_the_sums(sums: list[float], name: tuple[str, str], evidence: float) -> None:
    kind, mode = name
    scores = calibrate(CURVES[kind][mode], np.array(sorted(sums)), evidence).tolist()
    assert scores == sorted(scores)
    assert all(0 <= score <= 1 for score in scores)


def test_evidence_is_measured_on_the_pool_alone() -> None:
    retrieved = make_judged([0.6, 0.4, 0.9], [0.5, 0.2, 1.1], 0).retrieved
    query = parse_query("rotate keys")
    pool = np.array([True, True, False])
    candidates = retrieved.candidates._replace(pool=pool, file_coverage=np.array([0.5, 0.3, 1.0], np.float32))
    evidence = measure_evidence(query, candidates, {"key": 1.0, "rotat": 0.0}, np.array([2.0, 0.5, 9.0]))
    assert evidence == pytest.approx(
        {
            "files": 2.0,
            "best": 2.0,
            "margin": 1.5,
            "spread": 1.5,
            "known": 0.5,
            "covered": 0.5 / 2.2,
            "uncovered": 0.4 - 0.5 / 2.2,
            "together": 0.5,
            "length": math.log(3),
            "symbol": 0.0,
            "text": 0.0,
            "cosine": 0.6,
            "cosines": 0.5,
            "unlike": 0.0,
        }
    )
    assert set(evidence) == set(INPUTS)
    for modes in CURVES.values():
        assert all(set(curve.evidence) <= set(INPUTS) for curve in modes.values())
        curve = modes["hybrid"]
        expected = curve.bias + sum(curve.evidence[name] * evidence[name] for name in curve.evidence)
        assert weigh_evidence(curve, evidence) == pytest.approx(expected)


def test_few_candidates_in_a_tree_of_many_files_do_not_make_it_small() -> None:
    retrieved = make_judged([0.6, 0.4], [0.5, 0.2], 0).retrieved
    measured = [
        measure_evidence(parse_query("keys"), retrieved.candidates, {"key": 1.0}, np.array([2.0, 0.5]), files)
        for files in (2, 200)
    ]
    assert [evidence["files"] for evidence in measured] == [2.0, BEST_FILES]


def test_a_query_makes_sense_by_its_best_score_or_if_a_file_has_all_its_words() -> None:
    assert makes_sense(FLOOR, {"together": 0.2})
    assert not makes_sense(FLOOR / 2, {"together": 0.9})
    assert makes_sense(FLOOR / 2, {"together": 1.0})
    assert makes_sense(0.0, {})
    assert makes_sense(0.0, {"together": 0.2, "text": 1.0}), "no text of several lines is refused"
    few: dict[str, float] = {"together": 0.2, "files": BEST_FILES - 1}
    assert makes_sense(0.0, {**few, "known": 0.3}), "a few files are too few to judge a query by"
    assert not makes_sense(0.0, {**few, "known": 0.0})
    assert not makes_sense(0.0, {**few, "files": BEST_FILES, "known": 0.3})
