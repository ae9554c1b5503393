"""Chunks next to a hit: in a document, in code, and in a record of one chunk."""

from pathlib import Path

import pytest

from gitmem.answering.answer import Answer
from gitmem.answering.answer_json import BOUNDARY, answer_json
from gitmem.errors import ExitCode
from gitmem.records.documents import add_document
from gitmem.records.notes import add_note
from tests.gitrepo import Repo
from tests.indexes import index, search, workspace_of
from tests.sample import Cli

pytestmark = pytest.mark.usefixtures("fake_model")

CODE = """\
def first_step():
    return "first step of the whole long journey through the hills" * 7


class Journey:
    def second_step(self):
        return "second step of the whole long journey through the hills" * 7

    def third_step(self):
        return "third step of the whole long journey through the hills" * 7


def last_step():
    return "last step of the whole long journey through the hills" * 7
"""


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    repo = Repo.init(tmp_path / "repo")
    repo.commit({"journey.py": CODE})
    index(repo)
    return repo


def content(answer: Answer) -> str:
    return str(answer_json(answer, [None] * len(answer.hits))["results"][0]["content"])


@pytest.mark.parametrize("word_at", [0, 1900, 3999])
def test_a_middle_chunk_has_two_boundaries_and_a_chunk_at_the_edge_has_one(repo: Repo, word_at: int) -> None:
    words = [f"filler{number % 50}" for number in range(4000)]
    words[word_at] = "needle"
    text = " ".join(words)  # a single line, so chunks do not consist of whole lines
    document = add_document(workspace_of(repo), text, {}).document
    pieces = [text[start:end] for start, end in document.chunks]
    candidates = [place for place, piece in enumerate(pieces) if "needle" in piece]
    shown_text = content(search(repo, "needle", kinds=("documents",), neighbors=True))
    hit_place = next(
        place for place in candidates if shown_text.split(f"\n{BOUNDARY}\n")[min(place, 1)] == pieces[place]
    )
    assert shown_text.split(f"\n{BOUNDARY}\n") == pieces[max(0, hit_place - 1) : hit_place + 2]
    assert shown_text.count(BOUNDARY) == (1 if hit_place in (0, len(pieces) - 1) else 2)
    assert content(search(repo, "needle", kinds=("documents",))) == pieces[hit_place]


def test_a_record_of_one_chunk_has_no_boundary(repo: Repo) -> None:
    add_note(workspace_of(repo), "only this\n\nneedle\n")
    assert content(search(repo, "needle", kinds=("notes",), neighbors=True)) == "only this\n\nneedle\n".rstrip("\n")


def test_neighbours_in_code_are_before_and_after_and_never_nested(repo: Repo) -> None:
    answer = search(repo, "third_step", neighbors=True)
    assert answer.hits[0][0].symbol == "Journey.third_step"
    before, after = answer.adjacent[0]
    assert before is not None
    assert after is not None
    lines = CODE.split("\n")
    assert (before.lines[0], before.first) == (
        "    def second_step(self):",
        lines.index("    def second_step(self):") + 1,
    )
    assert (after.lines[0], after.first) == ("def last_step():", lines.index("def last_step():") + 1)
    assert search(repo, "third_step").adjacent[0] == (None, None)


def test_terminal_output_shows_whole_chunks_with_boundaries_between(cli: Cli, repo: Repo) -> None:
    lines = cli("query", "third_step", "--neighbors", "-n", "1", cwd=repo.path).out.splitlines()
    assert lines.count(BOUNDARY) == 2
    numbers = [int(line.split()[0]) for line in lines[1:-1] if line != BOUNDARY]
    assert numbers == sorted(numbers)
    assert cli("query", "third_step", "--neighbors", "-C", "2", cwd=repo.path).code == ExitCode.USAGE
