"""Publishing repositories: what queries find, what is stored, and what survives faults."""

import json
import shlex
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

import psycopg
import pytest

from gitmem.errors import DatabaseFailed
from gitmem.org.connection import open_database
from gitmem.org.head_publication import publish_head, release_blobs
from gitmem.org.migrations import MIGRATIONS
from gitmem.org.published_repositories import list_heads, read_status
from tests.gitrepo import Repo
from tests.sample import SIGN, Cli, assert_error, open_sample


def hits(output: str) -> tuple[list[tuple[str, int, str]], list[float]]:
    results = json.loads(output)["results"]
    places = [(hit["path"], hit["start_line"], hit["content"]) for hit in results]
    return places, [hit["score"] for hit in results]


@pytest.mark.parametrize("text", [SIGN, "matchRoute", "copy the database", "where are handlers added to the router"])
@pytest.mark.parametrize("mode", ["hybrid", "lexical", "semantic"])
def test_a_query_ranks_like_the_local_search(published: str, indexed: Repo, cli: Cli, text: str, mode: str) -> None:
    here = ("-C", str(indexed.path))
    server = cli(*here, "org", "query", "--dsn", published, "--json", "--mode", mode, text)
    local = cli(*here, "query", "--rev", "HEAD", "--kind", "code", "--json", "--mode", mode, text)
    # All of so few rows are candidates. The server knows how many rows hold a term as one or several only, and
    # vectors with four bits for each component, so hopeless results may change places.
    (places, scores), (expected, local_scores) = hits(server.out), hits(local.out)
    assert sorted(places) == sorted(expected) != []
    assert places[:3] == expected[:3]
    assert scores == pytest.approx(local_scores, abs=0.1)
    assert {hit["repository"] for hit in json.loads(server.out)["results"]} == {"org:shop"}
    assert server.err == "", "no result has a secret, so no note says that some were masked"


def test_a_second_publication_uploads_only_new_blobs(published: str, own: Repo, cli: Cli) -> None:
    publish = ("-C", str(own.path), "org", "publish", "--name", "shop", "--dsn", published, "--json")
    assert json.loads(cli(*publish).out)["published"][0] | {"commit": ""} == {
        "repository": "shop", "revision": "main", "commit": "", "files": 5, "blobs": 0, "chunks": 0, "bytes": 0,
        "removed": 0, "is_changed": False,
    }  # fmt: skip
    own.git("rm", "-q", "notes.txt")
    own.commit({"src/refund.py": "def book_refund(order):\n    return order.total\n"})
    head = json.loads(cli(*publish).out)["published"][0]
    assert (head["files"], head["blobs"], head["removed"], head["is_changed"]) == (5, 1, 1, True)
    query = cli("org", "query", "--dsn", published, "-l", "book the refund of an order")
    assert query.out.splitlines()[0] == "org:shop:src/refund.py"
    with open_database(published) as database:
        assert read_status(database).unused == 0  # the blob of the removed file is gone


def test_revisions_are_searched_by_name_and_blobs_are_stored_once(published: str, indexed: Repo, cli: Cli) -> None:
    with open_database(published) as database:
        before = read_status(database).blobs
    publish = ("-C", str(indexed.path), "org", "publish", "--dsn", published)
    assert cli(*publish, "--name", "shop", "--rev", "v1").code == 0
    assert cli(*publish, "--name", "fork").code == 0
    old = cli("org", "query", "--dsn", published, "--repo", "shop", "--rev", "v1", "-l", SIGN)
    assert old.out == "org:shop:old/session.py\n"
    with open_database(published) as database:
        assert read_status(database).blobs == before
        assert [(head.repository, head.revision, head.is_default) for head in list_heads(database)] == [
            ("fork", "main", True),
            ("shop", "main", True),
            ("shop", "v1", False),
        ]
    assert cli("-q", "org", "drop", "fork", "--yes", "--dsn", published).code == 0
    assert cli("org", "query", "--dsn", published, "-l", SIGN).out.startswith("org:shop:src/")
    assert "5 blobs freed" not in cli("org", "drop", "shop", "--rev", "main", "--yes", "--dsn", published).out
    # The revision that is left is the one that queries search, and its blob is the only one that is.
    assert cli("org", "query", "--dsn", published, "-l", SIGN).out == "org:shop:old/session.py\n"
    with open_database(published) as database:
        assert read_status(database).blobs == 1
    assert "1 blob freed" in cli("org", "drop", "shop", "--yes", "--dsn", published).out


