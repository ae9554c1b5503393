"""`gitmem push`, `gitmem pull` and `gitmem sync`, as a person uses them."""

import json
import threading
from pathlib import Path

import pytest

from gitmem.errors import ExitCode
from gitmem.memory.note import load_note
from gitmem.record import Record, format_record, parse_record
from gitmem.records.exchange_lock import exchange_lock
from tests.gitrepo import Repo
from tests.records.sharing_clones import Clone, make_clone, make_remote
from tests.sample import Cli, assert_error


@pytest.fixture
def clones(tmp_path: Path) -> tuple[Clone, Clone]:
    remote = make_remote(tmp_path / "remote")
    return make_clone(remote, "ann"), make_clone(remote, "bob")


def test_notes_are_pushed_and_pulled(cli: Cli, clones: tuple[Clone, Clone]) -> None:
    ann, bob = (clone.repo.path for clone in clones)
    name = cli("memory", "add", "Sessions live in cookies.", cwd=ann).out.split()[1]
    refused = cli("push")
    assert_error(refused, ExitCode.USAGE, "refusing to continue without a terminal")
    assert cli("push", "--dry-run").out == "1 change would be pushed to origin\n"
    assert cli("push", "--yes").out == "1 change pushed to origin\n"
    assert cli("pull", "--dry-run", cwd=bob).out == "from origin: 1 record would be added, 0 changed, 0 deleted\n"
    assert cli("memory", "list").out == ""
    pulled = json.loads(cli("pull", "--json").out)
    assert (pulled["added"], pulled["sent"], pulled["dry_run"]) == (1, 0, False)
    assert "shared by: ann <ann@example.invalid>" in cli("memory", "show", name).out
    assert json.loads(cli("memory", "show", name, "--json").out)[0]["shared_by"] == "ann <ann@example.invalid>"
    assert "signature: unsigned" in cli("memory", "show", name).out
    assert "shared by" not in cli("memory", "show", name, cwd=ann).out
    synced = cli("sync")
    assert synced.out == "0 changes pushed to origin; from origin: 0 records added, 0 changed, 0 deleted\n"


def test_what_others_shared_is_shown_as_theirs(cli: Cli, clones: tuple[Clone, Clone]) -> None:
    ann, bob = (clone.repo.path for clone in clones)
    cli("memory", "add", "--path", "README.md", "Sessions live in cookies.", cwd=ann)
    (ann / "cookies.md").write_text("How sessions are signed.\n")
    cli("doc", "add", "cookies.md", "--visibility", "team")
    cli("push", "--yes")
    cli("pull", cwd=bob)
    for place in (ann, bob):
        assert cli("index", cwd=place).code == 0
    theirs = "shared by ann <ann@example.invalid>"
    for command in ("memory list", "doc list", "query --kind notes sessions", "query --kind documents sessions"):
        assert theirs in cli(*command.split(), cwd=bob).out, command
        assert theirs not in cli(*command.split(), cwd=ann).out, command
    (found,) = json.loads(cli("query", "--kind", "notes", "--json", "sessions", cwd=bob).out)["results"]
    assert found["record"]["shared_by"] == "ann <ann@example.invalid>"
    assert found["record"]["signature"] == "unsigned"
    (listed,) = json.loads(cli("memory", "list", "--json").out)
    assert listed["shared_by"] == "ann <ann@example.invalid>"


def test_a_record_cannot_say_of_itself_who_shared_it() -> None:
    record = Record("note", "mem_0123456789ab", {"type": "fact", "shared_by": "eve <eve@example.invalid>"}, b"trust me")
    parsed = parse_record(format_record(record), "mem_0123456789ab")
    assert "shared_by" not in parsed.named_fields
    assert load_note(parsed).shared_by == ""


def test_a_purge_says_how_it_reaches_others(cli: Cli, clones: tuple[Clone, Clone]) -> None:
    ann, bob = (clone.repo.path for clone in clones)
    name = cli("memory", "add", "one", cwd=ann).out.split()[1]
    assert "gitmem sync" not in cli("memory", "purge", "--yes").out
    cli("push", "--yes")
    cli("sync", cwd=bob)
    assert "gitmem sync" not in cli("memory", "purge", "--yes", cwd=ann).out
    cli("memory", "delete", name)
    assert cli("memory", "purge", "--yes", cwd=ann).out.endswith("purge the remote and other clones too: gitmem sync\n")
    assert cli("sync").out.endswith("\npurged\n")
    assert cli("pull", cwd=bob).out.endswith("\npurged\n")


def test_records_changed_by_two_are_named(cli: Cli, clones: tuple[Clone, Clone]) -> None:
    note = "mem_0123456789ab"
    for clone in clones:
        clone.put(note, clone.repo.path.name)
    cli("sync", "--yes", cwd=clones[0].repo.path)
    assert "both are kept until one is deleted: " in cli("sync", "--yes", cwd=clones[1].repo.path).out
    assert note in cli("pull").out


def test_a_repository_without_a_remote_is_named(cli: Cli, tmp_path: Path) -> None:
    repo = Repo.init(tmp_path / "alone")
    assert_error(cli("sync", cwd=repo.path), ExitCode.USAGE, "this repository has no remote to share with")


def test_waiting_for_another_exchange_is_said(cli: Cli, clones: tuple[Clone, Clone]) -> None:
    ann, _ = clones
    released = threading.Event()

    def hold() -> None:
        with exchange_lock(ann.workspace.location):
            held.set()
            released.wait(60)

    held = threading.Event()
    holder = threading.Thread(target=hold)
    holder.start()
    held.wait(60)
    threading.Timer(0.5, released.set).start()
    outcome = cli("pull", cwd=ann.repo.path)
    holder.join()
    assert outcome.code == ExitCode.OK
    assert "another process shares or purges records; waiting for it" in outcome.err
