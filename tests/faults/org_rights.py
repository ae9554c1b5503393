"""Queries of many people over many published repositories: nobody sees a row or a name of a repository that is hidden.

The rows are small, so that the queries run in SQL: all three functions that select candidates, with heads that the
person may not read among them, the two that return contents, and plain statements on the tables. What a query must find
is computed from the grants. The contents lie on one server, or on two others.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, Final, NamedTuple

from gitmem.org.connection import open_database
from gitmem.org.migrations import migrate
from gitmem.org.partitions import divide_among
from tests.faults.report import Tally
from tests.org.clusters import Cluster, running


class Size(NamedTuple):
    """Numbers of a run. Every `stride`th number is that of a blob, so that they lie in three parts."""

    users: int
    repositories: int
    queries: int
    stride: int


class Scenario(NamedTuple):
    """Number of servers for the contents; none if they stay with the rest."""

    name: str
    servers: int


SHORT: Final = Size(100, 1_000, 10_000, 5)
LONG: Final = Size(100, 1_000, 1_000_000, 5)
CONTROL: Final = Size(4, 60, 560, 71)
SCENARIOS: Final = (Scenario("one", 0), Scenario("two", 2))

EVERYBODY: Final = "CREATE POLICY everybody ON gitmem.grants FOR SELECT TO gitmem_reader USING (true)"
UNCHECKED: Final = """
CREATE OR REPLACE FUNCTION gitmem.readable_heads(heads int[]) RETURNS TABLE (head int) LANGUAGE sql STABLE
AS 'SELECT unnest($1)'
"""
UNCHECKED_CONTENTS: Final = """
CREATE OR REPLACE FUNCTION gitmem.readable_of(blobs bigint[]) RETURNS bigint[] LANGUAGE sql STABLE AS 'SELECT $1'
"""
REMOVALS: Final = {
    "policy of grants": EVERYBODY,
    "check of the functions": UNCHECKED,
    "check of contents": UNCHECKED_CONTENTS,
}
"""Statements that break the rights, one layer each."""

_FILL: Final = """
INSERT INTO gitmem.producers (fingerprint, dimensions) VALUES ('fuzz', 8);
INSERT INTO gitmem.repositories (name) SELECT 'r' || n FROM generate_series(1, %(repositories)s) n;
INSERT INTO gitmem.heads (repository, revision, is_default, commit, tree, producer, files, contents,
  chunks, words, roles, published) SELECT id, 'main', true, '', '', 1, 1, 1, 1, 1, '{}', now() FROM gitmem.repositories;
INSERT INTO gitmem.blobs (id, oid, language, producer, parsed_language, outcome, chunks, kinds, words, record, text)
  SELECT n * %(stride)s, int4send(n * %(stride)s), '', 1, '', 0, 1, 1, 1, own, own
  FROM generate_series(1, 4 * %(repositories)s) n, LATERAL (SELECT CASE WHEN EXISTS (SELECT FROM gitmem.partitions)
    THEN '' ELSE int4send(n * %(stride)s) END AS own) packed;
