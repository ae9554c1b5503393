"""Contents in partitions of one server and on several servers: the same results and rights, and no part of a head."""

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import psycopg
import pytest

from gitmem.errors import DatabaseUnavailable
from gitmem.org.connection import open_database
from gitmem.org.head_publication import publish_head, release_blobs
from gitmem.org.migrations import MIGRATIONS, migrate
from gitmem.org.partitions import divide_among
from gitmem.org.published_repositories import read_status
from gitmem.org.repository_grants import grant
from tests.faults import org_rights
from tests.faults.report import Tally
from tests.gitrepo import Repo
from tests.org.clusters import Cluster, running
from tests.org.conftest import user_dsn
from tests.sample import SIGN, Cli, assert_error, open_sample

MakeShares = Callable[[int], list[str]]


@pytest.fixture
def shares(server: Cluster, dsn: str) -> Iterator[MakeShares]:
    """Create databases for shares of the contents of `dsn`, and remove them with their roles."""
    names: list[str] = []

    def create(count: int) -> list[str]:
        own = dsn.partition("?")[0].rpartition("/")[2]
        with server.connect() as database:
            for number in range(count):
                names.append(f"{own}_{number}")
                database.execute(f"CREATE DATABASE {names[-1]}")
        return [server.dsn(name) for name in names]

    yield create
    with server.connect() as database:
        for name in names:
            database.execute(f"DROP DATABASE {name} WITH (FORCE)")
            database.execute(f"DROP ROLE IF EXISTS gitmem_of_{name}")


def words(dsns: Sequence[str]) -> list[str]:
    """Return the options that name shares."""
    return [word for dsn in dsns for word in ("--shard", dsn)]


def rows_of(dsn: str) -> list[int]:
    """Return the numbers of rows of a share."""
    with psycopg.connect(dsn) as database:
        tables = ("contents", "signatures", "term_lists")
        return [database.execute(f"SELECT count(*) FROM gitmem_shard.{table}").fetchall()[0][0] for table in tables]


QUERIES = (
    ("org", "query", "--json", "--explain", SIGN),
    ("org", "query", "--json", "--mode", "lexical", "matchRoute"),
    ("query", "--repo", "org:*", "--json", "--lang", "python", SIGN),
    ("get", "org:shop:src/cookies.py:1-3"),
)


@pytest.mark.parametrize("layout", ["partitions", "shards"])
def test_divided_contents_give_the_same_results(
    published: str, own: Repo, cli: Cli, shares: MakeShares, monkeypatch: pytest.MonkeyPatch, layout: str
) -> None:
    monkeypatch.setenv("GITMEM_ORG", published)

    def answers() -> list[Any]:
        outcomes = [cli("-C", str(own.path), *query) for query in QUERIES]
        assert [outcome.code for outcome in outcomes] == [0] * len(QUERIES), outcomes
        parsed = [json.loads(outcome.out) if "--json" in query else outcome.out
                  for query, outcome in zip(QUERIES, outcomes, strict=True)]  # fmt: skip
        return [answer.get("results") if isinstance(answer, dict) else answer for answer in parsed]

    before = answers()
    options = words(shares(2)) if layout == "shards" else ["--partitions", "3"]
    outcome = cli("org", "init", published, *options)
    assert f"contents: divided into {2 if layout == 'shards' else 3} partitions" in outcome.out, outcome.err
    assert answers() == before
    own.git("rm", "-q", "notes.txt")
    own.commit({"src/refund.py": "def book_refund(order):\n    return order.total\n"})
    head = json.loads(cli("-C", str(own.path), "org", "publish", "--name", "shop", "--json").out)["published"][0]
    assert (head["blobs"], head["removed"]) == (1, 1)
    assert cli("org", "query", "-l", "book the refund of an order").out.splitlines()[0] == "org:shop:src/refund.py"
    state = json.loads(cli("org", "status", "--json").out)
    assert state["unused"] == 0
    assert state["bytes"]["contents"] > 0 or layout == "shards"
    assert_error(cli("org", "init", published, *options), 2, "partitions already", "gitmem org status")


