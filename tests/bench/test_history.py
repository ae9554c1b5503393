"""Scores of histories equal values computed by hand, and labelled histories have their form."""

import json
import re
from dataclasses import replace
from typing import Final

from tests.bench.history import LABELS, Traced, summarise

TAGS: Final = {"INTRODUCTION", "BODY", "SIGNATURE", "RENAME", "MOVE", "FILE_MOVE", "DOCUMENTATION", "FORMAT", "MEMBER"}


def traced(found: str, expected: str, introduced: str) -> Traced:
    return Traced("one", frozenset(found), frozenset(expected), introduced, frozenset(expected[-1]), 0.2, 0.1, 0.1)


def test_commits_are_counted_over_all_methods_and_histories_per_method() -> None:
    figures = {figure.name: figure.value for figure in summarise([traced("abc", "abc", "c"), traced("xy", "xyz", "y")])}
    assert figures["precision"] == 1
    assert figures["recall"] == 5 / 6
    assert figures["F1"] == 10 / 11
    assert figures["introducing commit"] == 0.5
    assert figures["exact histories"] == 0.5


def test_languages_are_summed_up_apart() -> None:
    traces = [traced("abc", "abc", "c"), replace(traced("xy", "xyz", "y"), language="python")]
    figures = {figure.name: figure.value for figure in summarise(traces, "python")}
    assert figures["methods"] == 1
    assert figures["recall"] == 2 / 3


def test_every_labelled_history_ends_with_its_only_introduction() -> None:
    labels = json.loads(LABELS.read_text(encoding="utf-8"))
    assert len({label["id"] for label in labels}) == len(labels)
    for label in labels:
        assert {"language", "repository", "path", "symbol"} < label.keys()
        assert 1 <= label["start"] <= label["end"]
        commits = [change["commit"] for change in label["changes"]]
        assert all(re.fullmatch("[0-9a-f]{40}", commit) for commit in [label["commit"], *commits])
        assert 2 <= len(set(commits)) == len(commits)
        assert all(change["tags"] and set(change["tags"]) <= TAGS for change in label["changes"])
        introductions = [change["commit"] for change in label["changes"] if "INTRODUCTION" in change["tags"]]
        assert introductions == commits[-1:], label["id"]
