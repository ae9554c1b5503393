"""Storing, listing, restoring and transferring notes, documents and conversations."""

import hashlib
import json
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitmem.errors import StorageFailed, UnknownRecord, UnknownRevision, UsageError
from gitmem.memory.bounds import format_time
from gitmem.memory.conversation import Turn
from gitmem.memory.document import document_record, load_document
from gitmem.memory.record_paths import REFERENCE, note_path
from gitmem.memory.record_store import RecordStore
from gitmem.records import documents as documents_module
from gitmem.records.conversations import append_turn, import_turns, last_turns, list_conversations
from gitmem.records.documents import add_document, get_document, list_documents, prune_expired
from gitmem.records.notes import add_note, list_notes
from gitmem.records.revisions import delete_records, read_diff, read_log, restore_records, show_records
from gitmem.records.transfer import export_records, import_records
from gitmem.workspace import Workspace, open_workspace
from tests.gitrepo import Repo

TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=100).filter(str.strip)


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return Repo.init(tmp_path / "repo")


@pytest.fixture
def workspace(repo: Repo) -> Workspace:
    return open_workspace(repo.path, {})


def state(workspace: Workspace) -> str:
    """Return the tree of the memory, or an empty text without a memory."""
    repo = Repo(workspace.location.worktree or Path())
    return repo.git("for-each-ref", "--format=%(tree)", REFERENCE)


