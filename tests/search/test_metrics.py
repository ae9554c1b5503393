"""Figures of ranked lists follow their formulas."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.search.metrics import CUTOFF, Gain, Quality, average, compare, evaluate_ranking

NOTHING: frozenset[int] = frozenset()
lists = st.lists(st.frozensets(st.integers(0, 4), max_size=3), max_size=15)


def met(*numbers: int) -> list[frozenset[int]]:
    """A list of results, each meeting one target or, where negative, none."""
    return [frozenset({number}) if number >= 0 else NOTHING for number in numbers]


def test_a_target_at_the_top_is_worth_all() -> None:
    assert evaluate_ranking(met(0, -1), 1) == Quality(1.0, 1.0)


def test_a_target_further_down_is_worth_less() -> None:
    assert evaluate_ranking(met(-1, -1, 0), 1) == Quality(0.5, 1.0)


def test_a_target_beyond_the_tenth_result_is_worth_nothing() -> None:
    assert evaluate_ranking(met(*[-1] * CUTOFF, 0), 1) == Quality(0.0, 0.0)


def test_half_of_two_targets() -> None:
    made = evaluate_ranking(met(-1, 1), 2)
    assert made.ndcg == pytest.approx((1 / math.log2(3)) / (1 + 1 / math.log2(3)))
    assert made.recall == 0.5


def test_a_target_met_again_takes_up_a_rank_and_gives_nothing() -> None:
    assert evaluate_ranking(met(0, 0, 1), 2).ndcg == pytest.approx((1 + 0.5) / (1 + 1 / math.log2(3)))


@given(lists)
def test_no_list_is_worth_more_than_one_that_begins_with_all_targets(found: list[frozenset[int]]) -> None:
    made = evaluate_ranking(found, 5)
    assert 0 <= made.ndcg <= 1
    assert 0 <= made.recall <= 1
    assert evaluate_ranking(met(0, 1, 2, 3, 4), 5) == pytest.approx((1.0, 1.0))


def test_the_mean_of_nothing_is_nothing() -> None:
    assert average([]) == Quality(0.0, 0.0)
    assert average([Quality(1.0, 0.5), Quality(0.0, 0.5)]) == Quality(0.5, 0.5)


def test_a_gain_is_told_with_its_error() -> None:
    old = [Quality(value, 0) for value in (0.0, 0.5, 0.5, 1.0)]
    new = [Quality(value, 0) for value in (0.5, 0.5, 1.0, 0.5)]
    differences = [0.5, 0.0, 0.5, -0.5]
    deviation = math.sqrt(sum((value - 0.125) ** 2 for value in differences) / 3)
    assert compare(new, old) == pytest.approx(Gain(0.125, deviation / 2, 2, 1))
    assert compare([], []) == Gain(0.0, 0.0, 0, 0)
