"""Metrics of ranked lists follow their formulas."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.search.metrics import CUTOFF, Gain, Quality, average, compare, evaluate_ranking

NO_TARGET: frozenset[int] = frozenset()
lists = st.lists(st.frozensets(st.integers(0, 4), max_size=3), max_size=15)


def matches(*numbers: int) -> list[frozenset[int]]:
    """Return a list of results that each match one target or, if the number is negative, none."""
    return [frozenset({number}) if number >= 0 else NO_TARGET for number in numbers]


def test_a_target_in_first_place_has_full_quality() -> None:
    assert evaluate_ranking(matches(0, -1), 1) == Quality(1.0, 1.0)


def test_a_target_further_down_is_discounted() -> None:
    assert evaluate_ranking(matches(-1, -1, 0), 1) == Quality(0.5, 1.0)


def test_a_target_beyond_the_cutoff_does_not_count() -> None:
    assert evaluate_ranking(matches(*[-1] * CUTOFF, 0), 1) == Quality(0.0, 0.0)


def test_one_of_two_targets_has_half_the_recall() -> None:
    quality = evaluate_ranking(matches(-1, 1), 2)
    assert quality.ndcg == pytest.approx((1 / math.log2(3)) / (1 + 1 / math.log2(3)))
    assert quality.recall == 0.5


def test_a_target_matched_again_takes_a_rank_without_gain() -> None:
    assert evaluate_ranking(matches(0, 0, 1), 2).ndcg == pytest.approx((1 + 0.5) / (1 + 1 / math.log2(3)))


@given(lists)
def test_no_list_exceeds_one_that_begins_with_all_targets(results: list[frozenset[int]]) -> None:
    quality = evaluate_ranking(results, 5)
    assert 0 <= quality.ndcg <= 1
    assert 0 <= quality.recall <= 1
    assert evaluate_ranking(matches(0, 1, 2, 3, 4), 5) == pytest.approx((1.0, 1.0))


def test_the_mean_of_no_queries_is_zero() -> None:
    assert average([]) == Quality(0.0, 0.0)
    assert average([Quality(1.0, 0.5), Quality(0.0, 0.5)]) == Quality(0.5, 0.5)


def test_a_gain_has_its_standard_error() -> None:
    old = [Quality(value, 0) for value in (0.0, 0.5, 0.5, 1.0)]
    new = [Quality(value, 0) for value in (0.5, 0.5, 1.0, 0.5)]
    differences = [0.5, 0.0, 0.5, -0.5]
    deviation = math.sqrt(sum((value - 0.125) ** 2 for value in differences) / 3)
    assert compare(new, old) == pytest.approx(Gain(0.125, deviation / 2, 2, 1))
    assert compare([], []) == Gain(0.0, 0.0, 0, 0)
