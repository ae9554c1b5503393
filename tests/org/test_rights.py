"""Rights on published repositories: what a role sees, in gitmem and in SQL, with a control that must fail."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest

from gitmem.errors import UsageError
from gitmem.org.connection import open_database
from gitmem.org.migrations import migrate
from gitmem.org.repository_grants import grant, read_grants, revoke, synchronise
from tests.gitrepo import Repo
from tests.org.conftest import user_dsn
from tests.sample import SIGN, Cli, assert_error

TABLES = ("repositories", "heads", "entries", "blobs", "signatures", "grants", "producers")
USERS, REPOSITORIES, QUERIES = 20, 60, 10_000

FILL = """
INSERT INTO gitmem.producers (fingerprint, dimensions) VALUES ('fuzz', 8);
INSERT INTO gitmem.repositories (name) SELECT 'r' || n FROM generate_series(1, %(repositories)s) n;
INSERT INTO gitmem.heads (repository, revision, is_default, commit, tree, producer, files, contents,
  chunks, words, roles, published) SELECT id, 'main', true, '', '', 1, 1, 1, 1, 1, '{}', now() FROM gitmem.repositories;
INSERT INTO gitmem.blobs (id, oid, language, producer, parsed_language, outcome, chunks, kinds, words, record, text)
  SELECT n, int4send(n), '', 1, '', 0, 1, 1, 1, '', '' FROM generate_series(1, 4 * %(repositories)s) n;
INSERT INTO gitmem.signatures (blob, bits) SELECT id, ARRAY[id::int::bit(8)::bit varying] FROM gitmem.blobs;
INSERT INTO gitmem.runs (part, scale, postings) VALUES (0, 0, 4 * %(repositories)s);
INSERT INTO gitmem.term_lists (run, bucket, terms, entries)
  SELECT 1, 0, array_agg((id %% 7)::int2 ORDER BY id %% 7), array_agg((id << 3)::int2 ORDER BY id %% 7)
  FROM gitmem.blobs;
-- Each repository has three blobs of its own and shares every fifth with a neighbour.
INSERT INTO gitmem.entries (head, path, blob, words) SELECT heads.id, int4send(n), 1 + (4 * (heads.id - 1) + n) %%
  (4 * %(repositories)s), ARRAY[n] FROM gitmem.heads, generate_series(0, 4) n;
SELECT gitmem.enter_parts(id) FROM gitmem.heads;
INSERT INTO gitmem.grants (repository, role) SELECT repositories.id, ('fuzz' || u)::regrole FROM gitmem.repositories,
  generate_series(1, %(users)s) u WHERE (repositories.id * 7919 + u * 104729) %% 11 = 0;
CREATE TABLE public.allowed AS SELECT DISTINCT grants.role::text AS person, entries.blob FROM gitmem.grants
  JOIN gitmem.heads USING (repository) JOIN gitmem.entries ON entries.head = heads.id;
GRANT SELECT ON public.allowed TO PUBLIC;
"""

# Five kinds of queries, with other words each time: all heads of the database are asked for, and other words each time.
SEARCHES = """
WITH queries AS (SELECT n, n %% 7 AS word, n %% 256 AS signs FROM generate_series(1, %(queries)s) n),
found AS (
  SELECT blob FROM queries, LATERAL (SELECT blob FROM gitmem.term_blobs(%(heads)s, ARRAY[word])) a
  UNION ALL SELECT blob FROM queries, LATERAL (SELECT blob FROM gitmem.path_blobs(%(heads)s, ARRAY[word])) b
  UNION ALL SELECT blob FROM queries, LATERAL (SELECT blob FROM gitmem.near_blobs(%(heads)s, signs::bit(8), 9)) c
  UNION ALL SELECT id FROM queries, LATERAL (SELECT id FROM gitmem.blobs WHERE id %% 256 = signs) d
  UNION ALL SELECT blob FROM queries, LATERAL (SELECT blob FROM gitmem.entries WHERE blob %% 256 = signs) e)
