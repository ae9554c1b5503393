"""Rights on published repositories: what a role sees, in gitmem and in SQL, with a control that must fail."""

import json
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest

from gitmem.errors import UsageError
from gitmem.org.connection import open_database
from gitmem.org.migrations import migrate
from gitmem.org.repository_grants import grant, read_grants, revoke, synchronise
from tests.faults import org_rights
from tests.gitrepo import Repo
from tests.org.conftest import user_dsn
from tests.sample import SIGN, Cli, assert_error

TABLES = ("repositories", "heads", "entries", "blobs", "signatures", "grants", "producers")


@pytest.mark.parametrize("long", [False, pytest.param(True, marks=pytest.mark.long)])
def test_queries_of_many_people_see_no_foreign_row_or_name(long: bool) -> None:
    tally = org_rights.run(long=long)
    assert tally.passed, str(tally)
    assert tally.cases >= 100


def test_queries_without_a_check_of_the_rights_would_be_caught() -> None:
    tally = org_rights.run_control()
    assert tally.passed, str(tally)


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


def test_grants_count_through_any_chain_of_inherited_roles(dsn: str, roles: Callable[..., list[str]]) -> None:
    names = roles("alice", "team", "everyone", "lead", "board", "bob")
    with psycopg.connect(dsn, autocommit=True) as database:
        with open_database(dsn) as own:
            migrate(own)
        database.execute("GRANT gitmem_reader TO alice, bob; GRANT gitmem_admin TO board")
        database.execute("GRANT team TO alice; GRANT everyone TO team, bob")
        database.execute("GRANT lead TO alice WITH INHERIT FALSE; GRANT board TO lead")
        # Readers may not call it, but the functions of the schema do so with the rights of the owner.
        database.execute(
            "CREATE FUNCTION public.own_roles() RETURNS oid[] LANGUAGE sql SECURITY DEFINER AS"
            " 'SELECT gitmem.own_roles()'"
        )
        database.execute("INSERT INTO gitmem.repositories (name) SELECT unnest(%s::text[])", (names,))
        for name in names:
            database.execute(f"SET ROLE {name}")
            found = database.execute("SELECT rolname FROM pg_roles WHERE oid = ANY(public.own_roles())").fetchall()
            # PostgreSQL itself says whose rights a role has.
            has = "SELECT rolname FROM pg_roles WHERE pg_has_role(%s, oid, 'USAGE')"
            assert set(found) == set(database.execute(has, (name,)).fetchall()), name
            database.execute("RESET ROLE")
            grant(database, name, name)
        visible = {}
        for name in ("alice", "bob"):
            database.execute(f"SET ROLE {name}")
            rows = database.execute("SELECT name FROM gitmem.visible_repositories()").fetchall()
            visible[name] = {row[0] for row in rows}
            database.execute("RESET ROLE")
        assert visible == {"alice": {"alice", "team", "everyone"}, "bob": {"bob", "everyone"}}


def test_a_search_reads_no_grants_of_others(dsn: str, roles: Callable[..., list[str]]) -> None:
    roles("alice", *(f"other{number}" for number in range(10)))
    with open_database(dsn) as database:
        migrate(database)
        database.execute(
            "INSERT INTO gitmem.repositories (name) SELECT 'r' || n FROM generate_series(1, 1000) n;"
            "INSERT INTO gitmem.grants (repository, role) SELECT repositories.id, ('other' || n)::regrole"
            " FROM gitmem.repositories, generate_series(0, 9) n"
        )
        grant(database, "r7", "alice")
        database.execute("ANALYZE gitmem.grants")
    with psycopg.connect(user_dsn(dsn, "alice")) as database:
        assert database.execute("SELECT name FROM gitmem.visible_repositories()").fetchall() == [("r7",)]
        read = database.execute(
            "SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_xact_all_tables WHERE relname = 'grants'"
        ).fetchone()
        assert read in {(0,), (1,)}, "the index alone may answer"


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


def test_publishers_publish_and_remove_no_repository(
    published: str, own: Repo, cli: Cli, roles: Callable[..., list[str]]
) -> None:
    roles("alice", "ci")
    with open_database(published) as database:
        grant(database, "shop", "alice")
        database.execute("GRANT gitmem_publisher TO ci")
    ci = user_dsn(published, "ci")
    own.commit({"src/refund.py": "def book_refund(order):\n    return order.total\n"})
    publish = ("-C", str(own.path), "org", "publish", "--dsn", ci, "--name")
    assert (cli(*publish, "shop").code, cli(*publish, "new").code) == (0, 0)
    for options in ((), ("--rev", "main")):
        assert_error(cli("org", "drop", "shop", "--yes", *options, "--dsn", ci), 5, "permission denied")
    with psycopg.connect(ci, autocommit=True) as publisher:
        for statement in (
            "DELETE FROM gitmem.repositories",
            "UPDATE gitmem.repositories SET name = 'old'",
            "DELETE FROM gitmem.heads",
            "DELETE FROM gitmem.grants",
            "INSERT INTO gitmem.grants (repository, role) SELECT id, 'ci'::regrole FROM gitmem.repositories",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                publisher.execute(statement)
    assert "org:shop:" in cli("org", "query", "--dsn", user_dsn(published, "alice"), "-l", "refund").out


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
