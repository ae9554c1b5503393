"""Queries from headings: their choice, their removal from the pages, and the figures."""

import json

import numpy as np
import pytest

from tests.bench.bm25 import Bm25
from tests.bench.document_corpus import prepare, read_projects, titles_by_word
from tests.bench.document_quality import Piece, open_scores
from tests.bench.document_queries import LABELS, MIN_QUERIES, choose_headings
from tests.bench.page_headings import find_sections
from tests.bench.score_calibration import ScoredResult, fit_logistic, measure_calibration
from tests.bench.scoring import Place

MARKDOWN = """\
# Guide

- [How do I sign cookies?](#how-do-i-sign-cookies)

## How do I `sign` cookies?

Set a key.

```sh
# no heading
```

### Rotating the keys

Add a second one. See "How do I sign cookies?" and what else there is to be read about keys.

## Other
"""
RST = """\
=====
Guide
=====

How do I sign cookies?
----------------------

Set a key.

Rotating
~~~~~~~~

Other
-----
"""
ADOC = "= Guide\n\n== How do I sign cookies?\n\n----\n== no heading\n----\n\n=== Rotating\n\n== Other\n"


@pytest.mark.parametrize(("text", "path"), [(MARKDOWN, "a.md"), (RST, "a.rst"), (ADOC, "a.adoc")])
def test_a_section_extends_to_the_next_heading_of_its_level(text: str, path: str) -> None:
    lines = text.split("\n")
    sections = {section.title: section for section in find_sections(lines, path)}
    assert "no heading" not in sections
    section = sections["How do I sign cookies?"]
    assert "cookies" in lines[section.start]
    body = "\n".join(lines[section.body : section.end])
    assert "Rotating" in body
    assert "Other" not in body


def test_headings_used_as_queries_are_removed_from_their_page() -> None:
    heading = "How do I sign cookies?"
    page = prepare("a.md", MARKDOWN, [heading], titles_by_word([heading]))
    lines = page.text.split("\n")
    assert not any(line.startswith(("## How", "- [How")) for line in lines)
    assert sum("How do I sign cookies?" in line for line in lines) == 1
    first, last = page.answers[heading]
    assert lines[first - 1 : last][1] == "Set a key."
    assert lines[last] == "## Other"


def test_headings_are_chosen_once_and_only_with_enough_text_below() -> None:
    body = "word " * 50
    asking = f"# How are cookies signed?\n{body}\n# How are tokens revoked?\nshort\n"
    page = f"{asking}# Signing all the cookies\n{body}\n# Other\n"
    labels = choose_headings(
        {
            "a.md": page,
            "b.md": f"# How are sessions stored here?\n{body}",
            "c.md": f"# how are sessions stored here?\n{body}",
        }
    )
    assert [(label.heading, label.category) for label in labels] == [
        ("How are cookies signed?", "question"),
        ("Signing all the cookies", "task"),
    ]


def test_the_query_set_is_split_by_project_and_large_enough() -> None:
    halves = [read_projects(half) for half in ("development", "held-out")]
    assert {project.name for project in halves[0]}.isdisjoint(project.name for project in halves[1])
    assert min(map(len, halves)) >= 10
    queries = [label for project in read_projects("both") for label in project.labels]
    assert len(queries) >= 300
    assert min(len(project.labels) for project in read_projects("both")) >= MIN_QUERIES
    assert all(
        set(label) == {"path", "heading", "category"}
        for one in json.loads(LABELS.read_text())
        for label in one["queries"]
    )


def test_bm25_equals_its_formula() -> None:
    texts = ["sign cookies", "sign sign sessions here", "nothing"]
    mean = 7 / 3
    idf = np.log(1 + (3 - 2 + 0.5) / (2 + 0.5))
    expected = [idf * times * 2.2 / (times + 1.2 * (0.25 + 0.75 * size / mean)) for times, size in ((1, 2), (2, 4))]
    assert Bm25(texts).score("sign").tolist() == pytest.approx([*expected, 0.0])


def test_a_page_is_ranked_by_its_best_piece() -> None:
    pieces = [Piece("", Place(page, first, first)) for page, first in (("a", 1), ("b", 1), ("a", 9))]
    search = open_scores(pieces, lambda _: np.array([0.1, 0.5, 0.9]))
    assert search("x") == [Place("a", 9, 9), Place("b", 1, 1)]


def test_the_calibration_error_is_the_mean_gap_of_the_bins() -> None:
    results = [
        ScoredResult("code", 0.25, True),
        ScoredResult("code", 0.25, False),
        ScoredResult("code", 0.95, True),
        ScoredResult("code", 0.95, True),
    ]
    figures = measure_calibration("x", results)
    assert [figure.value for figure in figures[:-1]] == [0.5, 1.0]
    assert figures[-1].value == pytest.approx((0.25 + 0.05) / 2)


def test_the_logistic_curve_is_recovered_from_samples() -> None:
    dice = np.random.default_rng(1)
    inputs = dice.normal(0, 3, (20_000, 2))
    answers = dice.random(len(inputs)) < 1 / (1 + np.exp(-(0.7 * inputs[:, 0] + 0.2 * inputs[:, 1] - 1)))
    weights, bias = fit_logistic(inputs, answers.astype(float), 1e-6)
    assert [*weights.tolist(), bias] == pytest.approx([0.7, 0.2, -1.0], abs=0.05)