SELECT count(*) FROM found WHERE blob NOT IN (SELECT blob FROM public.allowed WHERE person = %(person)s)
"""


def fill(database: Any, users: int, repositories: int) -> None:
    """Fill a database with small rows."""
    values = {"users": users, "repositories": repositories}
    for statement in FILL.split(";\n"):
        if statement.strip():
            database.execute(statement, values) if "%" in statement else database.execute(statement)


def count_foreign_rows(dsn: str, users: int, queries: int) -> tuple[int, int]:
    """Run queries as all users; return the number of foreign blobs and of foreign names that they saw."""
    rows = names = 0
    with psycopg.connect(dsn, autocommit=True) as database:
        heads = [row[0] for row in database.execute("SELECT id FROM gitmem.heads").fetchall()]
        for number in range(1, users + 1):
            person = f"fuzz{number}"
            own = "SELECT name FROM gitmem.grants JOIN gitmem.repositories ON repository = repositories.id WHERE role ="
            allowed = {row[0] for row in database.execute(f"{own} '{person}'::regrole").fetchall()}
            database.execute(f"SET ROLE {person}")
            values = {"queries": max(1, queries // users // 5), "heads": heads, "person": person}
            rows += (database.execute(SEARCHES, values).fetchone() or (0,))[0]
            seen = {row[0] for row in database.execute("SELECT name FROM gitmem.repositories").fetchall()}
            names += len(seen ^ allowed)
            database.execute("RESET ROLE")
    return rows, names


@pytest.fixture
def fuzzed(dsn: str, roles: Callable[..., list[str]]) -> str:
    """Make a database in which users see about an eleventh of the repositories."""
    people = roles(*(f"fuzz{number}" for number in range(1, USERS + 1)))
    with open_database(dsn) as database:
        migrate(database)
    with psycopg.connect(dsn, autocommit=True) as database:
        fill(database, USERS, REPOSITORIES)
        for person in people:
            database.execute(f"GRANT gitmem_reader TO {person}")
    return dsn


def test_ten_thousand_queries_see_no_foreign_row_or_name(fuzzed: str) -> None:
    assert count_foreign_rows(fuzzed, USERS, QUERIES) == (0, 0)


@pytest.mark.parametrize(
    "removal",
    [
        "CREATE POLICY everybody ON gitmem.grants FOR SELECT TO gitmem_reader USING (true)",
        "CREATE OR REPLACE FUNCTION gitmem.readable_heads(heads int[]) RETURNS TABLE (head int) LANGUAGE sql STABLE"
        " AS 'SELECT unnest($1)'",
    ],
)
def test_without_a_policy_the_same_queries_see_foreign_rows(fuzzed: str, removal: str) -> None:
    with psycopg.connect(fuzzed, autocommit=True) as database:
        database.execute(removal)
    rows, _ = count_foreign_rows(fuzzed, USERS, USERS)
    assert rows > 0


@pytest.mark.long
def test_a_million_queries_see_no_foreign_row_or_name(fuzzed: str) -> None:
    assert count_foreign_rows(fuzzed, USERS, 1_000_000) == (0, 0)


def test_people_see_what_they_are_granted(dsn: str, indexed: Repo, cli: Cli, roles: Callable[..., list[str]]) -> None:
    roles("alice", "bob")
    here = ("-C", str(indexed.path))
    assert cli("-q", "org", "init", dsn).code == 0
    assert cli(*here, "-q", "org", "publish", "--name", "shop", "--dsn", dsn).code == 0
    assert cli(*here, "-q", "org", "publish", "--name", "old", "--rev", "v1", "--dsn", dsn).code == 0
    assert_error(cli("org", "repos", "--dsn", user_dsn(dsn, "bob")), 5, "permission denied", "ask an administrator")
    assert cli("-q", "org", "grant", "shop", "alice", "--dsn", dsn).code == 0
    assert cli("-q", "org", "grant", "old", "bob", "--dsn", dsn).code == 0
    for person, name in (("alice", "shop"), ("bob", "old")):
        own = user_dsn(dsn, person)
        answer = json.loads(cli("org", "query", "--dsn", own, "--json", SIGN).out)
        assert [one["name"] for one in answer["repositories_searched"]] == [f"org:{name}"]
        assert {hit["repository"] for hit in answer["results"]} == {f"org:{name}"}
        # The same blob lies in both repositories; places in the other one are no copies.
        assert not any("org:" in copy for hit in answer["results"] for copy in hit["copies"])
        assert [head["readers"] for head in json.loads(cli("org", "repos", "--dsn", own, "--json").out)["heads"]] == [
            [person]
        ]
    hidden = cli("org", "query", "--dsn", user_dsn(dsn, "alice"), "--repo", "old", SIGN)
    unknown = cli("org", "query", "--dsn", user_dsn(dsn, "alice"), "--repo", "odd", SIGN)
    assert_error(hidden, 2, "no repository `old` that this role may read")
    assert hidden.err.replace("old", "odd") == unknown.err
    assert cli("-q", "org", "revoke", "shop", "alice", "--dsn", dsn).code == 0
    assert_error(cli("org", "query", "--dsn", user_dsn(dsn, "alice"), SIGN), 3, "no repository")


def test_scores_do_not_depend_on_hidden_repositories(
    dsn: str, indexed: Repo, cli: Cli, roles: Callable[..., list[str]], make_repo: Callable[..., Repo]
) -> None:
    roles("alice")
    assert cli("-q", "org", "init", dsn).code == 0
    assert cli("-C", str(indexed.path), "-q", "org", "publish", "--name", "shop", "--dsn", dsn).code == 0
    assert cli("-q", "org", "grant", "shop", "alice", "--dsn", dsn).code == 0
    query = ("org", "query", "--dsn", user_dsn(dsn, "alice"), "--jsonl", "--explain", SIGN)
    before = cli(*query)
    other = make_repo("other")
    other.commit({f"cookie{n}.py": f"def sign_cookie_{n}(secret):\n    return secret * {n}\n" for n in range(9)})
    assert cli("-C", str(other.path), "-q", "init", "--no-hooks", "--no-mcp").code == 0
    assert cli("-C", str(other.path), "-q", "org", "publish", "--dsn", dsn).code == 0
    assert cli(*query).out == before.out != ""


def test_readers_change_nothing(dsn: str, roles: Callable[..., list[str]]) -> None:
    roles("alice")
    with open_database(dsn) as database:
        migrate(database)
        database.execute("INSERT INTO gitmem.repositories (name) VALUES ('shop')")
        grant(database, "shop", "alice")
    with psycopg.connect(user_dsn(dsn, "alice"), autocommit=True) as reader:
        for table in TABLES:
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                reader.execute(f"DELETE FROM gitmem.{table}")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            reader.execute("SET ROLE gitmem_publisher")


def test_a_file_of_grants_replaces_those_of_the_last_file(
    dsn: str, roles: Callable[..., list[str]], tmp_path: Path
) -> None:
    roles("alice", "bob", "carol")
    file = tmp_path / "grants.txt"
    file.write_text("# from the forge\nshop alice bob\n\nold bob nobody  # a former colleague\n")
    with open_database(dsn) as database:
        migrate(database)
        assert synchronise(database, read_grants(file)) == (3, 0, ["nobody"])
        grant(database, "old", "carol")
        file.write_text("shop alice\n")
        assert synchronise(database, read_grants(file)) == (0, 2, [])
        found = database.execute(
            "SELECT name, role::text FROM gitmem.grants JOIN gitmem.repositories ON id = repository ORDER BY 1, 2"
        ).fetchall()
        assert found == [("old", "carol"), ("shop", "alice")]
        with pytest.raises(UsageError, match="no repository `none`"):
            grant(database, "none", "alice")
        with pytest.raises(UsageError, match="no role `nobody`"):
            grant(database, "shop", "nobody")
        with pytest.raises(UsageError, match="`bob` has no grant on `shop`"):
            revoke(database, "shop", "bob")


def test_a_malformed_file_of_grants_names_the_line(tmp_path: Path) -> None:
    file = tmp_path / "grants.txt"
    file.write_text("shop alice\nshop bob\n")
    with pytest.raises(UsageError, match=r"grants.txt:2: `shop` is listed twice"):
        read_grants(file)
    with pytest.raises(UsageError, match="cannot read"):
        read_grants(tmp_path / "none")
