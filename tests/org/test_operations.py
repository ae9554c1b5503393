"""Operating a server: its state, metrics, retries, shared connections and replicas."""

import json
import subprocess
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest

from gitmem.errors import DatabaseFailed, DatabaseUnavailable
from gitmem.org import connection_pool
from gitmem.org.connection import open_database
from gitmem.org.connection_pool import close_pools, open_shared
from gitmem.org.head_publication import publish_head
from gitmem.org.migrations import MIGRATIONS, migrate
from gitmem.org.retries import try_again
from tests.faults.org_failover import replicated
from tests.faults.org_worlds import DATABASE, NAME
from tests.gitrepo import Repo
from tests.org.clusters import BIN, Cluster, running
from tests.org.conftest import user_dsn
from tests.sample import SIGN, Cli, assert_error


def test_two_databases_of_a_new_server_are_set_up_at_once() -> None:
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
    with running() as cluster, cluster.connect() as owner, ThreadPoolExecutor(1) as pool:
        owner.execute("CREATE DATABASE other")
        with psycopg.connect(cluster.dsn("postgres")) as first:
            first.execute(MIGRATIONS[0].encode())

            def set_up() -> tuple[int, int]:
                with open_database(cluster.dsn("other")) as database:
                    return migrate(database)

            second = pool.submit(set_up)
            while owner.execute(waiting).fetchone() == (0,):
                assert not second.done()
        assert second.result() == (0, len(MIGRATIONS))


def test_an_administrator_creates_another_database_of_a_server(cli: Cli, own_server: Cluster) -> None:
    second = own_server.dsn("b", "second")
    with own_server.connect() as database:
        database.execute("CREATE ROLE second LOGIN")
        database.execute("CREATE DATABASE b OWNER second")
        outcome = cli("-q", "org", "init", second)
        assert_error(outcome, 5, "permission denied to grant role", "ask an administrator of the database")
        database.execute("GRANT gitmem_admin TO second")
    assert cli("-q", "org", "init", second).code == 0
    assert cli("org", "status", "--dsn", second).code == 0


def run_program(name: str, *args: str) -> "subprocess.CompletedProcess[str]":
    """Run a program of PostgreSQL."""
    return subprocess.run([str(BIN / name), *args], capture_output=True, text=True, check=False)


def test_a_backup_is_restored_into_another_server(
    published: str, cli: Cli, roles: Callable[..., list[str]], tmp_path: Path
) -> None:
    roles("alice", "owner")
    assert cli("-q", "org", "grant", "shop", "alice", "--dsn", published).code == 0
    query = ("org", "query", "--json", SIGN, "--dsn")
    expected = json.loads(cli(*query, user_dsn(published, "alice")).out)["results"]
    assert expected
    dump, users = tmp_path / "code.dump", tmp_path / "roles.sql"
    assert run_program("pg_dump", "--format=custom", f"--file={dump}", published).returncode == 0
    users.write_text(run_program("pg_dumpall", "--roles-only", f"--dbname={published}").stdout)
    with running() as other:
        run_program("psql", f"--file={users}", other.dsn("postgres"))
        with other.connect() as database:
            database.execute("CREATE DATABASE code")
        restored = run_program("pg_restore", f"--dbname={other.dsn('code')}", str(dump))
        assert (restored.returncode, restored.stderr) == (0, "")
        assert json.loads(cli(*query, other.dsn("code", "alice")).out)["results"] == expected
    with psycopg.connect(published, autocommit=True) as database:
        # As the page says: a superuser has to dump, because tables refuse their owner.
        database.execute("ALTER TABLE gitmem.blobs OWNER TO owner; GRANT USAGE ON SCHEMA gitmem TO owner")
        refused = run_program("pg_dump", "--table=gitmem.blobs", f"--dbname={user_dsn(published, 'owner')}")
        assert "row-level security" in refused.stderr
        database.execute("ALTER TABLE gitmem.blobs OWNER TO postgres; REVOKE ALL ON SCHEMA gitmem FROM owner")


