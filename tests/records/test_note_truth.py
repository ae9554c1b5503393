"""Notes that others replace, that expire, or whose files change are marked, ranked below, and never lost."""

import json
from pathlib import Path

import pytest

from gitmem.errors import UnknownRecord, UsageError
from gitmem.memory.note import Note, check_note, load_note, note_record
from gitmem.memory.record_store import RecordStore
from gitmem.record import Record, format_record
from gitmem.records.filters import NO_FILTERS, RecordFilters
from gitmem.records.note_review import review_notes
from gitmem.records.note_states import NoteState, describe_state, read_states
from gitmem.records.notes import add_note, confirm_notes, expire_notes, list_notes, replace_note
from gitmem.records.transfer import export_records, import_records
from gitmem.search.outdated import OUTDATED_SHARE
from gitmem.workspace import Workspace, open_workspace
from tests.gitrepo import Repo
from tests.indexes import index, search, workspace_of
from tests.records.sharing_clones import NOTE, Clone

OLD, NEW = "sessions live in signed cookies", "sessions live in redis"


@pytest.fixture
def repo(tmp_path: Path, fake_model: object) -> Repo:
    repo = Repo.init(tmp_path / "repo")
    repo.commit({"app.py": "def close():\n    pass\n", "docs/guide.md": "read me"})
    index(repo)
    return repo


@pytest.fixture
def workspace(repo: Repo) -> Workspace:
    return workspace_of(repo)


def found(repo: Repo, text: str, filters: RecordFilters = NO_FILTERS) -> list[tuple[str, float, list[str]]]:
    """Return id, score and marks of each note that a search finds."""
    answer = search(repo, text, kinds=("notes",), records=filters, min_score=0)
    fields = [(answer.records[hit.blob], hit.score) for hit, _ in answer.hits]
    return [(each["id"], score, each["state"]["marks"]) for each, score in fields]


def state_of(workspace: Workspace, note: Note) -> NoteState:
    [state] = read_states(workspace, [note], counted=True)
    return state


def test_a_note_takes_over_the_score_of_the_one_that_it_supersedes(repo: Repo, workspace: Workspace) -> None:
    old = add_note(workspace, OLD).note
    new = add_note(workspace, "redis holds them now").note
    [(best, before, _), *_] = found(repo, OLD)
    assert best == old.id
    replace_note(workspace, new.id, {"supersedes": [old.id[:9]]})
    (first, score, marks), (second, lowered, old_marks) = found(repo, OLD)
    assert (first, second) == (new.id, old.id)
    assert (marks, old_marks) == ([], [f"superseded by {new.id}"])
    assert score == pytest.approx(before, abs=0.1)
    assert lowered <= OUTDATED_SHARE * score


def test_the_last_of_a_chain_of_notes_is_current(repo: Repo, workspace: Workspace) -> None:
    notes = [add_note(workspace, OLD).note]
    for number in range(2):
        notes.append(add_note(workspace, f"other words {number}", supersedes=[notes[-1].id]).note)
    assert found(repo, OLD)[0][0] == notes[-1].id


def test_two_notes_that_replace_each_other_are_both_current(repo: Repo, workspace: Workspace) -> None:
    one = add_note(workspace, OLD).note
    other = add_note(workspace, NEW, supersedes=[one.id]).note
    replace_note(workspace, one.id, {"supersedes": [other.id]})
    assert [note for note, *_ in found(repo, OLD)] == [one.id, other.id]


def test_a_superseded_note_is_current_again_if_its_successor_does_not_pass_the_filters(
    repo: Repo, workspace: Workspace
) -> None:
    old = add_note(workspace, OLD).note
    before = found(repo, OLD)
    add_note(workspace, NEW, type_="decision", supersedes=[old.id])
    [(name, score, marks)] = found(repo, OLD, RecordFilters(type=("fact",)))
    assert (name, len(marks)) == (old.id, 1)
    assert score > OUTDATED_SHARE * before[0][1]


def test_an_expired_note_is_found_below_and_marked(repo: Repo, workspace: Workspace) -> None:
    old, new = add_note(workspace, OLD).note, add_note(workspace, "sessions live elsewhere").note
    before = {name: score for name, score, _ in found(repo, OLD)}
    expire_notes(workspace, [old.id], "2026-01-31")
    after = {name: (score, marks) for name, score, marks in found(repo, OLD)}
    score, marks = after[old.id]
    assert score == pytest.approx(OUTDATED_SHARE * before[old.id])
    assert marks == ["expired 2026-01-31"]
    assert after[new.id] == (before[new.id], [])
    expire_notes(workspace, [old.id], "2999-01-31")
    assert found(repo, OLD)[0] == (old.id, before[old.id], [])


