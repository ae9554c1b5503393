"""What is deleted is neither found, nor read, nor listed any more; the rest is."""

from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitmem.errors import UnknownRecord
from gitmem.records.conversations import append_turn, list_conversations
from gitmem.records.documents import add_document, list_documents
from gitmem.records.notes import add_note, list_notes
from gitmem.records.revisions import delete_records, show_records
from gitmem.workspace import Workspace, open_workspace
from tests.gitrepo import Repo
from tests.indexes import index, search

pytestmark = pytest.mark.usefixtures("fake_model")

KINDS = ("note", "document", "turn")
NUMBERS = count()


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    """Make a repository whose code has none of the words."""
    repo = Repo.init(tmp_path / "repo")
    repo.commit({"a.txt": "Other text.\n"})
    index(repo)
    return repo


def add(workspace: Workspace, kind: str) -> tuple[str, str]:
    """Store a record with a word that no other one has; return its id and the word."""
    word = f"word{next(NUMBERS)}q"
    if kind == "note":
        return add_note(workspace, f"The note has {word}.").note.id, word
    if kind == "document":
        return add_document(workspace, f"The document has {word}.", {"source_id": word}).document.id, word
    append_turn(workspace, word, "user", f"The turn has {word}.", 0)
    return f"conversation:{word}", word


def listed(workspace: Workspace) -> set[str]:
    """Return the ids of the records that lists show, the newest ones."""
    ids = {note.id for note in list_notes(workspace)} | {document.id for document in list_documents(workspace)}
    return ids | {f"conversation:{each.id}" for each in list_conversations(workspace)}


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(drawn=st.lists(st.tuples(st.sampled_from(KINDS), st.booleans()), min_size=1, max_size=2))
def test_a_deleted_record_is_gone_and_the_others_stay(repo: Repo, drawn: list[tuple[str, bool]]) -> None:
    """Property 17: Deletion."""
    workspace = open_workspace(repo.path, {})
    added = {add(workspace, kind): is_kept for kind, is_kept in drawn}
    kept = {name for (name, _), is_kept in added.items() if is_kept}
    gone = {name for name, _ in added} - kept
    if gone:
        delete_records(workspace, sorted(gone))
    assert listed(workspace) & (kept | gone) == kept
    for name in gone:
        with pytest.raises(UnknownRecord):
            show_records(workspace, name)
    text = " ".join(word for _, word in added)
    hits = search(repo, text, kinds=("notes", "documents", "conversations"), min_score=0.0).hits
    found = " ".join(str(lines) for _, lines in hits)
    assert {name for name, word in added if f"{word}." in found} == kept
