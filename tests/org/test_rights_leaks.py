"""Hidden repositories leave no trace in plans, counts, terms, results and messages, in gitmem and in SQL."""

from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest

from gitmem.org.candidate_blobs import find_heads, match_words
from gitmem.org.connection import open_database
from gitmem.org.migrations import migrate
from gitmem.org.repository_grants import grant
from gitmem.org.visible_names import VISIBLE_NAMES
from tests.faults import org_rights
from tests.gitrepo import MakeRepo, Repo
from tests.org.conftest import user_dsn
from tests.sample import SIGN, Cli

NAMES = [f"secret-{number:03}" for number in range(200)]


@pytest.fixture
def many(dsn: str, roles: Callable[..., list[str]]) -> str:
    """Make a database of 201 repositories, of which alice may read one; return her DSN."""
    roles("alice")
    with open_database(dsn) as database:
        migrate(database)
        database.execute("INSERT INTO gitmem.repositories (name) SELECT unnest(%s::text[])", ([*NAMES, "shop"],))
        grant(database, "shop", "alice")
        database.execute("ANALYZE")
    return user_dsn(dsn, "alice")


def plans(dsn: str, statement: str) -> set[str]:
    """Return the plans of a statement with several names, run, without what differs by chance."""
    with psycopg.connect(dsn, autocommit=True) as database:
        database.execute("SET enable_seqscan = off")
        explain = "EXPLAIN (ANALYZE, TIMING off, SUMMARY off, BUFFERS off) " + statement
        rows = {name: database.execute(explain.replace("NAME", name)).fetchall() for name in NAMES[::50]}
    return {"\n".join(row[0] for row in each).replace(name, "NAME") for name, each in rows.items()}


def test_plans_do_not_depend_on_hidden_names(many: str) -> None:
    for condition in ("name < 'NAME'", "name = 'NAME'"):
        assert len(plans(many, f"SELECT id FROM gitmem.visible_repositories() WHERE {condition}")) == 1
    assert len(plans(many, "SELECT (head).id FROM gitmem.visible_heads(ARRAY['NAME'])")) == 1


