"""The record store: no record is lost or overwritten, and all of it is valid for git."""

import os
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitmem.errors import DamagedFile, UnknownRevision
from gitmem.git.locate import locate
from gitmem.memory.record_paths import NOTES, REFERENCE, new_note_id, note_path
from gitmem.memory.record_store import Changes, RecordStore, Tip
from gitmem.record import Record, format_record
from gitmem.types import NOTE
from tests.gitrepo import MakeRepo, Repo, isolated_environment

formats = pytest.mark.parametrize("object_format", ["sha1", "sha256"])


def note(text: str) -> tuple[bytes, bytes]:
    identity = new_note_id()
    return note_path(identity), format_record(Record(NOTE, identity, {}, text.encode()))


def add(store: RecordStore, text: str) -> bytes:
    path, data = note(text)
    store.change("add", lambda _: {path: data})
    return path


def texts(repo: Repo) -> list[str]:
    with RecordStore(locate(repo.path)) as store:
        return sorted(record.text for record in store.read_records(store.entries(store.tip())))


@formats
def test_a_record_is_a_blob_that_git_shows(make_repo: MakeRepo, object_format: str) -> None:
    repo = make_repo("repo", f"--object-format={object_format}")
    with RecordStore(locate(repo.path)) as store:
        path, data = note("hello")
        store.change("add", lambda _: {path: data})
    assert repo.git_bytes("show", f"{REFERENCE}:{path.decode()}") == data
    repo.git("fsck", "--strict", "--full")


def test_every_change_is_one_commit_by_gitmem_with_a_parent(make_repo: MakeRepo) -> None:
    repo = make_repo()
    with RecordStore(locate(repo.path)) as store:
        for number in range(3):
            add(store, str(number))
    people = repo.git("log", "--format=%an <%ae> %cn <%ce> %P", REFERENCE).splitlines()
    assert [line.rpartition("> ")[0] for line in people] == ["gitmem <gitmem@localhost> gitmem <gitmem@localhost"] * 3
    assert [len(line.rpartition("> ")[2]) for line in people] == [40, 40, 0]
    assert len(repo.git("reflog", REFERENCE).splitlines()) == 3


def test_an_edit_without_changes_makes_no_commit(make_repo: MakeRepo) -> None:
    repo = make_repo()
    with RecordStore(locate(repo.path)) as store:
        assert store.change("none", lambda _: {}) == Tip(None, None)
        path = add(store, "a")
        tip = store.tip()
        data = store.find_data(tip, path)
        assert store.change("same", lambda _: {path: data}) == tip
        assert store.change("gone already", lambda _: {b"v1/notes/00/x": None}) == tip


def test_the_last_record_can_be_deleted(make_repo: MakeRepo) -> None:
    repo = make_repo()
    with RecordStore(locate(repo.path)) as store:
        path = add(store, "a")
        tip = store.change("delete", lambda _: {path: None})
        assert store.entries(tip) == []
        add(store, "b")
    assert texts(repo) == ["b"]
    repo.git("fsck", "--strict")


def test_a_concurrent_change_is_not_overwritten(make_repo: MakeRepo) -> None:
    """A writer that does not take gitmem's lock moves the ref while a change is computed."""
    repo = make_repo()
    tips = []
    with RecordStore(locate(repo.path)) as store:
        add(store, "first")
        path, data = note("mine")

        def edit(tip: Tip) -> Changes:
            tips.append(tip)
            if len(tips) == 1:
                tree = repo.oid(f"{REFERENCE}^{{tree}}")
                other = repo.git("commit-tree", "-p", REFERENCE, "-m", "theirs", tree)
                repo.git("update-ref", REFERENCE, other)
            return {path: data}

        store.change("mine", edit)
    assert len(tips) == 2
    assert repo.git("log", "--format=%s", REFERENCE).splitlines() == ["mine", "theirs", "add"]


WRITER = """
import sys
from functools import partial
from pathlib import Path
from gitmem.git.locate import locate
from gitmem.memory.record_store import RecordStore
from tests.memory.test_record_store import add
with RecordStore(locate(Path(sys.argv[1]))) as store:
    for number in range(int(sys.argv[3])):
        add(store, f"{sys.argv[2]} {number}")
        print(f"{sys.argv[2]} {number}", flush=True)
"""


def start_writer(repo: Repo, name: str, records: int) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(repo.path), name, str(records)],
        cwd=Path(__file__).parents[2],
        env=isolated_environment(),
        stdout=subprocess.PIPE,
        start_new_session=True,
    )