def test_a_role_that_reads_all_tables_reads_no_contents_in_partitions(
    published: str, cli: Cli, roles: Callable[..., list[str]]
) -> None:
    roles("analyst")
    assert cli("-q", "org", "init", published, "--partitions", "2").code == 0
    names = [table + own for table in ("contents", "signatures", "term_lists") for own in ("", "_0", "_1")]
    with psycopg.connect(published) as database:
        database.execute("GRANT pg_read_all_data TO analyst")
        assert all(database.execute(f"SELECT FROM gitmem.{name}").fetchall() for name in names[::3])
    with psycopg.connect(user_dsn(published, "analyst")) as database:
        assert [database.execute(f"SELECT FROM gitmem.{name}").fetchall() for name in names] == [[]] * len(names)


def test_dropped_contents_and_those_of_interrupted_publications_leave_other_servers(
    published: str, cli: Cli, shares: MakeShares
) -> None:
    dsns = shares(2)
    with open_database(published) as database:
        divide_among(database, dsns)
    assert sum(rows_of(dsns[0])) > 0
    with psycopg.connect(dsns[1]) as share:  # as if the first server had failed after this one had committed
        share.execute("INSERT INTO gitmem_shard.contents VALUES (8193, '', '')")
        share.execute("INSERT INTO gitmem_shard.signatures VALUES (8193, '{}')")
        share.execute("INSERT INTO gitmem_shard.term_lists VALUES (99, 1, '{}', '{}', NULL, 1)")
    assert cli("-q", "org", "drop", "shop", "--yes", "--dsn", published).code == 0
    assert [rows_of(dsn) for dsn in dsns] == [[0, 0, 0]] * 2


@pytest.mark.parametrize("table", ["contents", "signatures", "term_lists"])
def test_a_server_that_fails_during_a_publication_shows_no_part_of_a_head(
    published: str, own: Repo, cli: Cli, shares: MakeShares, table: str
) -> None:
    dsns = shares(1)
    with open_database(published) as database:
        divide_among(database, dsns)
    own.commit({"src/refund.py": "def book_refund(order):\n    return order.total\n"})
    before = cli("org", "repos", "--dsn", published, "--json").out
    with psycopg.connect(dsns[0], autocommit=True) as share:
        share.execute(
            "CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS"
            " 'BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NEW; END';"
            f"CREATE TRIGGER fail AFTER INSERT ON gitmem_shard.{table} FOR EACH ROW EXECUTE FUNCTION fail()"
        )
        with pytest.raises(DatabaseUnavailable), open_database(published) as database:
            publish_head(open_sample(own), database, "shop", "", "", is_default=False)
        assert cli("org", "repos", "--dsn", published, "--json").out == before
        share.execute(f"DROP TRIGGER fail ON gitmem_shard.{table}")
    with open_database(published) as database:
        assert publish_head(open_sample(own), database, "shop", "", "", is_default=False).files == 6
    assert cli("org", "query", "--dsn", published, "-l", "refund").out.startswith("org:shop:src/refund.py\n")


def test_a_server_that_is_down_is_named_and_no_part_of_the_results_is_shown(
    published: str, own: Repo, cli: Cli, shares: MakeShares
) -> None:
    here = ("-C", str(own.path))
    with running() as other:
        assert cli("-q", "org", "init", published, *words([other.dsn("postgres"), *shares(1)])).code == 0
        query = ("org", "query", "--dsn", published, "-l", SIGN)
        found = cli(*query)
        assert found.code == 0
        other.kill()
        outcome = cli(*query)
        assert_error(outcome, 5, "server gitmem_0 of the contents", "gitmem org status")
        assert (outcome.out, len(outcome.err.splitlines())) == ("", 2)
        state = json.loads(cli("org", "status", "--dsn", published, "--json").out)
        assert [share["bytes"] is None for share in state["shares"]] == [True, False]
        assert (
            "problem     server gitmem_0: could not establish connection"
            in cli("org", "status", "--dsn", published).out
        )
        own.commit({"src/refund.py": "def book_refund(order):\n    return order.total\n"})
        publish = (*here, "org", "publish", "--name", "shop", "--dsn", published, "--retry-seconds", "0")
        assert_error(cli(*publish), 5, "gitmem_0", "gitmem org status")
        together = json.loads(cli(*here, "query", "--repo", "org:*", "--repo", "*", "--json", SIGN).out or "{}")
        assert together == {} or together["repositories_skipped"]
        other.start()
        assert cli(*query).out == found.out
        assert cli(*publish).out.startswith("published shop main: 6 files")


