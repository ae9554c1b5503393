"""Finding earlier notes with the meaning of a new one."""

from pathlib import Path

import numpy as np
import pytest

from gitmem.records.documents import add_document
from gitmem.records.notes import add_note, list_notes
from gitmem.records.revisions import delete_records
from gitmem.records.similar_notes import MAX_MIN_SCORE, MAX_SIMILAR, MIN_SCORE, SENTENCE_NORM, SimilarNote, min_score
from tests.bench.similar_notes import PRECISION, RECALL, judge, load_pairs
from tests.gitrepo import Repo
from tests.indexes import index, workspace_of


@pytest.fixture
def repo(tmp_path: Path, fake_model: object) -> Repo:
    repo = Repo.init(tmp_path / "repo")
    repo.commit({"a.md": "we deploy on tuesdays"})
    index(repo)
    return repo


def add_similar(repo: Repo, content: str) -> list[SimilarNote]:
    """Add a note and return the earlier notes that are similar to it."""
    return add_note(workspace_of(repo), content).similar


def test_a_similar_note_is_reported_and_both_are_kept(repo: Repo) -> None:
    workspace = workspace_of(repo)
    old = add_note(workspace, "We deploy on Tuesdays.", type_="decision").note
    add_note(workspace, "Backups are made at night.")
    [similar] = add_similar(repo, "On Tuesdays, we deploy!")
    assert similar.note == old
    assert similar.score == pytest.approx(1, abs=0.01)
    assert [note.content for note in list_notes(workspace)] == [
        "On Tuesdays, we deploy!", "Backups are made at night.", "We deploy on Tuesdays.",
    ]  # fmt: skip


def test_documents_and_deleted_notes_are_not_compared(repo: Repo) -> None:
    workspace = workspace_of(repo)
    add_document(workspace, "We deploy on Tuesdays.", {})
    deleted = add_note(workspace, "We deploy on Tuesdays.").note
    delete_records(workspace, [deleted.id])
    assert add_similar(repo, "We deploy on Tuesdays.") == []
    assert len(add_similar(repo, "We deploy on Tuesdays.")) == 1


def test_the_nearest_notes_come_first_and_are_few(repo: Repo) -> None:
    for number in range(MAX_SIMILAR):
        add_note(workspace_of(repo), f"We always deploy new versions of our service on Tuesdays {number}")
    same = add_note(workspace_of(repo), "We always deploy new versions of our service on Tuesdays").note
    similar = add_similar(repo, "We always deploy new versions of our service on Tuesdays")
    scores = [each.score for each in similar]
    assert len(similar) == MAX_SIMILAR
    assert similar[0].note == same
    assert sorted(scores, reverse=True) == scores
    assert min(scores) >= MIN_SCORE


def test_a_note_without_words_is_similar_to_none(repo: Repo) -> None:
    assert add_similar(repo, "?!") == []
    assert add_similar(repo, "?!") == []


def test_the_threshold_rises_with_the_length_of_a_note() -> None:
    scores = [min_score(norm) for norm in (0, 1, SENTENCE_NORM, 2 * SENTENCE_NORM, 8 * SENTENCE_NORM, np.inf)]
    assert scores[:3] == [MIN_SCORE] * 3
    assert MIN_SCORE < scores[3] < scores[4] <= scores[5] == MAX_MIN_SCORE


def test_similar_and_other_pairs_are_told_apart() -> None:
    """Measured with the bundled model."""
    pairs = load_pairs()
    assert len(pairs) >= 60
    assert sum(pair.same for pair in pairs) >= 30
    _, precision, recall, _ = judge("held out", pairs[1::2])
    assert precision.value is not None
    assert recall.value is not None
    assert precision.value >= PRECISION
    assert recall.value >= RECALL
