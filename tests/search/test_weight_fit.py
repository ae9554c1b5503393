"""Weights are fitted to one half of the queries and tested on the other."""

import pytest

from gitmem.search.fuse import FusionWeights
from gitmem.search.metrics import Quality, average, compare
from gitmem.search.replay import measure_quality
from gitmem.search.weight_fit import FACTORS, fit_weights
from tests.search.judged_queries import decided_by_meaning, decided_by_words, make_judged

DEFAULT = FusionWeights(semantic=0.8, lexical=0.22)


def test_quality_is_measured_at_the_rank_of_the_answer() -> None:
    judged = make_judged([0.9, 0.8, 0.1], [0.0, 0.0, 0.0], 1)
    assert measure_quality(judged, FusionWeights(1.0, 0.0)) == pytest.approx(Quality(1 / 1.584962500721156, 1.0))


def test_weights_move_to_the_score_that_identifies_the_answer() -> None:
    assert measure_quality(decided_by_words(1)[0], DEFAULT).ndcg < 1
    fit = fit_weights(decided_by_words(6), decided_by_words(4), DEFAULT)
    assert fit.weights.lexical / fit.weights.semantic > DEFAULT.lexical / DEFAULT.semantic
    assert fit.after == Quality(1.0, 1.0)
    assert fit.is_better


def test_the_default_stays_if_nothing_is_better() -> None:
    fit = fit_weights(decided_by_meaning(6), decided_by_meaning(4), DEFAULT)
    assert fit.weights == DEFAULT
    assert not fit.is_better


def test_the_default_stays_if_the_first_half_gains_not_clearly() -> None:
    opposed = [make_judged([0.9, 0.1], [0.0, 1.0], int(number < 6)) for number in range(11)]
    fit = fit_weights(opposed, decided_by_words(4), DEFAULT)
    assert fit.weights == DEFAULT
    assert fit.fitted.mean == fit.held_out.mean == 0
    assert fit_weights(decided_by_words(10), decided_by_words(4), DEFAULT).weights != DEFAULT


def test_weights_that_fit_one_half_alone_are_not_better() -> None:
    fit = fit_weights(decided_by_words(6), decided_by_meaning(4), DEFAULT)
    assert fit.fitted.mean > 0
    assert fit.held_out.mean < 0
    assert not fit.is_better


def test_a_gain_below_its_standard_error_is_not_better() -> None:
    held_out = [*decided_by_words(5), *decided_by_meaning(5)]
    fit = fit_weights(decided_by_words(6), held_out, DEFAULT)
    assert fit.held_out.better == 5
    assert fit.held_out.worse == 5
    assert 0 < fit.held_out.mean < fit.held_out.error
    assert not fit.is_better


def test_both_halves_are_compared_with_the_default() -> None:
    halves = [*decided_by_words(3), *decided_by_meaning(1)], [*decided_by_words(2), *decided_by_meaning(2)]
    fit = fit_weights(*halves, DEFAULT)
    for half, gain in zip(halves, (fit.fitted, fit.held_out), strict=True):
        new, old = ([measure_quality(judged, weights) for judged in half] for weights in (fit.weights, DEFAULT))
        assert gain == compare(new, old)
    assert fit.before == average([measure_quality(judged, DEFAULT) for judged in halves[1]])


def test_every_pair_of_the_grid_is_tried_once() -> None:
    steps: list[tuple[int, int]] = []
    fit_weights(decided_by_words(1), decided_by_words(1), DEFAULT, lambda done, total: steps.append((done, total)))
    total = len(FACTORS) ** 2
    assert steps == [(done, total) for done in range(1, total + 1)]