INSERT INTO gitmem.contents SELECT id, oid, oid FROM gitmem.blobs WHERE EXISTS (SELECT FROM gitmem.partitions);
INSERT INTO gitmem.signatures (blob, bits) SELECT id, ARRAY[id::int::bit(8)::bit varying] FROM gitmem.blobs;
INSERT INTO gitmem.runs (part, scale, postings) SELECT id >> 13, 0, count(*) FROM gitmem.blobs GROUP BY 1;
-- Smallints are signed.
INSERT INTO gitmem.term_lists (run, part, bucket, terms, entries)
  SELECT runs.id, part, 0, array_agg((blobs.id %% 7)::int2 ORDER BY blobs.id %% 7, blobs.id),
    array_agg(((((blobs.id & 8191)::int << 3) # 32768) - 32768)::int2 ORDER BY blobs.id %% 7, blobs.id)
  FROM gitmem.runs JOIN gitmem.blobs ON part = blobs.id >> 13 GROUP BY runs.id;
-- Each repository has three blobs of its own and shares every fifth with a neighbour.
INSERT INTO gitmem.entries (head, path, blob, words) SELECT heads.id, int4send(n), %(stride)s * (1 +
  (4 * (heads.id - 1) + n) %% (4 * %(repositories)s)), ARRAY[n] FROM gitmem.heads, generate_series(0, 4) n;
SELECT gitmem.enter_parts(id) FROM gitmem.heads;
INSERT INTO gitmem.grants (repository, role) SELECT repositories.id, ('fuzz' || u)::regrole FROM gitmem.repositories,
  generate_series(1, %(users)s) u WHERE (repositories.id * 7919 + u * 104729) %% 11 = 0;
CREATE TABLE public.allowed AS SELECT grants.role::text AS person, heads.id AS head, entries.blob FROM gitmem.grants
  JOIN gitmem.heads USING (repository) JOIN gitmem.entries ON entries.head = heads.id;
CREATE TABLE public.allowed_names AS SELECT grants.role::text AS person, repositories.name FROM gitmem.grants
  JOIN gitmem.repositories ON repository = repositories.id;
CREATE INDEX ON public.allowed (person, blob);
GRANT SELECT ON public.allowed, public.allowed_names TO PUBLIC;
ANALYZE;
"""

# Every query asks for other heads, of which the person may read about one in eleven; each fiftieth asks for all.
_SEARCHES: Final = """
WITH queries AS MATERIALIZED (
  SELECT n, n %% 7 AS word, n %% 256 AS signs, ARRAY(SELECT %(stride)s * (n::bigint * 13 + step * 101) %%
    (4 * %(stride)s * %(repositories)s) FROM generate_series(1, 12) step) AS blobs,
  CASE WHEN n %% 50 = 0 THEN %(heads)s ELSE ARRAY(
    SELECT 1 + (n::bigint * 7 + step * 97) %% %(repositories)s::int FROM generate_series(1, 12) step)::int[] END heads
  FROM generate_series(%(first)s::int, %(first)s::int + %(queries)s::int - 1) n),
found AS MATERIALIZED (
  SELECT 'term' AS kind, n, heads, blob FROM queries, LATERAL (
    SELECT blob FROM gitmem.term_blobs(heads, ARRAY[word])) a
  UNION ALL SELECT 'path', n, heads, blob FROM queries, LATERAL (
    SELECT blob FROM gitmem.path_blobs(heads, ARRAY[word])) b
  UNION ALL SELECT 'near', n, heads, blob FROM queries, LATERAL (
    SELECT blob FROM gitmem.near_blobs(heads, signs::bit(8), 9)) c
  UNION ALL SELECT 'blobs', n, %(heads)s, id FROM queries, LATERAL (
    SELECT id FROM gitmem.blobs WHERE id %% 256 = signs) d
  UNION ALL SELECT 'entries', n, %(heads)s, blob FROM queries, LATERAL (
    SELECT DISTINCT blob FROM gitmem.entries WHERE blob %% 256 = signs) e
  UNION ALL SELECT 'record', n, %(heads)s, own FROM queries, LATERAL (
    SELECT ('x' || encode(record, 'hex'))::bit(32)::int AS own FROM gitmem.visible_records(blobs)) f
  UNION ALL SELECT 'text', n, %(heads)s, own FROM queries, LATERAL (
    SELECT ('x' || encode(text, 'hex'))::bit(32)::int AS own FROM gitmem.visible_texts(blobs)) g)
SELECT count(*) FILTER (WHERE NOT EXISTS (SELECT FROM public.allowed
    WHERE person = %(person)s AND allowed.blob = found.blob AND head = ANY(heads))),
  (SELECT count(DISTINCT (n, blob)) FROM queries JOIN public.allowed ON head = ANY(heads) AND blob %% 7 = word
    WHERE person = %(person)s) - count(*) FILTER (WHERE kind = 'term'),
  (SELECT 2 * count(*) FROM queries, unnest(blobs) own WHERE EXISTS (SELECT FROM public.allowed
    WHERE person = %(person)s AND allowed.blob = own)) - count(*) FILTER (WHERE kind IN ('record', 'text'))
FROM found
"""
_KINDS: Final = 7
_TOGETHER: Final = 250
"""Queries of one kind in a statement."""


def fill(database: Any, size: Size) -> None:
    """Create the schema and the people, and fill the tables with small rows."""
    for number in range(1, size.users + 1):
        database.execute(f"CREATE ROLE fuzz{number} LOGIN IN ROLE gitmem_reader")
    values = size._asdict()
    for statement in _FILL.split(";\n"):
        if statement.strip():
            database.execute(statement, values) if "%" in statement else database.execute(statement)


def drop_people(database: Any, size: Size) -> None:
    """Drop the roles of the people."""
    for number in range(1, size.users + 1):
        database.execute(f"DROP OWNED BY fuzz{number}; DROP ROLE fuzz{number}")


def search_as(database: Any, person: str, size: Size, first: int, queries: int) -> list[str]:
    """Run queries of each kind as one person; return what is wrong with the results."""
    heads = [row[0] for row in database.execute("SELECT id FROM gitmem.heads").fetchall()]
    names = "SELECT name FROM public.allowed_names WHERE person = %s"
    allowed = {row[0] for row in database.execute(names, (person,)).fetchall()}
    database.execute(f"SET ROLE {person}")
    try:
        values = {**size._asdict(), "heads": heads, "person": person, "first": first, "queries": queries}
        foreign, missing, unread = database.execute(_SEARCHES, values).fetchone()
        seen = {row[0] for row in database.execute("SELECT name FROM gitmem.visible_heads()").fetchall()}
    finally:
        database.execute("RESET ROLE")
    faults = [f"{foreign:,} foreign rows"] if foreign else []
    faults += [f"{missing:,} rows are missing"] if missing else []
    faults += [f"{unread:,} contents are missing"] if unread else []
    faults += [f"{len(seen - allowed):,} foreign names"] if seen - allowed else []
    return faults


def search_as_all(tally: Tally, database: Any, size: Size) -> None:
    """Run the queries of all people, as cases of the tally."""
    each = -(-size.queries // (size.users * _KINDS))  # rounded up, so that no query is left out
    done = 0
    for first in range(0, each, _TOGETHER):
        queries = min(_TOGETHER, each - first)
        for number in range(1, size.users + 1):
            # Another offset for each person, so that they do not all ask the same.
            faults = search_as(database, f"fuzz{number}", size, first + number * 1013, queries)
            done += queries * _KINDS
            tally.note(f"queries from {first} of fuzz{number}, {done:,} queries so far", faults)
            if tally.decided:
                return


def run(*, long: bool, only: str = "") -> Tally:
    """A million queries, or ten thousand, of a hundred people over a thousand repositories, for each scenario."""
    size = LONG if long else SHORT
    chosen = [scenario for scenario in SCENARIOS if only in {"", scenario.name}]
    tally = Tally(f"{size.queries:,} queries of {size.users} people over {size.repositories:,} repositories")
    for scenario in chosen:
        with _filled(scenario, size) as database:
            search_as_all(tally, database, size)
    return tally


def run_control() -> Tally:
    """The same without one of the layers that decide: each must be missed."""
    tally = Tally("queries without a check of the rights", control=True)
    for scenario in SCENARIOS:
        for removed, statement in REMOVALS.items():
            name = f"{removed}, {scenario.name}"
            with _filled(scenario, CONTROL) as database:
                database.execute(statement)
                own = Tally(name, control=True)
                search_as_all(own, database, CONTROL)
            tally.note(name, own.bad)
            tally.missed += [] if own.bad else [name]
    return tally


@contextmanager
def _filled(scenario: Scenario, size: Size) -> Iterator[Any]:
    """Run the servers of a scenario, with rows; yield a connection to the first one."""
    with ExitStack() as stack:
        first, *others = (stack.enter_context(running()) for _ in range(1 + scenario.servers))
        _prepare(first, others)
        with first.connect() as database:
            fill(database, size)
            yield database


def _prepare(first: Cluster, others: list[Cluster]) -> None:
    dsn = first.dsn("postgres")
    with open_database(dsn) as database:
        migrate(database)
        if others:
            divide_among(database, [other.dsn("postgres") for other in others])
