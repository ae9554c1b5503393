"""Costs of reading equal values computed by hand."""

import pytest

from tests.bench.figures import Figure
from tests.bench.inprocess import ShownResult
from tests.bench.quality import BenchQuery
from tests.bench.scoring import Place, Target
from tests.bench.token_budget import (
    CAP,
    DEPTH,
    Point,
    Unit,
    expected_tokens,
    read_on,
    recall_within,
    tokens_to_first_hit,
)
from tests.bench.token_cost import read_results, summarise

A, B = Target("a.py"), Target("b.py", 10, 20)


def units(*lengths: tuple[str, int]) -> list[Unit]:
    return [Unit(Place(path, 1, 12), tokens) for path, tokens in lengths]


def test_the_unit_with_the_answer_is_read_to_its_end() -> None:
    points = read_on(units(("x.py", 100), ("a.py", 50), ("b.py", 7)), [A, B])
    assert points == [Point(0, 0), Point(100, 0), Point(150, 1), Point(157, 2)]
    assert tokens_to_first_hit(points) == expected_tokens(points) == 150


def test_a_query_without_a_hit_costs_the_cap() -> None:
    points = read_on(units(("x.py", 100)), [A])
    assert tokens_to_first_hit(points) is None
    assert expected_tokens(points) == CAP
    assert expected_tokens(read_on([], [A])) == CAP


def test_units_below_rank_fifty_are_not_read() -> None:
    assert tokens_to_first_hit(read_on(units(*[("x.py", 1)] * (DEPTH - 1), ("a.py", 1)), [A])) == DEPTH
    assert tokens_to_first_hit(read_on(units(*[("x.py", 1)] * DEPTH, ("a.py", 1)), [A])) is None


@pytest.mark.parametrize(("budget", "recall"), [(0, 0.0), (149, 0.0), (150, 0.5), (156, 0.5), (157, 1.0), (9999, 1.0)])
def test_recall_counts_units_that_fit_completely(budget: int, recall: float) -> None:
    points = read_on(units(("x.py", 100), ("a.py", 50), ("b.py", 7)), [A, B])
    assert recall_within(points, budget, 2) == recall


def test_a_file_met_twice_is_one_target() -> None:
    assert read_on(units(("a.py", 1), ("a.py", 1)), [A, B])[-1] == Point(2, 1)


def test_limits_apply_to_the_printed_results_and_to_the_answer() -> None:
    query = BenchQuery("repo", "words", "semantic", (A,))
    results = [
        ShownResult(Place("x.py", 1, 9), "x" * 100, "x" * 10, frozenset("pq"), frozenset("p")),
        ShownResult(Place("a.py", 1, 9), "x" * 450, "x" * 30, frozenset(), frozenset()),
    ]
    read = read_results(query, results, ("x" * 601, [Place("x.py", 1, 9), Place("a.py", 1, 9)]), len)
    figures = {(one.subject, one.name): one for one in summarise([read], len)}
    assert figures["chunk", "expected"].value == 550
    assert figures["chunk", "recall within 500"] == Figure("chunk", "recall within 500", 0.0)
    assert figures["chunk", "recall within 1,000"].value == 1.0
    assert (figures["printed", "expected"].value, figures["printed", "expected"].verdict) == (40, "reached")
    assert figures["printed", "recall within 500"].verdict == "reached"
    assert figures["printed", "mean length"].value == 20
    assert figures["printed", "query terms kept"].value == 0.5
    assert (figures["answer", "mean length"].value, figures["answer", "mean length"].verdict) == (601, "missed")
    assert figures["answer", "recall"].value == 1.0
