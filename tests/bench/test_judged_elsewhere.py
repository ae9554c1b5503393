"""Pairs for a blind judge, and scores with the judgements, computed by hand."""

import json
import math
import random
from pathlib import Path

import pytest

from tests.bench.blind_pairs import Ranking, Result, iter_pairs, mask, write_pairs
from tests.bench.judged_elsewhere import compare_with_labels, join_judgements, read_labels
from tests.bench.quality import BenchQuery
from tests.bench.scoring import Place, Target


def result(repository: str, path: str) -> Result:
    return Result(repository, Place(path, 1, 2), "symbol")


QUERY = BenchQuery("flask", "error handlers", "symbol", (Target("src/app.py"),))
RANKING = Ranking(
    QUERY,
    [Place("src/app.py", 1, 9)],
    [result("plug", "error.ex"), result("axum", "src/app.py"), result("flask", "src/app.py"), result("axum", "c.rs")],
)


def test_what_is_before_the_last_target_is_judged_with_controls() -> None:
    pairs = [(pair.reason, pair.rank, pair.result.repository) for pair in iter_pairs(RANKING, random.Random(1))]
    assert RANKING.loses
    assert pairs == [("elsewhere", 1, "plug"), ("elsewhere", 2, "axum"), ("labelled", 3, "flask")]


def test_the_judge_sees_neither_the_repository_nor_the_reason(tmp_path: Path) -> None:
    for repository, path in (("plug", "error.ex"), ("axum", "src/app.py"), ("flask", "src/app.py")):
        file = tmp_path / repository / path
        file.parent.mkdir(parents=True)
        file.write_text(f"import {repository}\nsecond\nthird\n", encoding="utf-8")
    assert write_pairs([RANKING], tmp_path, tmp_path / "out") == 3
    lines = (tmp_path / "out/pairs.jsonl").read_text(encoding="utf-8").splitlines()
    assert {tuple(json.loads(line)) for line in lines} == {("id", "query", "path_in_repo", "symbol", "code")}
    assert {json.loads(line)["code"] for line in lines} == {"import PROJECT\nsecond"}


@pytest.mark.parametrize(
    ("repository", "text", "expected"),
    [
        ("gin", "begin gin.Context, GIN", "begin PROJECT.Context, PROJECT"),
        ("telescope.nvim", "lua/telescope/nvim.lua", "lua/PROJECT/nvim.lua"),
        ("fmtlib", "fmt::format", "PROJECT::format"),
    ],
)
def test_names_are_masked_as_words(repository: str, text: str, expected: str) -> None:
    assert mask(text, repository) == expected


def test_scores_with_judgements(tmp_path: Path) -> None:
    key = {
        name: {"reason": reason, "repository": "flask", "query": QUERY.text, "rank": 1,
               "found": {"repository": repository, "path": path, "start": 1, "end": 2}}
        for name, reason, repository, path in (
            ("a", "elsewhere", "plug", "error.ex"), ("b", "elsewhere", "axum", "src/app.py"),
            ("c", "labelled", "flask", "src/app.py"))
    }  # fmt: skip
    (tmp_path / "key.json").write_text(json.dumps(key), encoding="utf-8")
    judged = [{"id": name, "relevance": relevance} for name, relevance in (("a", 2), ("b", 0), ("c", 2))]
    (tmp_path / "judged.jsonl").write_text("\n".join(map(json.dumps, judged)), encoding="utf-8")
    join_judgements(tmp_path, tmp_path / "labels.json")
    figures = {
        (figure.subject, figure.name): figure.value
        for figure in compare_with_labels([RANKING], read_labels(tmp_path / "labels.json"))
    }
    second, third = 1 / math.log2(3), 1 / math.log2(4)
    # Right are the first and the third of four results, and then the only target is second.
    assert figures["judged", "NDCG@10 together, right answers of other repositories count"] == pytest.approx(
        (1 + third) / (1 + second)
    )
    assert figures["judged", "NDCG@10 together, no irrelevant results of others"] == pytest.approx(second)
    assert figures["judged", "NDCG@10 together, no results of others"] == 1
    assert (figures["elsewhere", "share right"], figures["labelled", "share right"]) == (0.5, 1)