def test_status_and_metrics_show_the_server(published: str, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITMEM_ORG", published)
    with psycopg.connect(published, autocommit=True) as database:
        database.execute("ANALYZE")
    state = json.loads(cli("org", "status", "--json").out)
    assert (state["repositories"], state["heads"], state["is_replica"], state["publishers"]) == (1, 1, False, 0)
    assert state["rows"]["entries"] == 5
    assert state["bytes"]["blobs"] > 0
    assert state["published_seconds"] >= 0
    # The server of the tests does not wait for its disk, which is a problem anywhere else.
    assert state["problems"] == ["fsync is off: a power cut can destroy the database"]
    assert not state["healthy"]
    assert "problem     fsync is off" in cli("org", "status").out
    text = cli("metrics", "--org", "--prometheus").out
    assert "gitmem_org_up 1" in text
    assert f"gitmem_org_chunks {state['chunks']}" in text
    assert 'gitmem_org_table_rows{table="entries"} 5' in text
    samples = [line for line in text.splitlines() if not line.startswith("#")]
    assert all(line.startswith("gitmem_org_") and len(line.split()) == 2 for line in samples)
    assert json.loads(cli("metrics", "--org", "--json").out)["chunks"] == state["chunks"]
    assert_error(cli("metrics", "--org", "--reset"), 2, "`--reset` applies to this repository")


def test_a_server_that_does_not_answer_has_a_metric(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITMEM_ORG", "postgresql:///x?host=/nowhere")
    outcome = cli("metrics", "--org", "--prometheus")
    assert outcome.code == 5
    assert outcome.out.splitlines()[-1] == "gitmem_org_up 0"
    assert "check the DSN" in outcome.err
    assert_error(cli("metrics", "--org"), 5, "check the DSN")


def test_readers_see_the_state_of_their_own_repositories(published: str, cli: Cli, roles: object) -> None:
    assert callable(roles)
    roles("alice")
    with psycopg.connect(published, autocommit=True) as admin:
        admin.execute("GRANT gitmem_reader TO alice")
    state = json.loads(cli("org", "status", "--json", "--dsn", user_dsn(published, "alice")).out)
    assert (state["repositories"], state["chunks"], state["blobs"], state["last_published"]) == (0, 0, None, None)
    assert (state["rows"], state["bytes"]) == ({}, {})


def test_operations_are_tried_again_with_growing_pauses() -> None:
    pauses: list[float] = []
    announced: list[str] = []
    results = iter([DatabaseUnavailable("a restart"), DatabaseUnavailable("a restart"), None])

    def operation() -> str:
        problem = next(results)
        if problem:
            raise problem
        return "done"

    assert try_again(operation, 60, lambda problem, _: announced.append(problem.message), pauses.append) == "done"
    assert announced == ["a restart"] * 2
    assert 0.1 <= pauses[0] <= 0.2 <= pauses[1] <= 0.4


def test_operations_are_given_up_after_a_time_and_at_once_if_they_cannot_pass() -> None:
    pauses: list[float] = []

    def restart() -> None:
        raise DatabaseUnavailable("a restart")

    def refuse() -> None:
        raise DatabaseFailed("no such table")

    with pytest.raises(DatabaseUnavailable):
        try_again(restart, 30, wait=pauses.append)
    assert 14 <= sum(pauses) <= 30
    assert max(pauses) <= 15
    with pytest.raises(DatabaseFailed, match="no such table"):
        try_again(refuse, 30, wait=lambda _: pytest.fail("it waited"))


def test_a_publication_waits_for_a_server_that_restarts(
    own_server: Cluster, indexed: Repo, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITMEM_ORG", own_server.dsn("postgres"))
    publish = ("-C", str(indexed.path), "org", "publish", "--name", "shop")
    own_server.kill()
    assert_error(cli(*publish, "--retry-seconds", "0"), 5, "check the DSN, and that the server runs")
    start = threading.Timer(0.5, own_server.start)
    start.start()
    outcome = cli(*publish)
    start.join()
    assert outcome.out.startswith("published shop main: 5 files")
    assert "trying again in" in outcome.err


@pytest.fixture
def own_server() -> Iterator[Cluster]:
    """Run a server of this test, with the schema."""
    from gitmem.org.migrations import migrate
    from tests.org.clusters import running

    with running() as cluster:
        with open_database(cluster.dsn("postgres")) as database:
            migrate(database)
        yield cluster


@pytest.fixture
def pools() -> Iterator[None]:
    """Close the pools of a test."""
    close_pools()
    yield
    close_pools()


def backend(dsn: str) -> int:
    """Return the number of the process that serves a shared connection."""
    with open_shared(dsn) as database:
        row = database.execute("SELECT pg_backend_pid()").fetchone()
    assert row is not None
    return int(str(row[0]))


@pytest.mark.usefixtures("pools")
def test_a_process_that_searches_twice_keeps_its_connections(published: str) -> None:
    first, second, third = (backend(published) for _ in range(3))
    assert first != second == third
    with psycopg.connect(published, autocommit=True) as admin:
        admin.execute("SELECT pg_terminate_backend(%s)", (third,))
    assert backend(published) not in (first, third), "a connection that the server ended is replaced"


@pytest.mark.usefixtures("pools")
def test_an_error_leaves_the_shared_connection_clean(published: str) -> None:
    number = backend(published), backend(published)
    with pytest.raises(DatabaseFailed), open_shared(published) as database:
        database.execute("SELECT nothing")
    assert backend(published) == number[1]


@pytest.mark.usefixtures("pools")
def test_searches_are_refused_if_too_many_wait(published: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection_pool, "MOST_CONNECTIONS", 1)
    monkeypatch.setattr(connection_pool, "MOST_WAITING", 1)
    backend(published)
    refusals: list[str] = []

    def wait() -> None:
        with open_shared(published):
            pass

    with open_shared(published):
        waiting = threading.Thread(target=wait)
        waiting.start()
        pool = connection_pool._pools[published]
        while not pool.get_stats().get("requests_waiting"):
            pass
        with pytest.raises(DatabaseUnavailable, match="too many searches wait") as refused, open_shared(published):
            pass
        refusals.append(str(refused.value))
    waiting.join()
    assert refusals


@pytest.mark.usefixtures("pools")
def test_a_pool_without_a_server_says_so_and_the_next_search_why(own_server: Cluster) -> None:
    dsn = own_server.dsn("postgres")
    assert backend(dsn) != backend(dsn)
    own_server.kill()
    with (
        pytest.raises(DatabaseUnavailable, match="no connection to the database within 1 seconds"),
        open_shared(dsn, 1),
    ):
        pass
    with pytest.raises(DatabaseUnavailable, match="Connection refused"), open_shared(dsn, 1):
        pass


def test_queries_use_a_replica_and_publications_the_server_that_writes(cli: Cli) -> None:
    with replicated() as (world, replica):
        hosts = f"127.0.0.1:{world.cluster.port},127.0.0.1:{replica.port}"
        reader = f"postgresql://postgres@{hosts}/{DATABASE}?target_session_attrs=prefer-standby"
        writer = reader.replace("prefer-standby", "read-write")
        state = json.loads(cli("org", "status", "--json", "--dsn", reader).out)
        assert state["is_replica"]
        assert json.loads(cli("org", "status", "--json", "--dsn", writer).out)["replicas"][0]["state"] == "streaming"
        assert "gitmem_org_replica 1" not in cli("metrics", "--org", "--prometheus").out
        query = ("org", "query", "--repo", NAME, "-l", "refund")
        assert cli(*query, "--dsn", reader).out.startswith(f"org:{NAME}:")
        # A replica takes no publication, and says which server does.
        with pytest.raises(DatabaseFailed) as refused, open_database(replica.dsn(DATABASE)) as database:
            publish_head(world.workspace, database, NAME, world.other, "main", is_default=False)
        assert "target_session_attrs=read-write" in refused.value.hint
        cut_off = "this replica receives nothing from its server"
        assert cut_off not in state["problems"]
        world.cluster.kill()
        with replica.connect() as database:
            while database.execute("SELECT count(*) FROM pg_stat_wal_receiver").fetchone() != (0,):
                database.execute("SELECT pg_sleep(0.02)")
            assert cut_off in json.loads(cli("org", "status", "--json", "--dsn", reader).out)["problems"]
            database.execute("SELECT pg_promote()")
        assert cli(*query, "--dsn", reader).code == 0
        world.publish(writer, world.other)