properties = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def test_notes_are_listed_newest_first_and_by_type(workspace: Workspace) -> None:
    notes = [
        add_note(workspace, f"note {number}", type_=type_).note
        for number, type_ in enumerate(["fact", "decision", "fact"])
    ]
    assert list_notes(workspace) == notes[::-1]
    assert list_notes(workspace, type_="fact", limit=1) == [notes[2]]
    assert all(note.id.startswith("mem_") and len(note.id) == 16 for note in notes)


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        ("", {}, "empty"), (" \n", {}, "empty"), ("x" * 10_001, {}, "10,001 characters, at most 10,000"),
        ("x", {"type_": "idea"}, "preference, fact, project, decision"), ("x", {"confidence": 1.5}, "between 0 and 1"),
        ("x", {"confidence": float("nan")}, "between 0 and 1"), ("x", {"conversation": "y" * 101}, "at most 100"),
        ("a\udc80", {}, "UTF-8"), ("ghp_" + "a1B2c3D4e5F6" * 3, {}, "secret"),
        ("x", {"symbols": ("ghp_" + "a1B2c3D4e5F6" * 3,)}, "secret .*in its fields"),
    ],
)  # fmt: skip
def test_notes_out_of_bounds_are_refused_and_not_stored(
    workspace: Workspace, content: str, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        add_note(workspace, content, **options)
    assert state(workspace) == ""


def test_values_at_the_bounds_are_accepted(workspace: Workspace) -> None:
    assert add_note(workspace, "x" * 10_000, confidence=0, conversation="y" * 100).note.confidence == 0
    assert add_note(workspace, "ghp_" + "a1B2c3D4e5F6" * 3, allow_secrets=True).note.id


@properties
@given(
    content=TEXT.filter(lambda text: "\0" not in text),
    title=st.text(st.characters(exclude_categories=["Cs"]), max_size=9),
)
def test_a_document_added_twice_is_stored_once(workspace: Workspace, content: str, title: str) -> None:
    """Property 41: Document idempotency."""
    source = {"source": "s", "source_id": f"{content}:{title}"}
    first = add_document(workspace, content, {**source, "title": title})
    before = state(workspace)
    second = add_document(workspace, content, {**source, "title": title})
    assert second.status == "unchanged"
    assert second.document == first.document == get_document(workspace, first.document.id)
    assert second.document.content == content
    assert add_document(workspace, content, source).status == "unchanged"
    assert state(workspace) == before


def collision() -> tuple[str, str]:
    """Return two source ids whose hashes begin with the same eight digits."""
    seen: dict[str, str] = {}
    for number in count():
        name = str(number)
        start = hashlib.sha256(f"s:{name}".encode()).hexdigest()[:8]
        if start in seen:
            return seen[start], name
        seen[start] = name
    raise AssertionError


def test_different_sources_never_share_an_id(workspace: Workspace) -> None:
    first, second = collision()
    added = [add_document(workspace, f"of {name}", {"source": "s", "source_id": name}) for name in (first, second)]
    ids = [each.document.id for each in added]
    assert len(ids[0]) == 12
    assert ids[1].startswith(ids[0])
    assert len(ids[1]) == 16
    again = add_document(workspace, "changed", {"source": "s", "source_id": second})
    assert (again.document.id, again.status) == (ids[1], "updated")
    assert get_document(workspace, ids[0]).content == f"of {first}"


def test_sources_that_differ_only_in_the_place_of_a_colon_have_different_ids(workspace: Workspace) -> None:
    ids = {
        add_document(workspace, "x", {"source": source, "source_id": name}).document.id
        for source, name in (("a:b", "c"), ("a", "b:c"))
    }
    assert len(ids) == 2


def test_new_content_and_new_fields_replace_those_of_a_document(workspace: Workspace) -> None:
    source = {"source": "wiki", "source_id": "1"}
    add_document(workspace, "old", {**source, "title": "T", "participants": ("Ann",), "metadata": {"a": "b"}})
    added = add_document(workspace, "new", source)
    assert added.status == "updated"
    assert added.document.fields.title == "T"
    assert added.document.fields.participants == ("Ann",)
    added = add_document(workspace, "new", {**source, "sensitivity": "sensitive"})
    assert added.status == "updated"
    assert [document.id for document in list_documents(workspace)] == [added.document.id]
    assert get_document(workspace, added.document.id).fields.sensitivity == "sensitive"
    assert get_document(workspace, added.document.id).fields.metadata == {"a": "b"}


@properties
@given(
    step=st.sampled_from(["find_breaks", "cut_windows", "document_record", "format_record"]),
    contents=st.lists(TEXT.filter(lambda text: "\0" not in text), min_size=2, max_size=2, unique=True),
)
def test_a_failure_keeps_the_old_document(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, step: str, contents: list[str]
) -> None:
    """Property 40: Document atomicity."""
    source = {"source": "wiki", "source_id": "1"}
    old = add_document(workspace, contents[0], source).document
    before = state(workspace)

    def fail(*_: object) -> None:
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr(documents_module, step, fail)
        with pytest.raises(MemoryError):
            add_document(workspace, contents[1], source)
    assert state(workspace) == before
    assert get_document(workspace, old.id) == old


def test_a_repository_that_cannot_be_written_keeps_the_old_document(workspace: Workspace) -> None:
    source = {"source": "wiki", "source_id": "1"}
    old = add_document(workspace, "old", source).document
    folders = [workspace.location.common_dir / f"objects/{number:02x}" for number in range(256)]
    blocked = [folder for folder in folders if not folder.exists()]
    for folder in blocked:
        folder.touch()  # a file in place of the folder that git would make for its objects
    with pytest.raises(StorageFailed, match="cannot write"):
        add_document(workspace, "new", source)
    assert list_documents(workspace) == [old]
    for folder in blocked:
        folder.unlink()
    assert add_document(workspace, "new", source).status == "updated"


def test_long_documents_have_chunks_with_stable_ids(workspace: Workspace) -> None:
    content = "".join(f"## Part {number}\n\n" + "word " * 150 + "\n\n" for number in range(20))
    added = add_document(workspace, content, {"title": "Long"})
    document = added.document
    assert document.tokens > 1200
    assert document.tokenizer
    assert len(added.chunk_ids) == len(document.chunks) > 2
    digest = hashlib.sha256(content[slice(*document.chunks[1])].encode()).hexdigest()[:8]
    assert added.chunk_ids[1] == f"{document.id}::chunk::001::{digest}"
    assert delete_records(workspace, [document.id])[0].parts == len(document.chunks)


@pytest.mark.parametrize(
    ("content", "fields", "message"),
    [
        ("", {}, "empty"), ("a\0b", {}, "binary"), ("x", {"type": "poem"}, "email, doc, chat, transcript, note"),
        ("x", {"title": "t" * 501}, "at most 500"), ("x", {"author": "t" * 201}, "at most 200"),
        ("x", {"source": ""}, "empty"), ("x", {"source": "s" * 101}, "at most 100"),
        ("x", {"source_id": "s" * 501}, "at most 500"), ("x", {"participants": ("a",) * 101}, "at most 100"),
        ("x", {"time": "yesterday"}, "ISO 8601"), ("x", {"sensitivity": "top"}, "normal, sensitive, highly_sensitive"),
        ("x", {"visibility": "all"}, "me, team, org, custom"), ("x", {"retention": "2y"}, "forever, 1y"),
        ("x", {"metadata": dict.fromkeys(map(str, range(51)), "")}, "at most 50"),
    ],
)  # fmt: skip
def test_documents_out_of_bounds_are_refused(
    workspace: Workspace, content: str, fields: dict[str, Any], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        add_document(workspace, content, fields)
    assert state(workspace) == ""


def test_times_are_stored_in_utc(workspace: Workspace) -> None:
    added = add_document(workspace, "x", {"time": "2026-01-31T01:00:00+02:00"})
    assert added.document.fields.time == "2026-01-30T23:00:00.000000Z"


def test_only_expired_documents_are_pruned(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    old = format_time(datetime.now(UTC) - timedelta(days=366))
    monkeypatch.setattr(documents_module, "current_time", lambda: old)
    expired = add_document(workspace, "a", {"retention": "1y"}).document
    permanent = add_document(workspace, "b", {"retention": "forever"}).document
    monkeypatch.undo()
    young = add_document(workspace, "c", {"retention": "1y"}).document
    assert prune_expired(workspace, dry_run=True) == [expired]
    assert len(list_documents(workspace)) == 3
    assert prune_expired(workspace) == [expired]
    assert {document.id for document in list_documents(workspace)} == {permanent.id, young.id}
    assert prune_expired(workspace) == []


CONVERSATIONS = count()


@properties
@given(turns=st.lists(st.tuples(st.integers(0, 3), TEXT), min_size=1, max_size=4), limit=st.integers(1, 5))
def test_the_last_turns_are_returned_in_order(workspace: Workspace, turns: list[tuple[int, str]], limit: int) -> None:
    """Property 52: History."""
    conversation = f"a/b:../{next(CONVERSATIONS)}"
    expected: dict[int, str] = {}
    for number, content in turns:
        appended = append_turn(workspace, conversation, "user", content, number)
        assert appended.replaced == (number in expected)
        expected[number] = content
    last = [(turn.number, turn.content) for turn in last_turns(workspace, conversation, limit)]
    assert last == sorted(expected.items())[-limit:]


def test_a_turn_without_a_number_gets_the_next_one(workspace: Workspace) -> None:
    for role in ("user", "assistant", "user"):
        append_turn(workspace, "plan", role, f"by {role}", None)
    append_turn(workspace, "other", "system", "x", 7)
    assert append_turn(workspace, "other", "user", "y", None).turn.number == 8
    assert [(turn.number, turn.role) for turn in last_turns(workspace, "plan")] == [
        (0, "user"), (1, "assistant"), (2, "user"),
    ]  # fmt: skip
    assert [(each.id, each.turns) for each in list_conversations(workspace)] == [("other", 2), ("plan", 3)]
    with pytest.raises(UnknownRecord, match="no such conversation: `conversation:nowhere`"):
        last_turns(workspace, "nowhere")
    assert [each.id for each in list_conversations(workspace, 1)] == ["other"]


@pytest.mark.parametrize(
    ("conversation", "role", "content", "number"),
    [("", "user", "x", 0), ("c" * 101, "user", "x", 0), ("c", "tool", "x", 0), ("c", "user", "", 0),
     ("c", "user", "x" * 50_001, 0), ("c", "user", "x", -1), ("c", "user", "x", 100_000_000)],
)  # fmt: skip
def test_turns_out_of_bounds_are_refused(
    workspace: Workspace, conversation: str, role: str, content: str, number: int
) -> None:
    with pytest.raises(UsageError):
        append_turn(workspace, conversation, role, content, number)
    assert state(workspace) == ""


@pytest.mark.parametrize("limit", [0, 51])
def test_the_limit_of_turns_is_checked(workspace: Workspace, limit: int) -> None:
    with pytest.raises(UsageError, match="between 1 and 50"):
        last_turns(workspace, "c", limit)


def test_a_transcript_imported_again_adds_the_new_turns(workspace: Workspace) -> None:
    turns = [Turn("s", number, "user", f"turn {number}", "") for number in range(3)]
    assert import_turns(workspace, turns[:2]).changed == 2
    assert import_turns(workspace, turns).changed == 1
    assert import_turns(workspace, turns).changed == 0
    secret = "ghp_" + "a1B2c3D4e5F6" * 3
    import_turns(workspace, [Turn("s", 3, "assistant", f"it is:\n{secret}\nkeep it", "")])
    assert last_turns(workspace, "s", 1)[0].content == "it is:\n[secret left out]\nkeep it"


def test_records_are_shown_deleted_and_restored(workspace: Workspace) -> None:
    note = add_note(workspace, "remember").note
    append_turn(workspace, "plan", "user", "x", 0)
    append_turn(workspace, "plan", "user", "y", 1)
    names = [note.id, "conversation:plan"]
    assert [(deleted.id, deleted.parts) for deleted in delete_records(workspace, names)] == [
        (names[0], 0),
        (names[1], 2),
    ]
    for name in names:
        with pytest.raises(UnknownRecord):
            show_records(workspace, name)
    assert [record.text for record in show_records(workspace, "conversation:plan", at="~1")] == ["x", "y"]
    assert [record.text for record in restore_records(workspace, "conversation:plan").records] == ["x", "y"]
    assert [record.text for record in restore_records(workspace, note.id, at="~2").records] == ["remember"]
    assert [turn.content for turn in last_turns(workspace, "plan")] == ["x", "y"]
    assert list_notes(workspace) == [note]


def test_a_clock_before_1970_gives_revisions_that_git_can_read(repo: Repo, workspace: Workspace) -> None:
    year_1960 = -315_619_200
    note = add_note(workspace, "remember").note
    with RecordStore(workspace.location) as store:
        store.change("delete: 1", lambda _: {note_path(note.id): None}, seconds=year_1960)
    assert repo.git("fsck", "--strict") == ""
    assert read_log(workspace)[0].seconds == 0
    commit = repo.git("cat-file", "commit", REFERENCE).replace(" 0 +0000", f" {year_1960} +0000")
    damaged = repo.git("hash-object", "-t", "commit", "-w", "--stdin", "--literally", stdin=commit.encode()).strip()
    repo.git("update-ref", REFERENCE, damaged)
    assert read_log(workspace)[0].seconds == 0


def test_delete_with_an_unknown_id_deletes_nothing(workspace: Workspace) -> None:
    note = add_note(workspace, "x").note
    with pytest.raises(UnknownRecord):
        delete_records(workspace, [note.id, "mem_000000000000"])
    assert list_notes(workspace) == [note]
    with pytest.raises(UsageError):
        delete_records(workspace, [])


def test_restore_undoes_the_last_change(workspace: Workspace) -> None:
    source = {"source": "s", "source_id": "1"}
    name = add_document(workspace, "old", source).document.id
    add_document(workspace, "new", source)
    add_note(workspace, "in between")
    restore_records(workspace, name)
    assert get_document(workspace, name).content == "old"
    with pytest.raises(UnknownRecord):
        restore_records(workspace, add_note(workspace, "first").note.id)
    with pytest.raises(UnknownRecord):
        restore_records(workspace, "mem_000000000000")


def test_the_log_has_the_ids_of_changed_records(workspace: Workspace) -> None:
    assert read_log(workspace) == []
    note = add_note(workspace, "x").note
    append_turn(workspace, "plan", "user", "x", 0)
    append_turn(workspace, "plan", "user", "y", 0)
    delete_records(workspace, [note.id])
    entries = read_log(workspace)
    assert [(entry.added, entry.changed, entry.deleted) for entry in entries] == [
        ((), (), (note.id,)),
        ((), ("conversation:plan 0",), ()),
        (("conversation:plan 0",), (), ()),
        ((note.id,), (), ()),
    ]
    assert [entry.commit for entry in read_log(workspace, name=note.id)] == [entries[0].commit, entries[3].commit]
    assert len(read_log(workspace, limit=2)) == 2
    assert read_log(workspace, max_ids=0)[0].more == 1


def test_diff_compares_two_revisions(workspace: Workspace) -> None:
    assert read_diff(workspace) == []
    add_note(workspace, "x")
    append_turn(workspace, "plan", "user", "x", 0)
    append_turn(workspace, "plan", "user", "y", 0)
    [change] = read_diff(workspace)
    assert change.id == "conversation:plan 0"
    assert change.before is not None
    assert change.after is not None
    assert (change.before.text, change.after.text) == ("x", "y")
    assert [change.id for change in read_diff(workspace, "~2")] == ["conversation:plan 0"]
    assert [change.id for change in read_diff(workspace, "~2", "~2")] == []
    first = read_log(workspace)[-1].commit
    assert [change.id for change in read_diff(workspace, first[:10], "~1")] == ["conversation:plan 0"]
    with pytest.raises(UnknownRevision):
        read_diff(workspace, "nonsense")
    with pytest.raises(UnknownRevision):
        read_diff(workspace, "1990-01-01")


def test_a_commit_of_another_ref_is_not_a_revision_of_the_memory(repo: Repo, workspace: Workspace) -> None:
    add_note(workspace, "x")
    other = repo.commit({"a": "1"})
    with pytest.raises(UnknownRevision):
        read_diff(workspace, other)


def test_an_export_can_be_imported(workspace: Workspace, tmp_path: Path) -> None:
    add_note(workspace, "é\nnote", type_="decision", confidence=0.5, conversation="plan")
    append_turn(workspace, "plan", "user", "x", 3)
    add_document(workspace, "text\r\n", {"title": "T", "participants": ("A",), "metadata": {"k": "v"}, "url": "u"})
    lines = list(export_records(workspace))
    assert all(json.loads(line)["kind"] for line in lines)
    there = open_workspace(Repo.init(tmp_path / "there").path, {})
    assert import_records(there, lines)[:2] == (3, 0)
    assert state(there) == state(workspace)
    assert import_records(there, lines)[:2] == (0, 3)
    assert len(read_log(there)) == 1


def test_a_turn_without_a_time_is_unchanged_by_another_import(workspace: Workspace) -> None:
    line = '{"kind": "conversations", "conversation": "c", "turn": 0, "role": "user", "content": "x"}'
    assert import_records(workspace, [line])[:2] == (1, 0)
    assert import_records(workspace, [line])[:2] == (0, 1)
    assert import_records(workspace, list(export_records(workspace)))[:2] == (0, 1)


def test_a_secret_in_any_field_is_refused(workspace: Workspace) -> None:
    token = "ghp_" + "a1B2c3D4e5F6" * 3
    for fields in ({"title": token}, {"url": "https://u:p4ssw0rd9@host/x"}, {"metadata": {"token": token}}):
        with pytest.raises(UsageError, match="in its fields"):
            add_document(workspace, "harmless", fields)
    with pytest.raises(UsageError, match="in its fields"):
        append_turn(workspace, token, "user", "hi", None)
    assert state(workspace) == ""
    assert add_document(workspace, "harmless", {"title": token}, allow_secrets=True).document.id


def test_an_export_of_an_earlier_version_can_be_imported(workspace: Workspace) -> None:
    lines = [
        '{"kind": "note", "id": "mem_0123456789ab", "content": "x"}',
        '{"kind": "turn", "conversation": "c", "turn": 2, "role": "user", "content": "y"}',
        '{"kind": "document", "source_system": "wiki", "source_id": "1", "content": "z"}',
    ]
    assert import_records(workspace, lines).written == 3
    assert [json.loads(line)["kind"] for line in export_records(workspace)] == ["conversations", "documents", "notes"]
    assert list_documents(workspace)[0].fields.source == "wiki"


def test_a_stored_record_has_the_field_names_of_earlier_versions(workspace: Workspace) -> None:
    document = add_document(workspace, "text", {"source": "wiki", "source_id": "1"}).document
    stored = document_record(document)
    assert stored.fields["source_system"] == "wiki"
    assert load_document(stored) == document


def test_field_names_of_other_systems_are_understood(workspace: Workspace) -> None:
    result = import_records(
        workspace,
        [
            '{"content": "bare"}',
            '{"content": "x", "memory_type": "decision", "conversation_id": "c", "ts": "2026-01-31", "confidence": 1}',
            '{"kind": "turn", "conversation_id": "c", "turn_index": 2, "role": "user", "content": "y"}',
            '{"kind": "document", "content": "z", "artifact_type": "email", "retention_policy": "1y", "title": null}',
            "",
        ],
    )
    assert result.written == 4
    assert {(note.content, note.type, note.time[:10]) for note in list_notes(workspace)} >= {
        ("x", "decision", "2026-01-31")
    }
    assert [turn.number for turn in last_turns(workspace, "c")] == [2]
    assert list_documents(workspace)[0].fields.type == "email"


BAD = [
    ("{", "not valid JSON"), ("[]", "expected a JSON object"), ('{"kind": "poem", "content": "x"}', "kind is `poem`"),
    ('{"content": ""}', "empty"), ('{"content": 1}', "`content` is of the wrong type"), ("{}", "`content` is missing"),
    ('{"content": "x", "colour": "red"}', "unknown field of a note: `colour`"),
    ('{"content": "x", "confidence": true}', "wrong type"),
    ('{"kind": "conversations", "conversation": "c", "role": "user", "content": "x"}', "`turn` is missing"),
    ('{"kind": "conversations", "conversation": "c", "turn": 1.5, "role": "user", "content": "x"}', "wrong type"),
    ('{"kind": "documents", "content": "x", "participants": [1]}', "must be texts"),
    ('{"content": "x", "id": "../../x"}', "not the id of a note"), ('{"content": "x", "time": "soon"}', "ISO 8601"),
    (f'{{"content": "ghp_{"a1B2c3D4e5F6" * 3}"}}', "secret"),
    (f'{{"kind": "documents", "content": "x", "metadata": {{"token": "ghp_{"a1B2c3D4e5F6" * 3}"}}}}', "in its fields"),
    (f'{{"content": "x", "confidence": 1{"0" * 400}}}', "too large a number"),
    ('{"content": "\\ud800"}', "UTF-8"), ("\udcff", "not valid JSON"),
]  # fmt: skip


@pytest.mark.parametrize(("bad", "reason"), BAD)
def test_a_bad_line_is_reported_and_prevents_the_import(workspace: Workspace, bad: str, reason: str) -> None:
    lines = ['{"content": "good"}', "", bad]
    with pytest.raises(UsageError, match="nothing was imported: line 3: ") as caught:
        import_records(workspace, lines)
    assert reason in caught.value.message
    assert state(workspace) == ""
    result = import_records(workspace, lines, partial=True)
    assert (result.written, [line.number for line in result.bad]) == (1, [3])


def test_the_last_line_of_a_source_wins(workspace: Workspace) -> None:
    line = '{"kind": "documents", "source": "s", "source_id": "1", "content": "%s"}'
    assert import_records(workspace, [line % "old", line % "new"]).written == 1
    assert [document.content for document in list_documents(workspace)] == ["new"]
