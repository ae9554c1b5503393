"""Records shared through the server: the same merge, visibility and purges as over a git remote, under its rights."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest

from gitmem.errors import GitFailed, GitmemError, UsageError
from gitmem.git.remotes import RefUpdate
from gitmem.memory.record_paths import WRITERS
from gitmem.org.connection import open_database
from gitmem.org.memory_transport import DatabaseTransport
from gitmem.org.migrations import migrate
from gitmem.org.repository_grants import grant
from gitmem.records.exchange import Exchange, exchange
from gitmem.records.purge import purge_memory
from gitmem.records.revisions import delete_records
from gitmem.records.transfer import import_records
from tests.gitrepo import Repo
from tests.org.conftest import user_dsn
from tests.records.sharing_clones import NOTE, OTHER, Clone
from tests.sample import Cli, assert_error

NONE = "0" * 40
SECRET = "the launch is on the fourth of May"


@pytest.fixture
def shared(dsn: str, roles: Callable[..., list[str]]) -> str:
    """Make a database where alice and bob may read `shop`, and carol may not."""
    roles("alice", "bob", "carol")
    with open_database(dsn) as database:
        migrate(database)
        database.execute("INSERT INTO gitmem.repositories (name) VALUES ('shop'), ('other')")
        for repository, role in (("shop", "alice"), ("shop", "bob"), ("other", "carol")):
            grant(database, repository, role)
    return dsn


class Person:
    """Clone of a person, and the DSN of the person's role."""

    def __init__(self, folder: Path, dsn: str, role: str) -> None:
        repo = Repo.init(folder)
        for key, value in (("name", role), ("email", f"{role}@example.invalid")):
            repo.git("config", f"user.{key}", value)
        self.clone = Clone(folder)
        self.dsn = user_dsn(dsn, role)

    def sync(self, *, pull: bool = True, push: bool = True) -> Exchange:
        with open_database(self.dsn) as database:
            transport = DatabaseTransport(database, self.clone.workspace.location, "shop")
            return exchange(self.clone.workspace, transport, pull=pull, push=push)


@pytest.fixture
def people(shared: str, tmp_path: Path) -> tuple[Person, Person]:
    """Make clones of alice and bob."""
    return Person(tmp_path / "alice", shared, "alice"), Person(tmp_path / "bob", shared, "bob")