def test_a_drop_that_one_server_misses_says_what_is_left(published: str, cli: Cli) -> None:
    with running() as other:
        assert cli("-q", "org", "init", published, "--shard", other.dsn("postgres")).code == 0
        other.kill()
        drop = ("org", "drop", "--yes", "--dsn", published)
        outcome = cli(*drop, "shop")
        assert_error(outcome, 5, "dropped `shop`", "still stored", 'server "gitmem_0"', "the next `gitmem org drop`")
        assert cli("org", "repos", "--dsn", published).out == ""
        other.start()
        assert rows_of(other.dsn("postgres"))[0] > 0
        with psycopg.connect(published) as database:
            database.execute("INSERT INTO gitmem.repositories (name) VALUES ('other')")
        assert cli(*drop, "other").code == 0
        assert rows_of(other.dsn("postgres")) == [0, 0, 0]


def test_a_search_that_began_before_lists_were_merged_is_tried_again(
    published: str, cli: Cli, shares: MakeShares
) -> None:
    dsns = shares(1)
    with open_database(published) as database:
        divide_among(database, dsns)
    with psycopg.connect(dsns[0]) as share:
        share.execute("DELETE FROM gitmem_shard.term_lists")
    assert_error(cli("org", "query", "--dsn", published, SIGN), 5, "lists of terms were merged during the search")


def test_a_cancelled_search_stops_on_the_other_servers_and_the_next_one_works(
    published: str, shares: MakeShares
) -> None:
    dsns = shares(2)
    with open_database(published) as database:
        divide_among(database, dsns)
    near = "SELECT count(*) FROM gitmem.near_blobs(ARRAY[1], repeat('1', 256)::bit varying, 9)"
    sleepers = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%gitmem_shard.nearest%' AND state = 'active'"
    with psycopg.connect(published, autocommit=True) as reader, psycopg.connect(dsns[0], autocommit=True) as share:
        assert reader.execute(near).fetchall() == [(4,)]
        share.execute("ALTER FUNCTION gitmem_shard.nearest RENAME TO own_nearest")
        share.execute(
            "CREATE FUNCTION gitmem_shard.nearest(int[], bit varying[], bit varying, int)"
            " RETURNS TABLE (blob bigint, distance bigint, unused int) LANGUAGE sql"
            " AS 'SELECT 1, 1, 1 FROM pg_sleep(600)'"
        )
        reader.execute("SET statement_timeout = '100ms'")
        with pytest.raises(psycopg.errors.QueryCanceled):
            reader.execute(near)
        own = f"{sleepers} AND pid <> pg_backend_pid()"
        while share.execute(own).fetchall() != [(0,)]:
            pass
        share.execute("DROP FUNCTION gitmem_shard.nearest; ALTER FUNCTION gitmem_shard.own_nearest RENAME TO nearest")
        reader.execute("SET statement_timeout = 0")
        assert reader.execute(near).fetchall() == [(4,)]


def test_people_see_what_they_are_granted_on_several_servers(server: Cluster, dsn: str, shares: MakeShares) -> None:
    with open_database(dsn) as database:
        migrate(database)
        divide_among(database, shares(2))
    with psycopg.connect(dsn, autocommit=True) as database:
        try:
            org_rights.fill(database, org_rights.CONTROL)
            tally = Tally("queries over two servers")
            org_rights.search_as_all(tally, database, org_rights.CONTROL)
        finally:
            org_rights.drop_people(database, org_rights.CONTROL)
    assert tally.passed, str(tally)
    assert tally.cases


