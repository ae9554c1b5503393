"""Reciprocal rank fusion of two rankings."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from gitmem.search.fuse import COSINE_PRIOR, RRF_K, fuse_ranks, standardise

Scores = NDArray[np.float32]
score = st.integers(0, 9).map(lambda value: value / 10)


@st.composite
def two_lists(draw: st.DrawFn) -> tuple[Scores, Scores]:
    """Draw the scores of two retrievals for the same candidates, with many ties; zero means not retrieved."""
    size = draw(st.integers(0, 30))
    lists = [draw(st.lists(score, min_size=size, max_size=size)) for _ in range(2)]
    return np.array(lists[0], np.float32), np.array(lists[1], np.float32)


def by_formula(lists: tuple[Scores, ...]) -> list[float]:
    """Return the sum of 1 / (60 + rank), with ranks counted one by one."""
    return [
        sum(1 / (60 + 1 + int((scores > scores[item]).sum())) for scores in lists if scores[item] > 0)
        for item in range(len(lists[0]))
    ]


@settings(max_examples=200)
@given(two_lists())
def test_a_fused_score_follows_the_formula(lists: tuple[Scores, Scores]) -> None:
    """Property 43: RRF."""
    assert RRF_K == 60
    np.testing.assert_allclose(fuse_ranks(*lists), by_formula(lists), rtol=1e-5, atol=0)


@settings(max_examples=200)
@given(two_lists())
def test_another_list_lowers_no_score_and_the_order_of_lists_does_not_matter(lists: tuple[Scores, Scores]) -> None:
    """Property 43: RRF."""
    first, second = lists
    alone = fuse_ranks(first, np.zeros_like(first))
    both = fuse_ranks(first, second)
    assert (both >= alone).all()
    np.testing.assert_array_equal(both, fuse_ranks(second, first))


def test_a_single_score_is_compared_with_the_prior() -> None:
    expected, better = (standardise(np.array([value], np.float32), COSINE_PRIOR)[0] for value in (0.33, 0.6))
    assert abs(expected) < 1e-5
    assert better > 1