def test_sixteen_concurrent_writers_lose_nothing(make_repo: MakeRepo) -> None:
    repo = make_repo()
    writers = [start_writer(repo, f"w{number}", 3) for number in range(16)]
    for writer in writers:
        writer.communicate()
    assert [writer.returncode for writer in writers] == [0] * 16
    assert texts(repo) == sorted(f"w{number} {turn}" for number in range(16) for turn in range(3))
    assert repo.git("rev-list", "--count", REFERENCE) == "48"
    assert repo.git("fsck", "--unreachable") == ""


@pytest.mark.parametrize("kills", [4, pytest.param(5000, marks=pytest.mark.long)])
def test_an_acknowledged_record_survives_kills(make_repo: MakeRepo, kills: int) -> None:
    """Kill the whole process group, including git. The next writer needs no repair."""
    repo = make_repo()
    acknowledged: list[str] = []
    for number in range(kills):
        writer = start_writer(repo, f"k{number}", 1000)
        assert writer.stdout is not None
        acknowledged += [writer.stdout.readline().decode().strip() for _ in range(1 + number % 3)]
        os.killpg(writer.pid, signal.SIGKILL)
        acknowledged += writer.stdout.read().decode().splitlines()
        writer.wait()
        writer.stdout.close()
    stored = texts(repo)
    assert acknowledged
    assert set(acknowledged) <= set(stored)
    assert len(stored) <= len(acknowledged) + kills
    repo.git("fsck", "--strict", "--full")


def test_git_gc_and_pack_refs_keep_the_records(make_repo: MakeRepo) -> None:
    repo = make_repo()
    with RecordStore(locate(repo.path)) as store:
        add(store, "a")
        repo.git("gc", "--quiet", "--prune=now")
        add(store, "b")
        repo.git("pack-refs", "--all")
        add(store, "c")
    assert texts(repo) == ["a", "b", "c"]


def test_linked_worktrees_share_records(make_repo: MakeRepo, tmp_path: Path) -> None:
    repo = make_repo()
    repo.commit({"a": "1"})
    repo.git("worktree", "add", "-q", str(tmp_path / "linked"))
    with RecordStore(locate(tmp_path / "linked")) as store:
        add(store, "a")
    assert texts(repo) == ["a"]


def test_a_damaged_record_is_named_and_the_others_are_read(make_repo: MakeRepo) -> None:
    repo = make_repo()
    with RecordStore(locate(repo.path)) as store:
        good = add(store, "good")
        store.change("bad", lambda _: {b"v1/notes/00/bad": b"no record"})
        tip = store.tip()
        with pytest.raises(DamagedFile, match="v1/notes/00/bad"):
            list(store.read_records(store.entries(tip, NOTES)))
        record = store.find_record(tip, good)
        assert record is not None
        assert record.text == "good"


def test_former_states_can_be_read(make_repo: MakeRepo) -> None:
    repo = make_repo()
    with RecordStore(locate(repo.path)) as store:
        assert store.parent(store.tip()) == Tip(None, None)
        add(store, "a")
        first = store.tip()
        add(store, "b")
        assert store.parent(store.tip()) == first
        assert store.parent(first) == Tip(None, None)
        assert len(store.entries(first)) == 1
        blob = store.entries(first)[0].oid
        with pytest.raises(UnknownRevision):
            store.at(blob)


def _always(changes: Changes, _: Tip) -> Changes:
    return changes


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(st.tuples(st.integers(0, 5), st.booleans()), max_size=4), max_size=5))
def test_changes_have_the_effect_of_dictionary_updates(
    tmp_path_factory: pytest.TempPathFactory, batches: list[list[tuple[int, bool]]]
) -> None:
    repo = Repo.init(tmp_path_factory.mktemp("records"))
    expected: dict[bytes, bytes] = {}
    with RecordStore(locate(repo.path)) as store:
        for number, batch in enumerate(batches):
            changes: dict[bytes, bytes | None] = {}
            for number_of_note, keep in batch:
                identity = f"mem_{number_of_note:012x}"
                record = Record(NOTE, identity, {}, b"%d" % number)
                changes[note_path(identity)] = format_record(record) if keep else None
            store.change("batch", partial(_always, changes))
            expected = {path: data for path, data in {**expected, **changes}.items() if data is not None}
        tip = store.tip()
        stored = {entry.path: store.read_blob(entry.oid) for entry in store.entries(tip)}
    assert stored == expected
