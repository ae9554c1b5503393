"""Figures: their verdict, their table, and the file of runs."""

import json
from pathlib import Path

import pytest

from tests.bench.figures import Figure, format_columns, format_table
from tests.bench.records import append_run
from tests.bench.synthetic import definitions_of, rename


@pytest.mark.parametrize(
    ("figure", "verdict"),
    [
        (Figure("a", "cost", 5, at_most=5), "reached"),
        (Figure("a", "cost", 5.1, at_most=5), "missed"),
        (Figure("a", "worth", 0.8, at_least=0.8), "reached"),
        (Figure("a", "worth", 0.79, at_least=0.8), "missed"),
        (Figure("a", "count", 7), ""),
    ],
)
def test_the_verdict_of_a_figure_follows_its_limit(figure: Figure, verdict: str) -> None:
    assert figure.verdict == verdict


def test_a_figure_that_cannot_be_measured_is_said_to_be_absent(tmp_path: Path) -> None:
    figure = Figure("one", "cost", None, "s", at_most=1)
    assert figure.verdict == ""
    assert format_table([figure]).split() == ["one", "cost", "absent", "s", "at", "most", "1"]
    append_run(tmp_path / "runs.json", "cold", [figure])
    assert json.loads((tmp_path / "runs.json").read_text())[0]["figures"][0]["value"] is None


def test_columns_compare_subjects() -> None:
    figures = [Figure("small", "cost", 2, "s"), Figure("large", "cost", 30, "s"), Figure("large", "cost", 4, "MB")]
    assert [line.split() for line in format_columns(figures).splitlines()] == [
        ["small", "large"],
        ["cost", "2", "30", "s"],
        ["cost", "4", "MB"],
    ]


def test_a_table_has_a_line_per_figure() -> None:
    table = format_table([Figure("one", "cost", 1234.5, "s"), Figure("another", "x", 0.5, at_most=1)])
    assert [line.split()[0] for line in table.splitlines()] == ["one", "another"]
    assert "at most 1" in table


def test_a_run_is_appended_to_the_file(tmp_path: Path) -> None:
    file = tmp_path / "results" / "cold.json"
    for value in (1.0, 2.0):
        append_run(file, "cold", [Figure("a", "cost", value, "s", at_most=3)])
    runs = json.loads(file.read_text())
    assert [run["figures"][0]["value"] for run in runs] == [1.0, 2.0]
    assert {"commit", "modified", "date", "load"} <= runs[0].keys()


def test_synthetic_code_consists_of_whole_definitions() -> None:
    body = "\n".join(f"    step_{number}()" for number in range(6))
    definitions = list(definitions_of(f"import os\n\ndef short(): pass\n\ndef long():\n{body}\n"))
    assert definitions == [("long", f"def long():\n{body}")]
    assert rename(*definitions[0], "way").startswith("def long_way():")