def test_readers_cannot_use_the_ways_to_other_servers(
    published: str, shares: MakeShares, roles: Callable[..., list[str]]
) -> None:
    roles("alice", "stranger")
    dsns = shares(1)
    with open_database(published) as database:
        divide_among(database, dsns)
        grant(database, "shop", "alice")
    with psycopg.connect(user_dsn(published, "alice"), autocommit=True) as reader:
        heads = [row[0] for row in reader.execute("SELECT (head).id FROM gitmem.visible_heads()").fetchall()]
        near = "SELECT count(*) FROM gitmem.near_blobs(%s, repeat('1', 256)::bit varying, 9)"
        assert reader.execute(near, (heads,)).fetchall() == [(4,)]
        # The connection of that search is still open in this session.
        for statement in (
            "SELECT * FROM gitmem_links.dblink('gitmem_0_search', 'SELECT 1') AS found (a int)",
            "SELECT * FROM gitmem.ask_servers(ARRAY[0], ARRAY['SELECT 1, 1, 1'])",
            "SELECT * FROM gitmem.contents",
            "SELECT * FROM gitmem.contents_0",
            "CREATE FOREIGN TABLE pg_temp.mine (blob bigint) SERVER gitmem_0",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                reader.execute(statement)
        assert reader.execute("SELECT umoptions FROM pg_user_mappings").fetchall() == [(None,)]
    with psycopg.connect(user_dsn(dsns[0], "stranger"), autocommit=True) as reader:
        for statement in ("SELECT * FROM gitmem_shard.contents", "SELECT gitmem_shard.bytes()"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                reader.execute(statement)


def test_publishers_without_a_superuser_use_the_password_of_the_first_server(
    published: str, own: Repo, cli: Cli, roles: Callable[..., list[str]]
) -> None:
    roles("ci")
    with running() as other:
        rules = other.data / "pg_hba.conf"
        rules.write_text("local all postgres trust\nhost all postgres 127.0.0.1/32 trust\n"
                         "host all all 127.0.0.1/32 scram-sha-256\n")  # fmt: skip
        with other.connect() as database:
            database.execute("SELECT pg_reload_conf()")
        with open_database(published) as database:
            # The first of two hosts does not answer.
            hosts = other.tcp("postgres").replace("@", "@127.0.0.1:1,")
            assert divide_among(database, [f"{hosts}?target_session_attrs=read-write"]) == []
            database.execute("GRANT gitmem_publisher TO ci")
        own.commit({"src/refund.py": "def book_refund(order):\n    return order.total\n"})
        ci = user_dsn(published, "ci")
        assert cli("-C", str(own.path), "org", "publish", "--name", "shop", "--dsn", ci).code == 0
        assert cli("org", "query", "--dsn", ci, "-l", "refund").out.startswith("org:shop:src/refund.py\n")
        with pytest.raises(psycopg.OperationalError, match="no password supplied"):
            psycopg.connect(other.tcp("postgres", "gitmem_of_postgres"))


def test_a_server_that_asks_for_no_password_is_named(
    published: str, own: Repo, cli: Cli, shares: MakeShares, roles: Callable[..., list[str]]
) -> None:
    """Whoever reaches it reads all contents. PostgreSQL refuses only connections for roles that are no superusers."""
    roles("ci")
    dsns = shares(1)
    outcome = cli("org", "init", published, *words(dsns))
    assert outcome.code == 0
    assert "note: server gitmem_0 lets its role in without the password" in outcome.err
    with psycopg.connect(published) as database:
        database.execute("GRANT gitmem_publisher TO ci")
    own.commit({"src/refund.py": "def book_refund(order):\n    return order.total\n"})
    publish = ("-C", str(own.path), "org", "publish", "--name", "shop", "--dsn", user_dsn(published, "ci"))
    assert_error(cli(*publish), 5, "password or GSSAPI", "pg_hba.conf")


def test_databases_that_cannot_take_contents_are_refused(
    published: str, dsn: str, cli: Cli, shares: MakeShares
) -> None:
    dsns = shares(2)
    with psycopg.connect(published, autocommit=True) as database:
        database.execute("CREATE EXTENSION dblink SCHEMA public")
    outcome = cli("org", "init", dsn, *words(dsns))
    assert_error(outcome, 2, "dblink is installed in the schema `public`", "DROP EXTENSION dblink")
    with psycopg.connect(published, autocommit=True) as database:
        database.execute("DROP EXTENSION dblink")
    for twice in ((dsns[0], dsns[0]), (dsns[0], dsn)):
        assert_error(cli("org", "init", dsn, *words(twice)), 2, "is named twice", "an empty database for each share")
    assert cli("-q", "org", "init", dsn, "--shard", dsns[0]).code == 0
    assert_error(cli("org", "init", dsn, "--shard", dsns[1]), 2, "divided into 1 partitions already")
    assert_error(cli("org", "init", dsns[1], "--shard", dsns[0]), 2, "is a share already", "DROP SCHEMA gitmem_shard")
    assert_error(cli("org", "init", dsn, "--shard", dsns[1], "--partitions", "2"), 2, "exclude each other")


def test_a_share_is_taken_by_one_database_even_if_it_is_empty(
    server: Cluster, dsn: str, cli: Cli, shares: MakeShares
) -> None:
    own, other = shares(2)
    assert cli("-q", "org", "init", dsn, "--shard", own).code == 0
    assert_error(cli("org", "init", other, "--shard", own), 2, "is a share already", "DROP SCHEMA gitmem_shard")


def test_a_division_that_was_interrupted_leaves_shares_that_the_next_one_takes(
    published: str, cli: Cli, shares: MakeShares
) -> None:
    """As if a share had committed, and the first server had not."""
    dsns = shares(2)
    before = cli("org", "query", "--dsn", published, "-l", SIGN).out
    with psycopg.connect(published, autocommit=True) as database:
        database.execute(
            "CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS"
            " 'BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NEW; END';"
            "CREATE TRIGGER fail AFTER INSERT ON gitmem.partitions EXECUTE FUNCTION fail()"
        )
        assert_error(cli("org", "init", published, *words(dsns)), 5, "PostgreSQL")
        database.execute("DROP TRIGGER fail ON gitmem.partitions")
        (blobs,) = database.execute("SELECT count(*) FROM gitmem.blobs").fetchall()[0]
    with psycopg.connect(dsns[0]) as share:
        share.execute("INSERT INTO gitmem_shard.contents VALUES (1, '', ''), (8193, '', '')")
    assert cli("org", "query", "--dsn", published, "-l", SIGN).out == before
    assert cli("-q", "org", "init", published, *words(dsns)).code == 0
    assert cli("org", "query", "--dsn", published, "-l", SIGN).out == before
    assert sum(rows_of(each)[0] for each in dsns) == blobs


def test_no_log_has_the_password_of_a_share() -> None:
    noisy = {"log_statement": "all", "log_min_duration_statement": "0", "log_parameter_max_length": "-1"}
    with running(noisy) as first, running(noisy) as other:
        with open_database(first.dsn("postgres")) as database:
            migrate(database)
            divide_among(database, [other.dsn("postgres")])
            row = database.execute(
                "SELECT option_value FROM pg_user_mappings, pg_options_to_table(umoptions)"
                " WHERE option_name = 'password'"
            ).fetchone()
        assert row is not None
        assert len(str(row[0])) == 64
        for cluster in (first, other):
            assert "gitmem_shard" in cluster.log()
            assert str(row[0]) not in cluster.log()


def test_a_first_server_that_was_set_back_gives_no_number_again(
    published: str, own: Repo, cli: Cli, shares: MakeShares
) -> None:
    """As after a failover to a replica that was behind: other servers have rows of numbers that it gives again."""
    with open_database(published) as database:
        divide_among(database, shares(1))
    numbers = "SELECT last_value FROM gitmem.blob_ids UNION ALL SELECT last_value FROM gitmem.runs_id_seq"
    with psycopg.connect(published, autocommit=True) as database:
        blob, run = (row[0] for row in database.execute(numbers).fetchall())
        database.execute("INSERT INTO gitmem.contents SELECT n, '', '' FROM generate_series(%s::int, %s) n",
                         (blob + 1, blob + 9))  # fmt: skip
        database.execute("INSERT INTO gitmem.term_lists (run, part, bucket, terms, entries)"
                         " SELECT n, 0, 0, '{}', '{}' FROM generate_series(%s::int, %s) n",
                         (run + 1, run + 9))  # fmt: skip
    own.commit({"src/refund.py": "def book_refund(order):\n    return order.total\n"})
    outcome = cli("-C", str(own.path), "org", "publish", "--name", "shop", "--dsn", published)
    assert outcome.out.startswith("published shop main: 6 files"), outcome.err
    with psycopg.connect(published) as database:
        for number in ("blob_ids", "runs_id_seq"):
            usable = "SELECT has_sequence_privilege('gitmem_publisher', %s, 'USAGE')"
            assert database.execute(usable, (f"gitmem.{number}",)).fetchall() == [(True,)]
    assert cli("org", "query", "--dsn", published, "-l", "refund").out.startswith("org:shop:src/refund.py\n")


def test_an_owner_who_is_no_superuser_divides_with_extensions_that_exist(
    indexed: Repo, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running() as first, running() as other:
        rules = other.data / "pg_hba.conf"
        rules.write_text("local all postgres trust\nhost all all 127.0.0.1/32 scram-sha-256\n")
        with other.connect() as database:
            database.execute("SELECT pg_reload_conf(); ALTER ROLE postgres PASSWORD 'secret'")
        with first.connect() as database:
            database.execute("CREATE ROLE boss LOGIN CREATEROLE; ALTER DATABASE postgres OWNER TO boss")
            database.execute("CREATE SCHEMA gitmem_links")
            for name in ("dblink", "postgres_fdw"):
                database.execute(f"CREATE EXTENSION {name} SCHEMA gitmem_links")
            database.execute("GRANT USAGE ON FOREIGN DATA WRAPPER postgres_fdw TO boss")
            database.execute("GRANT USAGE ON SCHEMA gitmem_links TO PUBLIC")
            passwords = tmp_path / "passwords"
            passwords.write_text("*:*:*:postgres:secret\n")
            passwords.chmod(0o600)
            monkeypatch.setenv("PGPASSFILE", str(passwords))
            dsn = first.dsn("postgres", "boss")
            init = ("org", "init", dsn, "--shard", other.tcp("postgres"))
            assert_error(cli("-q", *init), 2, "readers may use the schema `gitmem_links`", "REVOKE USAGE")
            database.execute("REVOKE USAGE ON SCHEMA gitmem_links FROM PUBLIC")
            database.execute("GRANT USAGE ON SCHEMA gitmem_links TO boss")
        outcome = cli("-q", *init)
        assert (outcome.code, outcome.err) == (0, "")
        assert cli("-q", "-C", str(indexed.path), "org", "publish", "--name", "shop", "--dsn", dsn).code == 0
        assert cli("org", "query", "--dsn", dsn, "-l", SIGN).out.startswith("org:shop:src/cookies.py\n")


def test_a_migration_keeps_published_rows(dsn: str) -> None:
    with psycopg.connect(dsn) as database:
        for number, statements in enumerate(MIGRATIONS[:5], 1):
            database.execute(statements)
            database.execute("INSERT INTO gitmem.schema_version (version) VALUES (%s)", (number,))
        database.execute(
            "INSERT INTO gitmem.producers (fingerprint, dimensions) VALUES ('x', 8);"
            "INSERT INTO gitmem.repositories (name) VALUES ('shop');"
            "INSERT INTO gitmem.heads (repository, revision, is_default, commit, tree, producer, files, contents,"
            " chunks, words, roles, published) VALUES (1, 'main', true, '', '', 1, 1, 1, 1, 1, '{}', now());"
            "INSERT INTO gitmem.blobs (id, oid, language, producer, parsed_language, outcome, chunks, kinds, words,"
            " record, text) VALUES (8200, 'oid', '', 1, '', 0, 1, 1, 1, 'record', 'text');"
            "INSERT INTO gitmem.signatures (blob, bits) VALUES (8200, ARRAY[B'10101010']);"
            "INSERT INTO gitmem.runs (part, scale, postings) VALUES (1, 0, 1);"
            "INSERT INTO gitmem.term_lists (run, bucket, terms, entries) VALUES (1, 0, '{7}', '{65}');"
            "INSERT INTO gitmem.entries (head, path, blob, words) VALUES (1, 'a.py', 8200, '{}');"
            "SELECT gitmem.enter_parts(1)"
        )
    found: dict[str, Any] = {
        "SELECT id, record FROM gitmem.visible_records(ARRAY[8200])": [(8200, b"record")],
        "SELECT text FROM gitmem.visible_texts(ARRAY[8200])": [(b"text",)],
        "SELECT hash, blob, code FROM gitmem.term_blobs(ARRAY[1], ARRAY[7])": [(7, 8200, 1)],
        "SELECT blob FROM gitmem.near_blobs(ARRAY[1], B'10101010', 9)": [(8200,)],
    }
    with open_database(dsn) as database:
        assert migrate(database) == (5, len(MIGRATIONS))
        assert {each: database.execute(each.encode()).fetchall() for each in found} == found
        assert read_status(database).blobs == 1
        database.execute("DELETE FROM gitmem.heads")
        assert release_blobs(database, wait=True) == 1
