"""An abbreviated id names the one record whose id begins with it, in every command and tool that takes an id."""

import json
from pathlib import Path

import pytest

from gitmem.answering.record_excerpts import read_records
from gitmem.errors import ExitCode, UnknownRecord, UsageError
from gitmem.memory.note import Note
from gitmem.memory.record_paths import document_path
from gitmem.memory.record_store import RecordStore
from gitmem.records.abbreviated_ids import complete_id
from gitmem.records.conversations import append_turn, last_turns
from gitmem.records.documents import get_document
from gitmem.records.note_states import CURRENT, NoteState
from gitmem.records.revisions import delete_records, read_log, restore_records, show_records
from gitmem.records.transfer import import_records
from gitmem.workspace import Workspace, open_workspace
from tests.gitrepo import Repo
from tests.sample import Cli, assert_error

NOTES = ("mem_abcd11112222", "mem_abcd33334444", "mem_ef0156789abc")


def current(_: Note) -> NoteState:
    return CURRENT


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    repo = Repo.init(tmp_path / "repo")
    workspace = open_workspace(repo.path, {})
    lines = [{"id": name, "content": f"note {name}"} for name in NOTES]
    import_records(workspace, map(json.dumps, lines), partial=False)
    return repo


@pytest.fixture
def workspace(repo: Repo) -> Workspace:
    return open_workspace(repo.path, {})


def add_document(cli: Cli, repo: Repo, content: bytes) -> str:
    outcome = cli("doc", "add", "-", "--json", cwd=repo.path, stdin=content)
    identity: str = json.loads(outcome.out)["id"]
    return identity


@pytest.mark.parametrize("length", [8, 9, 15, 16])
def test_an_abbreviated_id_names_a_note(workspace: Workspace, length: int) -> None:
    assert [record.id for record in show_records(workspace, NOTES[2][:length])] == [NOTES[2]]


def test_an_ambiguous_id_lists_the_candidates(cli: Cli, repo: Repo) -> None:
    expected = f"the id `mem_abcd` is ambiguous: {NOTES[0]}, {NOTES[1]}\nhint: give more digits"
    for args in (("show",), ("delete",), ("restore",), ("log",)):
        assert_error(cli("memory", *args, "mem_abcd", cwd=repo.path), ExitCode.USAGE, expected)
    assert cli("memory", "show", "mem_abcd1", cwd=repo.path).code == 0


def test_many_candidates_are_not_all_listed(workspace: Workspace) -> None:
    lines = [json.dumps({"id": f"mem_0000{number:08x}", "content": f"note {number}"}) for number in range(8)]
    import_records(workspace, lines, partial=False)
    with pytest.raises(UsageError, match=r"mem_000000000004 and 3 more$"):
        show_records(workspace, "mem_0000")


@pytest.mark.parametrize("name", ["mem_abc", "mem_", "mem_xyzw", "abcd1111", "art_89a", "mem_ABCD1"])
def test_an_abbreviation_has_at_least_four_digits(workspace: Workspace, name: str) -> None:
    with pytest.raises(UsageError, match="is not the id of a record"):
        show_records(workspace, name)


@pytest.mark.parametrize("name", ["mem_9999", "art_9999", "mem_999999999999"])
def test_an_unknown_id_is_reported(workspace: Workspace, name: str) -> None:
    with pytest.raises(UnknownRecord, match=f"no such record: `{name}`"):
        delete_records(workspace, [name])


def test_a_deleted_note_is_found_by_its_abbreviated_id(workspace: Workspace) -> None:
    assert [deleted.id for deleted in delete_records(workspace, ["mem_ef01", NOTES[0]])] == [NOTES[2], NOTES[0]]
    assert [entry.deleted for entry in read_log(workspace, name="mem_ef01")] == [(NOTES[2],), ()]
    assert [record.id for record in restore_records(workspace, "mem_ef01").records] == [NOTES[2]]
    assert [record.id for record in show_records(workspace, "mem_abcd1", at="~2")] == [NOTES[0]]


def test_one_record_named_twice_is_deleted_once(workspace: Workspace) -> None:
    assert [deleted.id for deleted in delete_records(workspace, ["mem_ef01", NOTES[2], "mem_ef015"])] == [NOTES[2]]


