"""Weights follow the questions they are fitted to, and are judged by others."""

import pytest

from gitmem.search.fuse import FusionWeights
from gitmem.search.metrics import Quality, average, compare
from gitmem.search.replay import measure_quality
from gitmem.search.weight_fit import FACTORS, fit_weights
from tests.search.trials import made_trial, told_by_meaning, told_by_words

DEFAULT = FusionWeights(semantic=0.8, lexical=0.22)


def test_the_right_candidate_is_found_at_its_rank() -> None:
    trial = made_trial([0.9, 0.8, 0.1], [0.0, 0.0, 0.0], 1)
    assert measure_quality(trial, FusionWeights(1.0, 0.0)) == pytest.approx(Quality(1 / 1.584962500721156, 1.0))


def test_weights_turn_to_what_tells_the_answer() -> None:
    assert measure_quality(told_by_words(1)[0], DEFAULT).ndcg < 1
    made = fit_weights(told_by_words(6), told_by_words(4), DEFAULT)
    assert made.weights.lexical / made.weights.semantic > DEFAULT.lexical / DEFAULT.semantic
    assert made.after == Quality(1.0, 1.0)
    assert made.is_better


def test_the_default_stays_where_nothing_is_better() -> None:
    made = fit_weights(told_by_meaning(6), told_by_meaning(4), DEFAULT)
    assert made.weights == DEFAULT
    assert not made.is_better


def test_the_default_stays_where_the_first_half_is_not_clearly_better() -> None:
    opposed = [made_trial([0.9, 0.1], [0.0, 1.0], int(number < 6)) for number in range(11)]
    made = fit_weights(opposed, told_by_words(4), DEFAULT)
    assert made.weights == DEFAULT
    assert made.fitted.mean == made.held_out.mean == 0
    assert fit_weights(told_by_words(10), told_by_words(4), DEFAULT).weights != DEFAULT


def test_what_fits_one_half_alone_is_not_better() -> None:
    made = fit_weights(told_by_words(6), told_by_meaning(4), DEFAULT)
    assert made.fitted.mean > 0
    assert made.held_out.mean < 0
    assert not made.is_better


def test_a_gain_within_its_error_is_not_better() -> None:
    held_out = [*told_by_words(5), *told_by_meaning(5)]
    made = fit_weights(told_by_words(6), held_out, DEFAULT)
    assert made.held_out.better == 5
    assert made.held_out.worse == 5
    assert 0 < made.held_out.mean < made.held_out.error
    assert not made.is_better


def test_both_halves_are_compared_with_the_default() -> None:
    halves = [*told_by_words(3), *told_by_meaning(1)], [*told_by_words(2), *told_by_meaning(2)]
    made = fit_weights(*halves, DEFAULT)
    for half, gain in zip(halves, (made.fitted, made.held_out), strict=True):
        new, old = ([measure_quality(trial, weights) for trial in half] for weights in (made.weights, DEFAULT))
        assert gain == compare(new, old)
    assert made.before == average([measure_quality(trial, DEFAULT) for trial in halves[1]])


def test_every_pair_of_the_grid_is_tried_once() -> None:
    steps: list[tuple[int, int]] = []
    fit_weights(told_by_words(1), told_by_words(1), DEFAULT, lambda done, total: steps.append((done, total)))
    total = len(FACTORS) ** 2
    assert steps == [(done, total) for done in range(1, total + 1)]
