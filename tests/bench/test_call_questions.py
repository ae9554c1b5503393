"""Costs of answers equal values counted by hand, and the questions are well formed."""

from collections import Counter
from pathlib import Path

from tests.bench.call_questions import (
    KINDS,
    Answered,
    Cost,
    Question,
    figures,
    find_word,
    read_around,
    read_hits,
    read_questions,
)
from tests.bench.call_questions import QUESTIONS as FILE
from tests.bench.server_oracles import compile_commands

TEXTS = {
    "a.py": ["def run():", "    pass", *["x"] * 60, "run()", "runner()"],
    "b.py": ["import a", "a.run()"],
}


def words(text: str) -> int:
    return len(text.split())


def test_hits_and_the_lines_around_them_count_until_the_answer_is_complete() -> None:
    question = Question("o/r", "0", "callers", "a.py:1", "run", ("a.py:63",))
    hits = find_word(TEXTS, "run")
    assert [(path, line) for path, line, _ in hits] == [("a.py", 1), ("a.py", 63), ("b.py", 2)]
    # Of the lines `a.py:1:def run():` and `a.py:63:run()`.
    assert read_hits(question, hits, words) == Cost(3, 1.0)
    # All four words of the hits; a heading and lines 1 to 21; a heading and lines 43 to 64.
    assert read_around(question, hits, TEXTS, words) == Cost(4 + (1 + 3 + 19) + (1 + 22), 1.0)
    missing = Question("o/r", "0", "callers", "a.py:1", "run", ("a.py:63", "c.py:1"))
    assert read_hits(missing, hits, words).recall == 0.5


def test_figures_compare_complete_answers_only() -> None:
    question = Question("o/r", "0", "callers", "a.py:1", "run", ("a.py:63",))
    costs = [
        Answered(question, Cost(10, 1.0, others=2), Cost(20, 1.0), Cost(100, 1.0)),
        Answered(question, Cost(50, 0.5), Cost(20, 1.0), Cost(50, 1.0)),
    ]
    values = {figure.name: figure.value for figure in figures("callers", costs)}
    assert values["complete answers of usages"] == 0.5
    assert values["other places in an answer of usages, mean"] == 1
    assert values["lines around, relative to usages where complete"] == 10
    assert figures("tests", costs) == []


def test_there_are_sixty_questions_over_ten_repositories() -> None:
    questions = read_questions(FILE)
    assert len(questions) == 60
    assert len({question.repository for question in questions}) == 10
    assert set(Counter(question.kind for question in questions)) == set(KINDS)
    assert all(question.expected for question in questions)


def test_clangd_gets_the_folders_of_all_headers(tmp_path: Path) -> None:
    for path in ("src/a.c", "include/lib/a.h", "test/b.cpp", "docs/c.txt"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).touch()
    first, second = compile_commands(tmp_path)
    assert [Path(each["file"]).name for each in (first, second)] == ["a.c", "b.cpp"]
    folders = {argument for argument in first["arguments"] if argument.startswith("-I")}
    assert folders == {f"-I{tmp_path}", f"-I{tmp_path}/include", f"-I{tmp_path}/include/lib"}
    assert "-std=gnu++17" in second["arguments"]