def test_a_note_supersedes_only_notes_that_exist(workspace: Workspace) -> None:
    with pytest.raises(UnknownRecord, match="no such record"):
        add_note(workspace, NEW, supersedes=["mem_0123456789ab"])
    note = add_note(workspace, OLD).note
    with pytest.raises(UsageError, match="not the id of another note"):
        replace_note(workspace, note.id, {"supersedes": [note.id]})
    with pytest.raises(UsageError, match="must be a date"):
        expire_notes(workspace, [note.id], "soon")
    assert list_notes(workspace) == [note]


def test_a_note_is_stale_once_its_file_changes_and_fresh_with_its_old_content(repo: Repo, workspace: Workspace) -> None:
    note = add_note(workspace, OLD, paths=["app.py", "docs"]).note
    assert not review_notes(workspace)
    repo.write({"app.py": "changed"})
    repo.write({"docs/guide.md": "changed"})
    [stale] = review_notes(workspace)
    assert describe_state(stale.state) == ["written about `app.py`, changed since: not committed yet"]
    repo.commit()
    workspace = open_workspace(repo.path, {})
    assert describe_state(state_of(workspace, note)) == ["written about `app.py`, changed since: 1 commit"]
    assert found(repo, OLD)[0][2] == ["written about `app.py`, changed since"]
    repo.git("checkout", "-q", "HEAD~1", "--", "app.py")
    assert not review_notes(workspace)
    repo.git("rm", "-qf", "app.py")
    repo.commit()
    workspace = open_workspace(repo.path, {})
    assert describe_state(state_of(workspace, note)) == ["written about `app.py`, which no longer exists"]
    assert found(repo, OLD)[0][2] == ["written about `app.py`, which no longer exists"]


def test_a_note_about_a_symbol_is_about_the_files_that_define_it(repo: Repo, workspace: Workspace) -> None:
    note = add_note(workspace, OLD, symbols=["close"]).note
    assert list(note.blobs) == ["app.py"]
    assert note.commit == repo.oid("HEAD")


def test_who_confirms_or_changes_a_note_has_read_the_present_files(repo: Repo, workspace: Workspace) -> None:
    notes = [add_note(workspace, OLD, paths=["app.py"]).note, add_note(workspace, NEW, paths=["app.py"]).note]
    repo.write({"app.py": "changed"})
    assert len(review_notes(workspace)) == 2
    confirm_notes(workspace, [notes[0].id])
    replace_note(workspace, notes[1].id, {"content": "other words"})
    assert not review_notes(workspace)
    newest, confirmed = list_notes(workspace)
    assert (newest.content, newest.confirmed) == ("other words", "")
    assert (confirmed.content, confirmed.time, bool(confirmed.confirmed)) == (OLD, notes[0].time, True)
    assert replace_note(workspace, notes[0].id, {"content": OLD}).confirmed


def test_a_confirmed_note_has_not_expired(workspace: Workspace) -> None:
    note = add_note(workspace, OLD, expires="2026-01-31").note
    assert state_of(workspace, note).expired
    [confirmed], _ = confirm_notes(workspace, [note.id])
    assert confirmed.expires == ""


def test_new_fields_survive_export_sync_and_a_newer_gitmem(ann: Clone, bob: Clone) -> None:
    ann.repo.commit({"app.py": "x"})
    clone = open_workspace(ann.repo.path, {})
    old = add_note(clone, OLD).note
    note = add_note(clone, NEW, paths=["app.py"], supersedes=[old.id], expires="2999-01-01").note
    ann.sync()
    bob.sync()
    assert ann.records() == bob.records()
    received = {each.id: each._replace(shared_by="") for each in list_notes(bob.workspace)}
    assert received == {note.id: note, old.id: old}
    assert state_of(bob.workspace, old).superseded_by == (note.id,)
    lines = [json.dumps({**json.loads(line), "shared_by": None}) for line in export_records(ann.workspace)]
    assert import_records(clone, [line.replace(', "shared_by": null', "") for line in lines]).written == 0


def test_a_change_keeps_fields_that_only_a_newer_gitmem_knows(workspace: Workspace) -> None:
    record = Record("note", NOTE, {"type": "fact", "confidence": 1.0, "time": "", "colour": "red"}, b"text")
    path = b"v1/notes/01/" + NOTE.encode()
    with RecordStore(workspace.location) as store:
        store.change("add", lambda _: {path: format_record(record)})
        confirm_notes(workspace, [NOTE])
        changed = store.find_record(store.tip(), path)
    assert changed is not None
    assert changed.fields["colour"] == "red"
    assert load_note(changed).confirmed


def test_forged_ids_of_blobs_are_refused() -> None:
    note = Note(NOTE, "text", "fact", 1.0, "", "")
    for forged in ({"blobs": {"a": "--output=x"}}, {"commit": "HEAD"}, {"blobs": {"../a": ""}}):
        with pytest.raises(UsageError):
            check_note(load_note(note_record(note._replace(**forged))))
