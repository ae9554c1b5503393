"""Scores equal values computed by hand."""

import math

import pytest

from tests.bench.scoring import Place, Target, parse_target, score


def places(*paths: str) -> list[Place]:
    return [Place(path, 1, 20) for path in paths]


def test_a_target_at_rank_one_scores_one() -> None:
    result = score(places("a.py", "b.py"), [Target("a.py")])
    assert (result.ndcg, result.recall) == (1.0, 1.0)


def test_a_target_at_rank_three_scores_half() -> None:
    assert score(places("x.py", "y.py", "a.py"), [Target("a.py")]).ndcg == pytest.approx(0.5)


def test_one_of_two_targets_is_normalised_by_both() -> None:
    result = score(places("a.py", "x.py"), [Target("a.py"), Target("b.py")])
    assert result.ndcg == pytest.approx(1 / (1 + 1 / math.log2(3)))
    assert result.recall == 0.5


def test_a_second_chunk_of_a_file_uses_up_a_rank() -> None:
    once = score(places("a.py", "b.py"), [Target("a.py"), Target("b.py")])
    twice = score(places("a.py", "a.py", "b.py"), [Target("a.py"), Target("b.py")])
    assert twice.ndcg < once.ndcg


def test_a_result_below_rank_ten_scores_zero() -> None:
    paths = [f"x{number}.py" for number in range(10)]
    assert score(places(*paths, "a.py"), [Target("a.py")]).ndcg == 0


def test_a_span_is_met_only_by_overlapping_lines() -> None:
    target = parse_target({"path": "a.py", "start_line": 20, "end_line": 30})
    assert target.is_met_by(Place("src/a.py", 1, 20))
    assert not target.is_met_by(Place("src/a.py", 1, 19))
    assert not target.is_met_by(Place("src/aa.py", 1, 20))