def stored(dsn: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(dsn) as database:
        return database.execute(
            "SELECT name, number, commit, pack FROM gitmem.memory_packs ORDER BY name, number"
        ).fetchall()


def test_two_clones_converge(people: tuple[Person, Person]) -> None:
    alice, bob = people
    alice.clone.put(NOTE, "refunds are booked at night")
    bob.clone.put(OTHER, "invoices have two numbers")
    assert alice.sync().sent == 1
    assert (bob.sync().added, alice.sync().added) == (1, 1)
    alice.clone.put(NOTE, "refunds are booked at noon", "2026-01-02T00:00:00Z")
    delete_records(bob.clone.workspace, [OTHER])
    for person in (alice, bob, alice):
        person.sync()
    assert alice.clone.records() == bob.clone.records()
    assert alice.clone.texts() == ["refunds are booked at noon"]
    # Both change one record at once: both versions stay, everywhere.
    alice.clone.put(NOTE, "at six", "2026-01-03T00:00:00Z")
    bob.clone.put(NOTE, "at seven", "2026-01-04T00:00:00Z")
    for person in (alice, bob, alice, bob):
        result = person.sync()
    assert result.conflicts
    assert alice.clone.texts() == bob.clone.texts() == ["at seven", "at six"]
    assert result.sent == 0


def test_a_push_sends_what_is_new_and_a_pull_takes_it_alone(people: tuple[Person, Person], shared: str) -> None:
    alice, bob = people
    for number in range(30):
        alice.clone.put(f"mem_{number:012x}", f"a note of some length, number {number}")
    alice.sync()
    first = len(stored(shared)[0][3])
    bob.sync()
    alice.clone.put(NOTE, "one more")
    alice.sync(pull=False)
    packs = stored(shared)
    assert [pack[1] for pack in packs] == [0, 1]
    assert len(packs[1][3]) < first / 2
    # Without the first pack, bob can only get along if he takes the second one alone.
    with psycopg.connect(shared, autocommit=True) as database:
        database.execute("DELETE FROM gitmem.memory_packs WHERE number = 0")
    assert bob.sync(push=False).added == 1
    assert alice.clone.texts() == bob.clone.texts()


def test_many_pushes_are_joined(people: tuple[Person, Person], shared: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gitmem.org.memory_transport.MOST_PACKS", 3)
    alice, bob = people
    for number in range(5):
        alice.clone.put(NOTE, f"text {number}", f"2026-01-0{number + 1}T00:00:00Z")
        alice.sync(pull=False)
    assert [pack[1] for pack in stored(shared)] == [0, 1]
    assert bob.sync().added == 1
    assert bob.clone.texts() == ["text 4"]


def test_private_records_never_leave(people: tuple[Person, Person], shared: str) -> None:
    alice, bob = people
    record = {"kind": "notes", "id": NOTE, "content": SECRET, "time": "2026-01-01T00:00:00Z", "visibility": "me"}
    import_records(alice.clone.workspace, [json.dumps(record)])
    alice.clone.put(OTHER, "invoices have two numbers")
    alice.sync()
    bob.sync()
    assert bob.clone.texts() == ["invoices have two numbers"]
    assert len(alice.clone.texts()) == 2
    for _, _, commit, _ in stored(shared):
        # All that the server has of a writer is what its commit reaches.
        objects = bob.clone.repo.git("rev-list", "--objects", commit).split("\n")
        contents = [bob.clone.repo.git("cat-file", "-p", line.split()[0]) for line in objects]
        assert contents
        assert not any(SECRET in content for content in contents)


def test_a_purge_is_honoured_by_the_server_and_by_other_clones(people: tuple[Person, Person], shared: str) -> None:
    alice, bob = people
    alice.clone.put(NOTE, SECRET)
    alice.clone.put(OTHER, "invoices have two numbers")
    alice.sync()
    bob.sync()
    blob = alice.clone.repo.git("rev-parse", f"refs/gitmem/memory:v1/notes/01/{NOTE}")
    delete_records(alice.clone.workspace, [NOTE])
    purge_memory(alice.clone.workspace)
    assert alice.sync().purged
    assert bob.sync().purged
    assert bob.clone.texts() == ["invoices have two numbers"]
    for person in (alice, bob):
        with pytest.raises(AssertionError):
            person.clone.repo.git("cat-file", "-e", blob)
    # A new clone gets all that the server has, and the purged words are no part of it.
    fresh = Person(alice.clone.repo.path.with_name("fresh"), shared, "bob")
    fresh.sync()
    assert fresh.clone.texts() == ["invoices have two numbers"]
    with pytest.raises(AssertionError):
        fresh.clone.repo.git("cat-file", "-e", blob)


def test_records_follow_the_rights_of_the_repository(
    people: tuple[Person, Person], shared: str, tmp_path: Path
) -> None:
    alice, _ = people
    alice.clone.put(NOTE, SECRET)
    alice.sync()
    carol = Person(tmp_path / "carol", shared, "carol")
    with pytest.raises(UsageError, match="no repository `shop` that this role may read"):
        carol.sync()
    with psycopg.connect(carol.dsn, autocommit=True) as database:
        (name, _, commit, _), *_ = stored(shared)
        for call in ("visible_refs(1)", f"list_packs(1, '{name}')", f"read_packs(1, '{name}', -1)"):
            assert database.execute(f"SELECT * FROM gitmem.{call}".encode()).fetchall() == []
        for old in (None, commit):
            assert database.execute("SELECT gitmem.move_ref(1, %s, %s, %s)", (name, old, NONE)).fetchone() == (False,)
        assert database.execute("SELECT gitmem.move_ref(1, 'new', NULL, %s)", (NONE,)).fetchone() == (False,)
        change_packs(database, name)
    assert [pack[2] for pack in stored(shared)] == [commit]


def change_packs(database: Any, name: str) -> None:
    """Try to remove the packs of a ref of the first repository, and to add one."""
    database.execute("SELECT gitmem.remove_packs(1, %s), gitmem.add_pack(1, %s, 'x', 'x')", (name, name))


def test_nobody_moves_or_takes_the_ref_of_another_role(people: tuple[Person, Person], shared: str) -> None:
    alice, bob = people
    alice.clone.put(NOTE, "refunds are booked at night")
    writer = alice.sync().writer
    bob.sync()
    with open_database(bob.dsn) as database:
        transport = DatabaseTransport(database, bob.clone.workspace.location, "shop")
        ((name, commit),) = transport.list_refs().items()
        assert name == WRITERS + writer
        refused = transport.push([RefUpdate(name, commit, commit)])
        assert [(each.accepted, each.moved) for each in refused] == [(False, False)]
        for old in (None, commit):
            assert database.execute("SELECT gitmem.move_ref(1, %s, %s, %s)", (name, old, NONE)).fetchone() == (False,)
        change_packs(database, name)
    assert [pack[2] for pack in stored(shared)] == [commit]


def test_a_ref_belongs_to_a_role_with_any_name(shared: str, roles: Callable[..., list[str]], tmp_path: Path) -> None:
    (name,) = roles("Dave-2")
    with open_database(shared) as database:
        grant(database, "shop", name)
    dave = Person(tmp_path / "dave", shared, name)
    dave.clone.put(NOTE, "refunds are booked at night")
    assert dave.sync().sent == 1


def test_records_that_no_clone_would_take_are_refused(
    people: tuple[Person, Person], shared: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice, _ = people
    alice.clone.put(NOTE, "refunds are booked at night")
    monkeypatch.setattr("gitmem.org.memory_transport.MOST_BYTES", 100)
    with pytest.raises(GitmemError, match="records of this clone are too large for `org:shop`"):
        alice.sync()
    assert stored(shared) == []


def test_a_ref_that_moved_meanwhile_is_not_overwritten(people: tuple[Person, Person]) -> None:
    alice, _ = people
    alice.clone.put(NOTE, "refunds are booked at night")
    alice.sync()
    location = alice.clone.workspace.location
    with open_database(alice.dsn) as database:
        transport = DatabaseTransport(database, location, "shop")
        ((name, commit),) = transport.list_refs().items()
        other = alice.clone.repo.git("commit-tree", "-m", "other", alice.clone.repo.git("mktree"))
        for update in (RefUpdate(name, other), RefUpdate(name, other, other)):
            assert [(each.accepted, each.moved) for each in transport.push([update])] == [(False, True)]
        assert transport.list_refs() == {name: commit}


def test_a_commit_that_git_would_take_for_an_option_is_refused(people: tuple[Person, Person], shared: str) -> None:
    alice, bob = people
    alice.clone.put(NOTE, "refunds are booked at night")
    alice.sync()
    with psycopg.connect(alice.dsn) as database, pytest.raises(psycopg.errors.CheckViolation):
        database.execute("SELECT gitmem.move_ref(1, 'refs/x', NULL, '--all')")
    with psycopg.connect(shared, autocommit=True) as database:
        database.execute("ALTER TABLE gitmem.memory_refs DROP CONSTRAINT memory_refs_commit_check")
        database.execute("UPDATE gitmem.memory_refs SET commit = '--all'")
    with pytest.raises(GitFailed, match="has no id of a commit"):
        bob.sync()


def test_an_incomplete_pack_is_refused(people: tuple[Person, Person], shared: str) -> None:
    alice, bob = people
    alice.clone.put(NOTE, "refunds are booked at night")
    alice.sync()
    with psycopg.connect(shared, autocommit=True) as database:
        database.execute("DELETE FROM gitmem.memory_packs")
    with pytest.raises(Exception, match="is incomplete"):
        bob.sync()


def test_the_command_shares_after_a_confirmation(people: tuple[Person, Person], cli: Cli) -> None:
    alice, bob = people
    alice.clone.put(NOTE, "refunds are booked at night")
    sync = ("-C", str(alice.clone.repo.path), "org", "sync", "--name", "shop", "--dsn", alice.dsn)
    assert_error(cli(*sync), 2, "refusing to continue without a terminal", "gitmem org sync --name shop --yes")
    assert "1 change would be pushed to org:shop" in cli(*sync, "--dry-run").out
    assert "1 change pushed to org:shop" in cli(*sync, "--yes", "--push").out
    theirs = ("-C", str(bob.clone.repo.path), "org", "sync", "--name", "shop", "--dsn", bob.dsn, "--pull", "--json")
    assert json.loads(cli(*theirs).out)["added"] == 1
    assert_error(cli(*sync[:-3], "none", "--dsn", alice.dsn), 2, "no repository `none` that this role may read")
