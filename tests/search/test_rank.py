"""What is computed for all candidates at once is what a plain reading of its definition gives, row by row."""

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.search.engine import CANDIDATE_LIMIT, _best
from gitmem.search.fuse import standardise_lexical
from gitmem.search.lexical import max_score
from gitmem.search.query_parser import parse_query
from gitmem.search.rank import (
    BIAS,
    CHUNK_DECAY,
    COUNTED_CHUNKS,
    RECORD_BIAS,
    RECORD_WEIGHTS,
    WEIGHTS,
    Candidates,
    combine_features,
    compute_features,
    confidence,
    features_of,
)
from gitmem.types import CHUNK_TYPES

PATHS = ["lib/keys.py", "tests/test_keys.py", "docs/keys.md"]
fused = st.floats(-2, 4, width=32)


def made_candidates(rows: list[tuple[int, float]], symbol: str = "") -> Candidates:
    """Functions of so many files: a place in PATHS and a fused score each."""
    count = len(rows)
    return Candidates(
        row=np.arange(count),
        file=np.array([file for file, _ in rows], np.int64),
        paths=PATHS,
        chunk_type=np.full(count, CHUNK_TYPES.index("function"), np.uint8),
        symbol=[symbol] * count,
        words=np.full(count, 50, np.float32),
        file_words=np.full(count, 1100, np.float32),
        dense=np.zeros(count, np.float32),
        lexical=np.zeros(count, np.float32),
        file_lexical=np.zeros(count, np.float32),
        path_cosine=np.zeros(count, np.float32),
        fused_row=np.array([score for _, score in rows], np.float32),
        fused=np.array([score for _, score in rows], np.float32),
    )


@given(rows=st.lists(st.tuples(st.integers(0, 2), fused), max_size=40))
def test_a_file_is_worth_its_best_chunks_each_a_little_less(rows: list[tuple[int, float]]) -> None:
    by_file = defaultdict(list)
    for file, score in rows:
        by_file[file].append(max(score, 0.0))
    totals = {
        file: sum(
            value * CHUNK_DECAY**place for place, value in enumerate(sorted(found, reverse=True)[:COUNTED_CHUNKS])
        )
        for file, found in by_file.items()
    }
    most = max(totals.values(), default=0.0) or 1.0
    told = compute_features(parse_query("keys"), made_candidates(rows), {"key": 1.0})["file"]
    assert told.tolist() == pytest.approx([totals[file] / most for file, _ in rows])


@pytest.mark.parametrize(
    ("symbol", "told"),
    [
        ("Ring.rotate_keys", "definition"),
        ("Ring.rotateKeys", "definition_folded"),
        ("Ring.open, rotate_keys", "definition"),
        ("rotate_keys_now", ""),
        ("rotate_keys.inner", ""),
        ("", ""),
    ],
)
def test_a_definition_is_told_by_its_whole_name(symbol: str, told: str) -> None:
    found = features_of(
        compute_features(parse_query("rotate_keys"), made_candidates([(0, 0.0)], symbol), {}), 0, "function"
    )
    assert [name for name in ("definition", "definition_folded") if name in found] == [told] * bool(told)


def test_features_of_a_hit_add_up_to_its_score_and_name_no_mark_it_lacks() -> None:
    features = compute_features(parse_query("keys"), made_candidates([(file, 1.0) for file in range(3)]), {"key": 1.0})
    assert set(features) == set(WEIGHTS)
    told = [features_of(features, place, "function") for place in range(3)]
    assert ["test" in found for found in told] == [False, True, False]
    assert ["document" in found for found in told] == [False, False, True]
    sums = [sum(WEIGHTS[name] * value for name, value in found.items()) + BIAS for found in told]
    assert combine_features(features, np.zeros(3, bool)).tolist() == pytest.approx(
        [1 / (1 + np.exp(-total)) for total in sums]
    )


def test_records_are_ranked_by_their_own_weights_beside_code() -> None:
    candidates = made_candidates([(0, 1.0), (1, 0.5)])
    chunk_types = np.array([CHUNK_TYPES.index("function"), CHUNK_TYPES.index("document")], np.uint8)
    candidates = candidates._replace(
        chunk_type=chunk_types, paths=["lib/keys.py", "refs/gitmem/memory:v1/documents/ab/art_ab"]
    )
    features = compute_features(parse_query("keys"), candidates, {"key": 1.0})
    both = combine_features(features, candidates.records)
    assert both[0] == combine_features(features, np.zeros(2, bool))[0]
    told = features_of(features, 1, "document")
    assert set(told) == set(RECORD_WEIGHTS)
    total = sum(RECORD_WEIGHTS[name] * value for name, value in told.items()) + RECORD_BIAS
    assert both[1] == pytest.approx(1 / (1 + np.exp(-total)))


@given(st.lists(st.floats(0, 1), max_size=20))
def test_likelihoods_are_ordered_as_scores_are(scores: list[float]) -> None:
    likely = [confidence(score) for score in sorted(scores)]
    assert likely == sorted(likely)
    assert all(0 <= one <= 1 for one in likely)


@given(
    rows=st.integers(0, 30 * CANDIDATE_LIMIT),
    different=st.integers(1, 5000),
    positive=st.floats(0, 1),
    seed=st.integers(0, 99),
)
def test_the_best_rows_are_those_of_a_full_sort(rows: int, different: int, positive: float, seed: int) -> None:
    dice = np.random.default_rng(seed)
    scores = (dice.integers(0, different, rows) * (dice.random(rows) < positive)).astype(np.float32)
    ordered = sorted(scores[scores > 0].tolist(), reverse=True)
    limit = ordered[CANDIDATE_LIMIT - 1] if len(ordered) >= CANDIDATE_LIMIT else 0.0
    assert _best(scores, CANDIDATE_LIMIT).tolist() == np.flatnonzero((scores > 0) & (scores >= limit)).tolist()


def test_the_chunk_that_has_most_of_the_words_is_not_behind_in_its_file() -> None:
    scores = np.array([3.0, 1.0, 0.5, 0.0], np.float32)
    found = made_candidates([(0, 0.0), (0, 0.0), (1, 0.0), (1, 0.0)])._replace(lexical=scores)
    told = compute_features(parse_query("keys"), found, {"key": 1.0})["lexical_gap"]
    spread = standardise_lexical(scores, max_score({"key": 1.0}))
    assert told.tolist() == pytest.approx([0.0, spread[0] - spread[1], 0.0, spread[2] - spread[3]])


@pytest.mark.parametrize(("question", "counts"), [("RotateKeys", True), ("rotate keys", False), ("keys", False)])
def test_the_size_of_a_chunk_counts_where_a_symbol_is_asked_for(question: str, counts: bool) -> None:
    found = made_candidates([(0, 0.0), (0, 0.0)])._replace(words=np.array([5, 500], np.float32))
    small, large = compute_features(parse_query(question), found, {"key": 1.0})["symbol_size"].tolist()
    assert (small < 0 < large) == counts
    assert counts or small == large == 0.0


def test_the_words_of_a_path_near_to_the_question_raise_its_file() -> None:
    near = np.array([0.6, 0.0], np.float32)
    candidates = made_candidates([(0, 0.0), (0, 0.0)])._replace(path_cosine=near)
    scores = combine_features(compute_features(parse_query("keys"), candidates, {}), candidates.records)
    assert scores[0] > scores[1]