def test_plans_of_a_table_with_names_would_be_caught(many: str, dsn: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as owner:
        owner.execute("GRANT SELECT ON gitmem.repositories TO gitmem_reader")
    assert len(plans(many, "SELECT id FROM gitmem.repositories WHERE name < 'NAME'")) > 1


@pytest.fixture
def hidden(dsn: str) -> Iterator[tuple[int, int]]:
    """Fill the database with small rows; return two repositories that `fuzz1` may not read. Only one has the word 9.

    Heads have the numbers of their repositories.
    """
    with open_database(dsn) as database:
        migrate(database)
    with psycopg.connect(dsn, autocommit=True) as database:
        try:
            org_rights.fill(database, org_rights.CONTROL)
            own = "SELECT repository FROM gitmem.grants WHERE role = 'fuzz1'::regrole"
            first, second, *_ = database.execute(
                f"SELECT id FROM gitmem.repositories WHERE id NOT IN ({own}) ORDER BY id"
            ).fetchall()
            database.execute("UPDATE gitmem.entries SET words = '{9}' WHERE head = %s AND path = int4send(1)", first)
            yield first[0], second[0]
        finally:
            org_rights.drop_people(database, org_rights.CONTROL)


PLANNER = (
    (),
    ("enable_seqscan",),
    ("enable_seqscan", "enable_nestloop"),
    ("enable_seqscan", "enable_nestloop", "enable_hashjoin"),
    ("enable_hashjoin", "enable_mergejoin"),
)
"""Settings that a reader may switch off to choose the order in which a function reads."""

# Each with something that exists and is hidden, and with something that does not exist. {} is the first hidden one.
LOOKUPS = {
    "SELECT FROM gitmem.visible_heads(ARRAY[%s])": ("r{}", "nothing"),
    "SELECT FROM gitmem.visible_repositories() WHERE name = %s": ("r{}", "nothing"),
    "SELECT FROM gitmem.visible_file({}, %s) WHERE visible_file IS NOT NULL": (b"\0\0\0\1", b"nothing"),
    "SELECT FROM gitmem.matching_paths(ARRAY[{}], ARRAY[%s]::bytea[], NULL)": (b"\0\0\0\1", b"nothing"),
    "SELECT FROM gitmem.path_blobs(ARRAY[%s::int], ARRAY[9])": ("{0}", "{1}"),
}


def reads(dsn: str, off: tuple[str, ...], statement: str, value: object) -> list[Any]:
    """Run a statement that returns nothing; return how many rows of which tables it read, which everybody may ask."""
    with psycopg.connect(dsn) as database:
        for setting in off:
            database.execute(f"SET {setting} = off")
        assert database.execute(statement, (value,)).fetchall() == []
        return database.execute(
            "SELECT relname, seq_scan, seq_tup_read, idx_scan, idx_tup_fetch FROM pg_stat_xact_all_tables"
            " WHERE schemaname = 'gitmem' ORDER BY relname"
        ).fetchall()


@pytest.mark.parametrize("off", PLANNER, ids=" ".join)
def test_functions_read_as_much_for_what_is_hidden_as_for_what_does_not_exist(
    dsn: str, hidden: tuple[int, int], off: tuple[str, ...]
) -> None:
    for statement, values in LOOKUPS.items():
        there, not_there = (value.format(*hidden) if isinstance(value, str) else value for value in values)
        asked = statement.format(*hidden)
        own = user_dsn(dsn, "fuzz1")
        assert reads(own, off, asked, there) == reads(own, off, asked, not_there), statement


def test_a_function_that_checks_rights_last_would_be_caught(dsn: str, hidden: tuple[int, int]) -> None:
    with psycopg.connect(dsn, autocommit=True) as owner:
        owner.execute(VISIBLE_NAMES[VISIBLE_NAMES.index("CREATE FUNCTION gitmem.visible_file") :].partition(";\n")[0]
                      .replace("CREATE", "CREATE OR REPLACE").encode())  # fmt: skip
    statement = next(each for each in LOOKUPS if "visible_file" in each).format(*hidden)
    there, not_there = (reads(user_dsn(dsn, "fuzz1"), (), statement, path) for path in (b"\0\0\0\1", b"nothing"))
    assert there != not_there


READABLE = {
    "blobs": {"id", "producer", "parsed_language", "chunks", "kinds"},
    "entries": {"head", "blob"},
    "grants": {"repository", "role", "source"},
    "heads": {"id", "repository", "producer"},
    "repositories": {"id"},
    "schema_version": {"version", "applied"},
}
"""Columns that readers may name in a condition, which may be enough to read what a policy hides."""


def test_names_paths_and_contents_are_read_through_functions_alone(many: str) -> None:
    with psycopg.connect(many, autocommit=True) as database:
        rows = database.execute(
            "SELECT relname, array_agg(attname) FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid"
            " WHERE relnamespace = 'gitmem'::regnamespace AND relkind = 'r' AND attnum > 0 AND NOT attisdropped"
            " AND has_column_privilege(pg_class.oid, attnum, 'SELECT') GROUP BY relname"
        ).fetchall()
    assert {table: set(columns) for table, columns in rows} == READABLE


def test_a_plan_would_show_the_text_of_a_hidden_blob(many: str, dsn: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as owner:
        owner.execute("INSERT INTO gitmem.producers (fingerprint, dimensions) VALUES ('x', 8)")
        owner.execute(
            "INSERT INTO gitmem.blobs (id, oid, language, producer, parsed_language, outcome, chunks, kinds, words,"
            " record, text) SELECT 1, '', '', id, '', 0, 1, 1, 1, '', 'secret' FROM gitmem.producers"
        )
        owner.execute("GRANT SELECT (text) ON gitmem.blobs TO gitmem_reader")
    plan = "EXPLAIN (ANALYZE, TIMING off, SUMMARY off) SELECT FROM gitmem.blobs WHERE text < %s"
    with psycopg.connect(many, autocommit=True) as database:
        below, above = (str(database.execute(plan, (each,)).fetchall()) for each in (b"a", b"z"))
    assert below.count("never executed") > above.count("never executed"), "the condition runs before the policy"


def test_the_planner_keeps_no_samples_of_names(many: str, dsn: str) -> None:
    with psycopg.connect(dsn) as owner:
        rows = owner.execute(
            "SELECT tablename || '.' || attname FROM pg_stats WHERE schemaname = 'gitmem'"
            " AND (histogram_bounds::text LIKE '%secret%' OR most_common_vals::text LIKE '%secret%')"
        ).fetchall()
    assert rows == []


def test_no_function_compares_anything_with_hidden_rows(many: str, dsn: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as owner:
        heads = [row[0] for row in owner.execute("SELECT id FROM gitmem.heads").fetchall()]
    with psycopg.connect(many, autocommit=True) as database:
        # A vector of other dimensions is an error as soon as one row is compared with it.
        assert database.execute("SELECT * FROM gitmem.near_blobs(%s, B'101', 9)", (heads,)).fetchall() == []
        assert database.execute("SELECT * FROM gitmem.visible_paths(%s, ARRAY[1, 2])", (heads,)).fetchall() == []


@pytest.fixture
def shops(dsn: str, indexed: Repo, cli: Cli, make_repo: MakeRepo, roles: Callable[..., list[str]]) -> str:
    """Publish `shop`, which alice may read, and `hidden`, which has the words that her queries have; return her DSN."""
    roles("alice")
    other = make_repo("other")
    other.commit({f"cookie{n}.py": f"def sign_cookie_{n}(secret):\n    return secret * {n}\n" for n in range(9)})
    assert cli("-C", str(other.path), "-q", "init", "--no-hooks", "--no-mcp").code == 0
    assert cli("-q", "org", "init", dsn).code == 0
    assert cli("-C", str(indexed.path), "-q", "org", "publish", "--name", "shop", "--dsn", dsn).code == 0
    assert cli("-C", str(other.path), "-q", "org", "publish", "--name", "hidden", "--dsn", dsn).code == 0
    assert cli("-q", "org", "grant", "shop", "alice", "--dsn", dsn).code == 0
    return user_dsn(dsn, "alice")


COMMANDS = (
    ("org", "query", "--repo", "NAME", SIGN),
    ("org", "query", "--repo", "NAME", "--rev", "main", SIGN),
    ("query", "--repo", "org:NAME", SIGN),
    ("get", "org:NAME:cookie1.py"),
    ("get", "org:NAME:cookie1.py:1-2"),
    ("org", "grant", "NAME", "alice"),
    ("org", "revoke", "NAME", "alice"),
    ("org", "drop", "NAME", "--yes"),
    ("org", "publish", "--name", "NAME"),
)


def test_messages_are_the_same_for_hidden_and_unknown_names(
    shops: str, indexed: Repo, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITMEM_ORG", shops)
    for command in COMMANDS:  # each fails, so one server is enough for all
        answers = [
            cli("-C", str(indexed.path), *(item.replace("NAME", name) for item in command))
            for name in ("hidden", "unused")
        ]
        hidden, unknown = ((each.code, each.out, each.err.replace("hidden", "unused")) for each in answers)
        assert hidden == unknown, command
        assert hidden[0] != 0, command


def test_counts_of_terms_are_those_of_readable_repositories(shops: str, dsn: str) -> None:
    terms = ["cookie", "secret", "sign"]
    with open_database(shops) as database:
        own = match_words(database, find_heads(database, ["*"], ""), terms, None, None)
    with open_database(dsn) as database:
        shop = match_words(database, find_heads(database, ["shop"], ""), terms, None, None)
        everything = match_words(database, find_heads(database, ["*"], ""), terms, None, None)
    assert own.counts == shop.counts
    assert everything.counts != shop.counts, "otherwise the hidden repository has none of the words"


def test_readers_cannot_act_as_others(shops: str, cli: Cli, roles: Callable[..., list[str]]) -> None:
    roles("bob")
    for name in ("bob", "gitmem_publisher", "postgres"):
        outcome = cli("org", "repos", "--role", name, "--dsn", shops)
        assert (outcome.code, outcome.out) == (5, "")
        assert "permission denied to set role" in outcome.err
