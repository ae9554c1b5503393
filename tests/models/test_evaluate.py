"""Ranks of codes, and the figures computed from them."""

import numpy as np
import pytest

from models.recipe.bags import encode_records, make_bags
from models.recipe.evaluate import MIN_PACKAGE, embed, figures_of, measure_docstrings, measure_pairs, rank_of_own
from models.recipe.records import Record
from tests.models.synthetic import small_tokenizer

WORDS = [f"{first}{second}" for first in "bdfgklmnprst" for second in ("alpha", "omega", "sigma", "delta")]
TOKENIZER = small_tokenizer([*WORDS, "shared"] * 3, 500)
RNG = np.random.default_rng(0)
TABLE = RNG.standard_normal((TOKENIZER.get_vocab_size(), 32)).astype(np.float32)


def test_a_rank_counts_higher_scores_and_half_of_the_equal_ones() -> None:
    scores = np.array([[0.9, 0.1, 0.5], [0.5, 0.5, 0.5], [0.1, 0.2, 0.2]], np.float32)
    assert rank_of_own(scores, np.array([2, 0, 2])).tolist() == [2, 2, 1.5]
    figures = figures_of([np.array([1.0, 2.0]), np.array([20.0])])
    assert figures.mrr == pytest.approx((1 + 0.5 + 0.05) / 3)
    assert figures.recall == pytest.approx(2 / 3)
    with pytest.raises(ValueError, match="measure"):
        figures_of([])


def test_a_vector_is_the_weighted_sum_of_rows_and_zero_without_words() -> None:
    vectors = embed(TABLE, make_bags([[], [3, 4, 4]]), np.array([0, 1]))
    expected = TABLE[3] + (1 + np.log(2)) * TABLE[4]
    assert not vectors[0].any()
    assert np.allclose(vectors[1], expected / np.linalg.norm(expected), atol=1e-6)


def test_held_out_pairs_are_searched_within_their_package() -> None:
    """Two packages have the same words. Each query finds its code first among those of its own package."""
    large = [Record(word, f"shared {word}", "doc", "a.py", word, f"npm:{side}") for side in "ab" for word in WORDS]
    small = [Record("shared", "balpha", "doc", "a.py", "", "npm:small")] * (MIN_PACKAGE - 1)
    figures = measure_pairs(TABLE, encode_records(TOKENIZER, [*large, *small]))
    assert figures["pairs/code"].queries == 2 * len(WORDS)
    assert figures["pairs/code"].mrr > 0.95
    shuffled = [record._replace(query=WORDS[-1 - place % len(WORDS)]) for place, record in enumerate(large)]
    assert measure_pairs(TABLE, encode_records(TOKENIZER, shuffled))["pairs/code"].mrr < 0.2


def test_docstrings_are_searched_within_their_repository_in_three_forms() -> None:
    rows = [
        {"repo": repo, "path": path, "name": name, "code": "shared", "query": query}
        for repo in ("one", "two")
        for path, name, query in (("balpha", "dalpha", ""), ("falpha", "dalpha", "falpha dalpha"), ("", "galpha", ""))
    ]
    figures = measure_docstrings(TABLE, TOKENIZER, rows)
    assert figures["docstrings/code"].mrr == pytest.approx(1 / 2)
    assert figures["docstrings/name"].mrr == pytest.approx(1 / 1.5)
    assert figures["docstrings/path"].mrr == 1
    assert {measured.queries for measured in figures.values()} == {2}
