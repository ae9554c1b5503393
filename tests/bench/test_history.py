"""Scores of histories equal values computed by hand."""

from tests.bench.history import Traced, summarise


def traced(found: str, expected: str, introduced: str) -> Traced:
    return Traced("one", frozenset(found), frozenset(expected), introduced, frozenset(expected[-1]), 0.2, 0.1, 0.1)


def test_commits_are_counted_over_all_methods_and_histories_per_method() -> None:
    figures = {figure.name: figure.value for figure in summarise([traced("abc", "abc", "c"), traced("xy", "xyz", "y")])}
    assert figures["precision"] == 1
    assert figures["recall"] == 5 / 6
    assert figures["F1"] == 10 / 11
    assert figures["introducing commit"] == 0.5
    assert figures["exact histories"] == 0.5