def test_documents_have_abbreviated_ids_too(cli: Cli, repo: Repo, workspace: Workspace) -> None:
    identity = add_document(cli, repo, b"some text")
    assert get_document(workspace, identity[:8]).id == identity
    assert cli("doc", "get", identity[:9], cwd=repo.path).out == "some text"
    assert cli("doc", "delete", identity[:8], cwd=repo.path).out == f"deleted {identity} and 0 chunks\n"
    assert_error(cli("doc", "get", identity[:8], cwd=repo.path), ExitCode.USAGE, f"no such record: `{identity[:8]}`")
    assert_error(cli("doc", "delete", "mem_abcd1", cwd=repo.path), ExitCode.USAGE, "is not the id of a document")
    assert cli("memory", "restore", identity[:8], cwd=repo.path).code == 0


def test_an_id_that_exists_has_precedence_over_longer_ones(workspace: Workspace) -> None:
    short, long = "art_01234567", "art_0123456789ab"
    with RecordStore(workspace.location) as store:
        tip = store.change("test", lambda _: {document_path(short): b"a", document_path(long): b"b"})
        assert complete_id(store, tip, short) == short
        assert complete_id(store, tip, "art_012345678") == long
        with pytest.raises(UsageError, match="ambiguous"):
            complete_id(store, tip, "art_0123")


def test_a_tool_reads_a_record_by_its_abbreviated_id(workspace: Workspace) -> None:
    with RecordStore(workspace.location) as store:
        (excerpt,) = read_records(store, store.tip(), "mem_ef01:1-1", 10, current)
        assert excerpt.lines == [f"note {NOTES[2]}"]
        assert excerpt.heading == f"{NOTES[2]}:1-1"
        with pytest.raises(UsageError, match="ambiguous"):
            read_records(store, store.tip(), "mem_abcd", 10, current)
        with pytest.raises(UnknownRecord, match="no such record: `mem_9999`"):
            read_records(store, store.tip(), "mem_9999", 10, current)


def test_the_name_of_a_conversation_may_be_abbreviated_to_read_it(cli: Cli, repo: Repo, workspace: Workspace) -> None:
    for name in ("planning 2026", "planning 2027", "release", "plan"):
        append_turn(workspace, name, "user", f"words of {name}", None)
    assert [turn.content for turn in last_turns(workspace, "rele")] == ["words of release"]
    assert [turn.content for turn in last_turns(workspace, "plan")] == ["words of plan"]  # a name, not an abbreviation
    assert [record.text for record in show_records(workspace, "conversation:relea")] == ["words of release"]
    assert_error(
        cli("conversation", "get", "plann", cwd=repo.path),
        ExitCode.USAGE,
        "the id `conversation:plann` is ambiguous: conversation:planning 2026, conversation:planning 2027\n"
        "hint: give more of the name",
    )
    for name in ("rel", "nothing"):  # too short, and unknown
        assert "no such conversation" in cli("conversation", "get", name, cwd=repo.path).err
    with RecordStore(workspace.location) as store:
        (excerpt,) = read_records(store, store.tip(), "conversation:relea 0", 10, current)
        assert excerpt.heading == "conversation:release 0:1-1"
        (excerpt,) = read_records(store, store.tip(), "conversation:planning 2027", 10, current)
        assert excerpt.lines == ["words of planning 2027"]
        with pytest.raises(UsageError, match="ambiguous"):
            read_records(store, store.tip(), "conversation:planning", 10, current)
        with pytest.raises(UnknownRecord, match="no such record: `conversation:relea 7`"):
            read_records(store, store.tip(), "conversation:relea 7", 10, current)


def test_only_its_full_name_deletes_a_conversation(workspace: Workspace) -> None:
    append_turn(workspace, "planning", "user", "words", None)
    with pytest.raises(UnknownRecord, match="no such conversation: `conversation:plan`"):
        delete_records(workspace, ["conversation:plan"])
    assert [deleted.id for deleted in delete_records(workspace, ["conversation:planning"])] == ["conversation:planning"]
