"""Notes that say the same as a new one are pointed out, and stay."""

from pathlib import Path

import numpy as np
import pytest

from gitmem.records.documents import add_document
from gitmem.records.notes import add_note, list_notes
from gitmem.records.revisions import delete_records
from gitmem.records.similar_notes import ALIKE, ALIKE_MOST, MOST, SENTENCE, Alike, least_score
from tests.bench.alike import PRECISION, RECALL, judge, load_pairs
from tests.gitrepo import Repo
from tests.indexes import index, workspace_of


@pytest.fixture
def repo(tmp_path: Path, fake_model: object) -> Repo:
    repo = Repo.init(tmp_path / "repo")
    repo.commit({"a.md": "we deploy on tuesdays"})
    index(repo)
    return repo


def alike_to(repo: Repo, content: str) -> list[Alike]:
    alike: list[Alike] = []
    add_note(workspace_of(repo), content, alike=alike)
    return alike


def test_a_note_that_says_the_same_is_pointed_out_and_both_are_kept(repo: Repo) -> None:
    workspace = workspace_of(repo)
    old = add_note(workspace, "We deploy on Tuesdays.", type_="decision")
    add_note(workspace, "Backups are made at night.")
    [found] = alike_to(repo, "On Tuesdays, we deploy!")
    assert found.note == old
    assert found.score == pytest.approx(1, abs=0.01)
    assert [note.content for note in list_notes(workspace)] == [
        "On Tuesdays, we deploy!", "Backups are made at night.", "We deploy on Tuesdays.",
    ]  # fmt: skip


def test_only_notes_that_are_kept_are_compared(repo: Repo) -> None:
    workspace = workspace_of(repo)
    add_document(workspace, "We deploy on Tuesdays.", {})
    gone = add_note(workspace, "We deploy on Tuesdays.")
    delete_records(workspace, [gone.id])
    assert alike_to(repo, "We deploy on Tuesdays.") == []
    assert len(alike_to(repo, "We deploy on Tuesdays.")) == 1


def test_the_nearest_come_first_and_not_more_than_a_few(repo: Repo) -> None:
    for number in range(MOST):
        add_note(workspace_of(repo), f"We always deploy new versions of our service on Tuesdays {number}")
    same = add_note(workspace_of(repo), "We always deploy new versions of our service on Tuesdays")
    found = alike_to(repo, "We always deploy new versions of our service on Tuesdays")
    assert len(found) == MOST
    assert found[0].note == same
    assert sorted((one.score for one in found), reverse=True) == [one.score for one in found]
    assert min(one.score for one in found) >= ALIKE


def test_a_note_without_words_is_like_none(repo: Repo) -> None:
    assert alike_to(repo, "?!") == []
    assert alike_to(repo, "?!") == []


def test_more_is_asked_of_longer_notes() -> None:
    scores = [least_score(norm) for norm in (0, 1, SENTENCE, 2 * SENTENCE, 8 * SENTENCE, np.inf)]
    assert scores[:3] == [ALIKE] * 3
    assert ALIKE < scores[3] < scores[4] <= scores[5] == ALIKE_MOST


def test_the_held_out_pairs_are_told_apart() -> None:
    """With the model that ships."""
    pairs = load_pairs()
    assert len(pairs) >= 60
    assert sum(pair.same for pair in pairs) >= 30
    _, precision, recall, _ = judge("held out", pairs[1::2])
    assert precision.value >= PRECISION
    assert recall.value >= RECALL
