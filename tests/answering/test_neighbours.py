"""Chunks beside a hit: of a document, of code, and of what is in one piece."""

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


def content(made: Answer) -> str:
    return str(answer_json(made, [None] * len(made.hits))["results"][0]["content"])


@pytest.mark.parametrize("word_at", [0, 1900, 3999])
def test_a_middle_chunk_has_two_marks_and_one_at_the_edge_has_one(repo: Repo, word_at: int) -> None:
    words = [f"filler{number % 50}" for number in range(4000)]
    words[word_at] = "needle"
    text = " ".join(words)  # one line: a chunk of it is not its lines
    document = add_document(workspace_of(repo), text, {}).document
    pieces = [text[start:end] for start, end in document.chunks]
    holding = [place for place, piece in enumerate(pieces) if "needle" in piece]
    told = content(search(repo, "needle", kinds=("documents",), neighbors=True))
    own = next(place for place in holding if told.split(f"\n{BOUNDARY}\n")[min(place, 1)] == pieces[place])
    assert told.split(f"\n{BOUNDARY}\n") == pieces[max(0, own - 1) : own + 2]
    assert told.count(BOUNDARY) == (1 if own in (0, len(pieces) - 1) else 2)
    assert content(search(repo, "needle", kinds=("documents",))) == pieces[own]


def test_what_is_in_one_piece_has_no_mark(repo: Repo) -> None:
    add_note(workspace_of(repo), "only this\n\nneedle\n")
    assert content(search(repo, "needle", kinds=("notes",), neighbors=True)) == "only this\n\nneedle\n".rstrip("\n")


def test_neighbours_in_code_stand_before_and_after_never_inside_or_around(repo: Repo) -> None:
    made = search(repo, "third_step", neighbors=True)
    assert made.hits[0][0].symbol == "Journey.third_step"
    before, after = made.adjacent[0]
    assert before is not None
    assert after is not None
    lines = CODE.split("\n")
    assert (before.lines[0], before.first) == (
        "    def second_step(self):",
        lines.index("    def second_step(self):") + 1,
    )
    assert (after.lines[0], after.first) == ("def last_step():", lines.index("def last_step():") + 1)
    assert search(repo, "third_step").adjacent[0] == (None, None)


def test_a_person_sees_whole_chunks_with_marks_between(cli: Cli, repo: Repo) -> None:
    shown = cli("query", "third_step", "--neighbors", "-n", "1", cwd=repo.path).out.splitlines()
    assert shown.count(BOUNDARY) == 2
    numbers = [int(line.split()[0]) for line in shown[1:-1] if line != BOUNDARY]
    assert numbers == sorted(numbers)
    assert cli("query", "third_step", "--neighbors", "-C", "2", cwd=repo.path).code == ExitCode.USAGE
