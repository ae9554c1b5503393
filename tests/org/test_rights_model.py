"""Grants, revocations, publications and drops in any order: each person sees what a model says, and no blob is left."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

import psycopg
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from gitmem.errors import UsageError
from gitmem.org.candidate_blobs import find_heads, match_words, read_paths
from gitmem.org.connection import open_database
from gitmem.org.head_publication import publish_head
from gitmem.org.migrations import migrate
from gitmem.org.published_repositories import drop_repository, list_heads, read_status
from gitmem.org.repository_grants import grant, revoke, synchronise
from gitmem.workspace import Workspace
from tests.faults.org_rights import EVERYBODY
from tests.gitrepo import MakeRepo, Repo
from tests.sample import Cli, open_sample

PEOPLE = ("alice", "bob")
ROLES = (*PEOPLE, "team")
REPOSITORIES = ("r0", "r1", "r2")
REVISIONS = ("main", "v1")
WORDS = ("alpha", "beta")
SHORT, LONG = 4, 300
REMOVALS = {
    "policy": EVERYBODY,
    "function": "CREATE OR REPLACE FUNCTION gitmem.readable_repositories() RETURNS TABLE (id int) LANGUAGE sql STABLE"
    " AS 'SELECT id FROM gitmem.repositories'",
}
STEPS = 12

names, revisions, any_role = (st.sampled_from(each) for each in (REPOSITORIES, REVISIONS, ROLES))


class Trees:
    """Indexed commits by name, the files of each (path and blob), and the words of each blob."""

    def __init__(self, repo: Repo, workspace: Workspace, commits: dict[str, str]) -> None:
        self.workspace = workspace
        self.commits = commits
        self.files = {name: _files_of(repo, commit) for name, commit in commits.items()}
        blobs = {blob for files in self.files.values() for blob in files.values()}
        self.words = {blob: {word for word in WORDS if word in repo.git("cat-file", "blob", blob)} for blob in blobs}

    def blobs(self, names: Iterable[str]) -> set[str]:
        """Return the blobs of some commits."""
        return {blob for name in names for blob in self.files[name].values()}


def _files_of(repo: Repo, commit: str) -> dict[str, str]:
    lines = repo.git("ls-tree", "-r", commit).splitlines()
    return {line.split("\t")[1]: line.split("\t")[0].split()[2] for line in lines}


@pytest.fixture
def trees(make_repo: MakeRepo, cli: Cli) -> Trees:
    """Make three commits that share files."""
    repo = make_repo("model")
    commits = {}
    for name, files in {
        "first": {"a.py": "def alpha():\n    return 1\n", "b.py": "def beta():\n    return 2\n"},
        "second": {"b.py": "def beta():\n    return alpha\n", "copy.py": "def alpha():\n    return 1\n"},
        "third": {"a.py": "def gamma():\n    return 3\n"},
    }.items():
        repo.commit(files)
        commits[name] = repo.git("rev-parse", "HEAD")
    assert cli("-C", str(repo.path), "-q", "init", "--no-hooks", "--no-mcp").code == 0
    return Trees(repo, open_sample(repo), commits)


class Rights(RuleBasedStateMachine):
    """Database next to a model of it. Subclasses have the connections by person ("": the owner), and the trees."""

    databases: Mapping[str, Any]
    trees: Trees

    @contextmanager
    def _session(self, person: str) -> Iterator[Any]:
        """Use the connection of a person. Connecting for each step would take longer than all the rest."""
        database = self.databases[person]
        try:
            yield database
            database.commit()
        finally:
            database.rollback()

    @initialize()
    def begin(self) -> None:
        """Empty the database."""
        self.heads: dict[str, dict[str, str]] = {}
        self.default: dict[str, str] = {}
        self.granted: dict[tuple[str, str], str] = {}
        self.names: set[str] = set()
        self.members: set[str] = set()
        with self._session("") as database:
            for name in {head.repository for head in list_heads(database)}:
                drop_repository(database, name)
            for person in PEOPLE:
                database.execute(f"REVOKE team FROM {person}")

    @rule(name=names, revision=revisions, tree=st.sampled_from(["first", "second", "third"]), default=st.booleans())
    def publish(self, name: str, revision: str, tree: str, default: bool) -> None:
        with self._session("") as database:
            commit = self.trees.commits[tree]
            publish_head(self.trees.workspace, database, name, commit, revision, is_default=default)
        own = self.heads.setdefault(name, {})
        if default or not own:
            self.default[name] = revision
        own.pop(revision, None)
        own[revision] = tree  # the last one is the newest
        self.names.add(name)

    @precondition(lambda self: self.names)
    @rule(name=names)
    def drop(self, name: str) -> None:
        with self._session("") as database:
            if name in self.names:
                drop_repository(database, name)
            else:
                with pytest.raises(UsageError, match="no repository"):
                    drop_repository(database, name)
        self.names.discard(name)
        self.heads.pop(name, None)
        self.granted = {pair: source for pair, source in self.granted.items() if pair[0] != name}

    @rule(name=names, revision=revisions)
    def drop_revision(self, name: str, revision: str) -> None:
        own = self.heads.get(name, {})
        if revision not in own:
            return
        with self._session("") as database:
            drop_repository(database, name, revision)
        del own[revision]
        if self.default[name] == revision and own:
            self.default[name] = [*own][-1]

    @rule(name=names, role=any_role)
    def grant(self, name: str, role: str) -> None:
        with self._session("") as database:
            if name in self.names:
                grant(database, name, role)
                self.granted[name, role] = ""
            else:
                with pytest.raises(UsageError, match="no repository"):
                    grant(database, name, role)

    @precondition(lambda self: self.granted)
    @rule(data=st.data())
    def revoke(self, data: st.DataObject) -> None:
        name, role = data.draw(st.sampled_from(sorted(self.granted)))
        with self._session("") as database:
            revoke(database, name, role)
        del self.granted[name, role]

    @rule(wanted=st.dictionaries(names, st.sets(any_role).map(sorted).map(tuple)))
    def synchronise(self, wanted: dict[str, tuple[str, ...]]) -> None:
        with self._session("") as database:
            synchronise(database, wanted)
        pairs = {(name, role) for name, roles in wanted.items() for role in roles}
        kept = {pair: source for pair, source in self.granted.items() if not source or pair in pairs}
        self.granted = {**dict.fromkeys(pairs, "file"), **kept}
        self.names |= wanted.keys()

    @rule(person=st.sampled_from(PEOPLE), joins=st.booleans())
    def change_team(self, person: str, joins: bool) -> None:
        with self._session("") as database:
            database.execute(f"GRANT team TO {person}" if joins else f"REVOKE team FROM {person}")
        (self.members.add if joins else self.members.discard)(person)

    def _readable(self, person: str) -> set[str]:
        own = {person, "team"} if person in self.members else {person}
        return {name for name, role in self.granted if role in own}

    @invariant()
    def people_see_what_they_may(self) -> None:
        for person in PEOPLE:
            readable = self._readable(person)
            with self._session(person) as database:
                listed = {(head.repository, head.revision, head.is_default) for head in list_heads(database)}
                assert listed == {item for name in readable for item in self._heads_of(name)}
                for revision in REVISIONS:
                    self._check_revision(database, readable, revision)

    def _heads_of(self, name: str) -> set[tuple[str, str | None, bool]]:
        """Return name, revision and default of the heads of a repository; one without them has no revision."""
        own = self.heads.get(name, {})
        return {(name, each, self.default[name] == each) for each in own} or {(name, None, False)}

    def _check_revision(self, database: Any, readable: set[str], revision: str) -> None:
        heads = find_heads(database, ["*"], revision)
        expected = {name: self.heads[name][revision] for name in readable if revision in self.heads.get(name, {})}
        assert {head.repository: head.commit for head in heads} == {
            name: self.trees.commits[tree] for name, tree in expected.items()
        }
        blobs = [row[0] for row in database.execute("SELECT id FROM gitmem.blobs").fetchall()]
        paths = read_paths(database, [head.head for head in heads], blobs)
        files = [(self.trees.commits[tree], path) for tree in expected.values() for path in self.trees.files[tree]]
        commits = {head.head: head.commit for head in heads}
        assert sorted((commits[each.head], each.path.decode()) for each in paths) == sorted(files)
        contents = self.trees.blobs(expected.values())
        counts = match_words(database, heads, WORDS, None, None).counts
        for word in WORDS:
            assert counts[word].files == sum(word in self.trees.words[blob] for blob in contents)

    @invariant()
    def every_readable_blob_is_one_of_a_readable_head(self) -> None:
        for person in PEOPLE:
            trees = [tree for name in self._readable(person) for tree in self.heads.get(name, {}).values()]
            with self._session("") as database:
                oids = {number: oid.hex() for number, oid in database.execute("SELECT id, oid FROM gitmem.blobs")}
            with self._session(person) as database:
                rows = {oids[row[0]] for row in database.execute("SELECT id FROM gitmem.blobs")}
                found = database.execute("SELECT oid FROM gitmem.visible_records(%s)", ([*oids],)).fetchall()
            assert rows == {row[0].hex() for row in found} == self.trees.blobs(trees)

    @invariant()
    def no_blob_is_left_and_none_is_stored_twice(self) -> None:
        with self._session("") as database:
            status = read_status(database)
        trees = [tree for own in self.heads.values() for tree in own.values()]
        assert status.unused == 0
        assert status.blobs == len(self.trees.blobs(trees))


@pytest.fixture
def machine(dsn: str, roles: Callable[..., list[str]], trees: Trees) -> Iterator[type[Rights]]:
    """Make the machine of a new database."""
    roles(*ROLES)
    with open_database(dsn) as database:
        migrate(database)
    with psycopg.connect(dsn, autocommit=True) as database:
        database.execute("GRANT gitmem_reader TO alice, bob, team")
    with ExitStack() as stack:
        databases = {person: stack.enter_context(open_database(dsn, person)) for person in ("", *PEOPLE)}
        yield type("RightsHere", (Rights,), {"databases": databases, "trees": trees})


@pytest.mark.parametrize("examples", [SHORT, pytest.param(LONG, marks=pytest.mark.long)])
def test_rights_follow_the_model_after_any_steps(machine: type[Rights], examples: int) -> None:
    run_state_machine_as_test(
        machine, settings=settings(max_examples=examples, stateful_step_count=STEPS, deadline=None)
    )


@pytest.mark.parametrize("removal", REMOVALS.values(), ids=REMOVALS)
def test_rights_without_a_check_differ_from_the_model(machine: type[Rights], dsn: str, removal: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as database:
        database.execute(removal)
    state = machine()
    state.begin()
    state.publish("r0", "main", "first", default=True)
    state.grant("r0", "alice")
    checks = (state.people_see_what_they_may, state.every_readable_blob_is_one_of_a_readable_head)
    assert not all(map(_passes, checks))


def _passes(check: Callable[[], None]) -> bool:
    try:
        check()
    except AssertionError:
        return False
    return True
