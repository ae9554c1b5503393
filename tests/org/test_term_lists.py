"""Term lists of the server: what a lookup finds after publications, merges and removals."""

from collections.abc import Callable
from typing import Any

import numpy as np
import psycopg
import pytest

from gitmem.org.connection import open_database
from gitmem.org.migrations import MIGRATIONS, migrate
from gitmem.org.published_repositories import list_heads
from gitmem.org.term_lists import PART_BLOBS, SMALL_POSTINGS
from gitmem.org.term_runs import add_runs
from tests.sample import Cli, assert_error

BLOBS = """
INSERT INTO gitmem.blobs (id, oid, language, producer, parsed_language, outcome, chunks, kinds, words, record, text)
  SELECT id, int8send(id), '', 1, '', 0, 1, 1, 1, '', '' FROM unnest(%s::bigint[]) id
"""
HEAD = """
INSERT INTO gitmem.producers (fingerprint, dimensions) VALUES ('x', 8);
INSERT INTO gitmem.repositories (name) VALUES ('r');
INSERT INTO gitmem.heads (repository, revision, is_default, commit, tree, producer, files, contents, chunks, words,
  roles, published) VALUES (1, 'main', true, '', '', 1, 1, 1, 1, 1, '{}', now());
"""


@pytest.fixture
def empty(dsn: str) -> str:
    """Create a schema with a head that has no files."""
    with open_database(dsn) as database:
        migrate(database)
    with psycopg.connect(dsn) as database:
        database.execute(HEAD)
    return dsn


def publish(database: Any, blobs: list[int], hashes: Any) -> None:
    """Add blobs to the head, each with all hashes; the code of a hash is its number modulo 8."""
    database.execute(BLOBS, (blobs,))
    database.execute(
        "INSERT INTO gitmem.entries (head, path, blob, words) SELECT 1, int8send(id), id, '{}'"
        " FROM unnest(%s::bigint[]) id",
        (blobs,),
    )
    database.execute("SELECT gitmem.enter_parts(1)")
    count = len(hashes)
    codes = np.tile(np.arange(count) % 8, len(blobs)).astype(np.uint8)
    add_runs(database, np.repeat(np.array(blobs), count), np.tile(hashes.astype(np.uint32), len(blobs)), codes)
    database.commit()


def look_up(database: Any, hashes: Any) -> list[tuple[int, int, int]]:
    """Return hash, blob and code of all postings of some hashes."""
    rows = database.execute("SELECT hash, blob, code FROM gitmem.term_blobs('{1}', %s)", (hashes.tolist(),)).fetchall()
    return sorted(rows)


def count_runs(database: Any) -> int:
    return int(database.execute("SELECT count(*) FROM gitmem.runs").fetchone()[0])


@pytest.mark.parametrize("count", [1, 3000])
def test_a_lookup_finds_each_posting_with_its_code(empty: str, count: int) -> None:
    hashes = np.unique(np.random.default_rng(1).integers(0, 1 << 32, count))
    # Two parts, with the first and the last number of a part.
    blobs = [1, PART_BLOBS - 1, PART_BLOBS, 5 * PART_BLOBS - 1]
    with open_database(empty) as database:
        publish(database, blobs, hashes)
        wanted = np.unique(hashes[:: max(1, count // 50)])
        codes = {int(value): number % 8 for number, value in enumerate(hashes)}
        expected = sorted((value, blob, codes[value]) for value in wanted.tolist() for blob in blobs)
        found = look_up(database, wanted)
    assert set(expected) <= set(found)
    assert len(found) - len(expected) <= 2, "terms whose hashes share a bucket and 16 bits are rare"


def test_small_runs_are_merged_and_lose_what_is_gone(empty: str) -> None:
    hashes = np.unique(np.random.default_rng(2).integers(0, 1 << 32, 300))
    with open_database(empty) as database:
        for number in range(1, 8):
            publish(database, [number], hashes)
        assert count_runs(database) == 7
        before = look_up(database, hashes[:20])
        database.execute("DELETE FROM gitmem.entries WHERE blob = 3")
        database.execute("DELETE FROM gitmem.blobs WHERE id = 3")
        publish(database, [8], hashes)
        assert count_runs(database) == 1
        row: Any = database.execute("SELECT postings FROM gitmem.runs").fetchone()
        assert row[0] == 7 * len(hashes)
        after = look_up(database, hashes[:20])
    others = [row for row in before if row[1] != 3]
    assert [row for row in after if row[1] != 8] == others
    assert len(after) == len(before)


def test_a_large_run_is_not_merged(empty: str) -> None:
    hashes = np.unique(np.random.default_rng(3).integers(0, 1 << 32, SMALL_POSTINGS + 500))
    with open_database(empty) as database:
        publish(database, [1], hashes)
        for number in range(2, 10):
            publish(database, [number], hashes[:10])
        assert count_runs(database) == 2
        row: Any = database.execute("SELECT count(*) FROM gitmem.term_lists WHERE highs IS NULL").fetchone()
        assert row[0] > 0
        found = look_up(database, hashes[:10])
    assert {(value, blob) for value, blob, _ in found} >= {
        (int(value), b) for value in hashes[:10] for b in range(1, 10)
    }


@pytest.mark.parametrize("table", ["runs", "term_lists", "head_parts"])
def test_no_reader_reads_what_cannot_be_divided_by_reader(
    empty: str, roles: Callable[..., list[str]], table: str
) -> None:
    roles("alice")
    hashes = np.arange(10, dtype=np.uint32)
    with open_database(empty) as database:
        publish(database, [1, 2], hashes)
        assert len(look_up(database, hashes[:1])) == 2
        database.execute("GRANT gitmem_reader TO alice")
        database.execute("SET ROLE alice")
        assert look_up(database, hashes[:1]) == []
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            database.execute(f"SELECT * FROM gitmem.{table}".encode())
        database.rollback()


def test_a_migration_keeps_grants_and_drops_published_rows(dsn: str, cli: Cli, roles: Callable[..., list[str]]) -> None:
    roles("alice")
    with psycopg.connect(dsn, autocommit=True) as database:
        database.execute(MIGRATIONS[0])
        database.execute("INSERT INTO gitmem.schema_version (version) VALUES (1)")
        database.execute(HEAD)
        database.execute("INSERT INTO gitmem.grants (repository, role) VALUES (1, 'alice'::regrole)")
    assert_error(cli("org", "repos", "--dsn", dsn), 5, "schema 1", "gitmem org migrate")
    assert cli("org", "migrate", "--dsn", dsn).out == f"schema {len(MIGRATIONS)}: upgraded from 1\n"
    with open_database(dsn) as database:
        assert [(head.repository, head.revision, head.readers) for head in list_heads(database)] == [
            ("r", None, ["alice"])
        ]