def test_a_blob_without_its_text_is_not_published(published: str, own: Repo, cli: Cli) -> None:
    own.commit({"src/refund.py": "def book_refund(order):\n    return order.total\n"})
    assert cli("-q", "-C", str(own.path), "index").code == 0
    blob = own.git("rev-parse", "HEAD:src/refund.py")
    (own.path / ".git/objects" / blob[:2] / blob[2:]).unlink()
    outcome = cli("-C", str(own.path), "org", "publish", "--name", "shop", "--dsn", published)
    assert_error(outcome, 5, f"blob {blob} cannot be read", "git fsck")
    assert "refund" not in cli("org", "query", "--dsn", published, "-l", "book the refund of an order").out


def test_a_revision_that_cannot_be_indexed_is_not_published(
    published: str, own: Repo, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    own.commit({"src/refund.py": "def book_refund(order):\n    return order.total\n"})
    monkeypatch.setattr("gitmem.answering.missing_files.is_writable", lambda _: False)
    outcome = cli("-C", str(own.path), "org", "publish", "--name", "shop", "--dsn", published)
    assert_error(outcome, 5, "1 file not indexed", "cannot be written", "gitmem index")
    with psycopg.connect(published) as database:
        assert database.execute("SELECT files FROM gitmem.heads").fetchall() == [(5,)]


def test_a_bare_mirror_is_published(dsn: str, indexed: Repo, cli: Cli, make_repo: Callable[..., Repo]) -> None:
    bare = make_repo("mirror.git", "--bare")
    bare.git("fetch", "-q", str(indexed.path), "main:main")
    assert cli("-q", "-C", str(bare.path), "index").code == 0
    assert cli("-q", "org", "init", dsn).code == 0
    assert cli("-C", str(bare.path), "org", "publish", "--dsn", dsn).out.startswith("published mirror main: 5 files")


@pytest.mark.parametrize("table", ["blobs", "signatures", "term_lists", "entries", "head_parts"])
@pytest.mark.parametrize("fault", ["RAISE EXCEPTION 'disk full'", "PERFORM pg_terminate_backend(pg_backend_pid())"])
def test_an_interrupted_publication_shows_no_part_of_a_head(published: str, own: Repo, table: str, fault: str) -> None:
    own.commit({"src/refund.py": "def book_refund(order):\n    return order.total\n"})
    workspace = open_sample(own)
    with psycopg.connect(published, autocommit=True) as admin:
        before = _visible(admin)
        admin.execute(
            f"CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {fault}; RETURN NEW; END $$;"
            f"CREATE TRIGGER fail AFTER INSERT ON gitmem.{table} FOR EACH ROW EXECUTE FUNCTION fail()"
        )
        with pytest.raises(DatabaseFailed), open_database(published) as database:
            publish_head(workspace, database, "shop", "", "", is_default=False)
        assert _visible(admin) == before
        admin.execute(f"DROP TRIGGER fail ON gitmem.{table}")
        with open_database(published) as database:
            assert publish_head(workspace, database, "shop", "", "", is_default=False).files == 6
        assert len(_visible(admin)) == len(before) + 1


def _visible(database: Any) -> list[Any]:
    rows: list[Any] = database.execute(
        "SELECT commit, path, blob FROM gitmem.entries JOIN gitmem.heads ON heads.id = head ORDER BY head, path"
    ).fetchall()
    return rows


def test_publishers_of_one_repository_leave_one_complete_head(published: str, own: Repo) -> None:
    own.git("branch", "other")
    own.commit({"a.py": "def first_publisher():\n    return 1\n"})
    first = own.git("rev-parse", "HEAD")
    own.git("switch", "-q", "other")
    own.commit({"b.py": "def second_publisher():\n    return 2\n", "c.py": "def third():\n    return 3\n"})
    second = own.git("rev-parse", "HEAD")
    workspace = open_sample(own)
    started = threading.Barrier(2)
    failures: list[BaseException] = []

    def publish(rev: str) -> None:
        try:
            with open_database(published) as database:
                started.wait()
                publish_head(workspace, database, "shop", rev, "main", is_default=False)
        except BaseException as problem:
            failures.append(problem)

    threads = [threading.Thread(target=publish, args=(rev,)) for rev in (first, second)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    with psycopg.connect(published) as database:
        commit = database.execute("SELECT commit FROM gitmem.heads").fetchall()[0][0]
        paths = {bytes(row[0]) for row in database.execute("SELECT path FROM gitmem.entries").fetchall()}
    assert paths & {b"a.py", b"b.py", b"c.py"} == ({b"a.py"} if commit == first else {b"b.py", b"c.py"})


@pytest.mark.long
def test_jobs_of_ci_need_no_coordination(dsn: str, indexed: Repo, cli: Cli, make_repo: Callable[..., Repo]) -> None:
    assert cli("-q", "org", "init", dsn).code == 0
    # Fresh clones, as of CI: two jobs of one repository, and one of a fork with a file more.
    jobs = [("shop", make_repo("first")), ("shop", make_repo("second")), ("fork", make_repo("third"))]
    for _, repo in jobs:
        repo.git("pull", "-q", str(indexed.path), "main")
    jobs[2][1].commit({"src/refund.py": "def book_refund(order):\n    return order.total\n"})
    gitmem = f"{shlex.quote(sys.executable)} -m gitmem -q"
    script = f"{gitmem} index && {gitmem} org publish --as main --dsn {shlex.quote(dsn)} --name "
    started = [subprocess.Popen(["sh", "-c", script + name], cwd=repo.path) for name, repo in jobs]
    assert [job.wait() for job in started] == [0, 0, 0]
    with open_database(dsn) as database:
        assert [(head.repository, head.files) for head in list_heads(database)] == [("fork", 6), ("shop", 5)]
        state = read_status(database)
        assert (state.blobs, state.unused) == (5, 0), "two of the files are equal, and each blob is stored once"


def test_no_blob_is_freed_while_a_publisher_is_at_work(published: str) -> None:
    with psycopg.connect(published) as publisher, open_database(published) as database:
        publisher.execute("SELECT pg_advisory_lock_shared(%s)", (0x6769746E,))
        database.execute("DELETE FROM gitmem.entries")
        assert release_blobs(database, wait=False) is None
        publisher.execute("SELECT pg_advisory_unlock_shared(%s)", (0x6769746E,))
        assert release_blobs(database, wait=False) == 4  # two of the five files are equal


def test_blobs_that_a_publication_could_not_free_are_freed_by_the_next_one(published: str, own: Repo) -> None:
    own.git("rm", "-q", "notes.txt")
    own.git("commit", "-qm", "without notes")
    workspace = open_sample(own)
    with psycopg.connect(published) as publisher:  # it may need the same blobs
        publisher.execute("SELECT pg_advisory_lock_shared(%s)", (0x6769746E,))
        with open_database(published) as database:
            assert publish_head(workspace, database, "shop", "", "", is_default=False).removed == 1
            assert read_status(database).unused == 1
    with open_database(published) as database:
        assert not publish_head(workspace, database, "shop", "", "", is_default=False).is_changed
        assert read_status(database).unused == 0


@pytest.mark.parametrize("dsn", ["postgresql://me:secret@db/code", "host=db password=secret"])
def test_a_password_in_the_dsn_is_refused(cli: Cli, dsn: str) -> None:
    outcome = cli("org", "init", dsn)
    assert_error(outcome, 2, "the DSN contains a password", "PGPASSFILE")
    assert "secret" not in outcome.err


def test_a_wrong_database_is_named_with_a_remedy(dsn: str, cli: Cli) -> None:
    assert_error(cli("org", "repos", "--dsn", dsn), 5, "no schema of gitmem", "gitmem org init")
    assert_error(cli("org", "repos", "--dsn", "postgresql:///x?host=/nowhere"), 5, "check the DSN")
    assert_error(cli("org", "repos", "--dsn", "postgresql://["), 2, "malformed DSN")
    assert_error(cli("org", "repos"), 2, "no database is configured", "gitmem.org")


def test_the_schema_is_created_once_and_a_newer_one_is_refused(published: str, cli: Cli) -> None:
    assert cli("org", "migrate", "--dsn", published).out == f"schema {len(MIGRATIONS)}: unchanged\n"
    with psycopg.connect(published) as database:
        database.execute("INSERT INTO gitmem.schema_version (version) VALUES (99)")
    assert_error(cli("org", "repos", "--dsn", published), 5, "schema 99", "upgrade gitmem here")
    assert_error(cli("org", "migrate", "--dsn", published), 5, "schema 99")
