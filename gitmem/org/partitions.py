"""Divide the contents of a database into partitions, on its own server or on others.

Names, rights, paths and the keys of blobs stay. Texts, rows, sign bits and lists of terms go to the partition of their
part of 8,192 blobs. On other servers, postgres_fdw writes and reads them, and dblink asks all servers at once for
candidates. The other servers accept the role of this one alone.
"""

# Everything that a search needs to know of a repository changes in one transaction of the first server. The others
# commit before it, so they may have rows that nobody refers to, but never lack one. Such rows are removed after the
# transaction that frees them, see `remove_contents`.

from collections.abc import Sequence
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Any, Final

from gitmem.errors import DatabaseFailed, UsageError
from gitmem.named_tuple import NamedTuple
from gitmem.org.connection import SECRETS, accepts, database_errors, open_database
from gitmem.org.migrations import require_version
from gitmem.org.publisher_lock import BLOB_LOCK
from gitmem.org.rights_first import PROTECT
from gitmem.org.shard_schema import ASK, LINKS, SEARCH, SHARE

if TYPE_CHECKING:
    from typing import LiteralString

    from gitmem.org.connection import Database


class _Table(NamedTuple):
    """Table that is divided: its columns, the part of a row, its key, and the rows that it has so far."""

    name: "LiteralString"
    columns: "LiteralString"
    part: "LiteralString"
    key: "LiteralString"
    rows: "LiteralString"


_TABLES: Final = (
    _Table(
        "contents", "blob bigint NOT NULL, record bytea NOT NULL, text bytea NOT NULL", "(blob >> 13)", "blob",
        "SELECT id, record, text FROM gitmem.blobs",
    ),
    _Table(
        "signatures", "blob bigint NOT NULL, bits bit varying[] NOT NULL", "(blob >> 13)", "blob",
        "SELECT blob, bits FROM gitmem.whole_signatures",
    ),
    _Table(
        "term_lists", "run int NOT NULL, bucket int NOT NULL, terms smallint[] NOT NULL, entries smallint[] NOT NULL,"
        " highs smallint[], part int NOT NULL", "part", "run, bucket",
        "SELECT run, bucket, terms, entries, highs, runs.part FROM gitmem.whole_term_lists"
        " JOIN gitmem.runs ON id = run",
    ),
)  # fmt: skip

_PARENT: "Final[LiteralString]" = """
ALTER TABLE gitmem.{0} RENAME TO whole_{0};
CREATE TABLE gitmem.{0} ({1}) PARTITION BY LIST (({2} % {3}));
GRANT SELECT, INSERT, UPDATE, DELETE ON gitmem.{0} TO gitmem_publisher, gitmem_admin;
"""
_OWN: "Final[LiteralString]" = """
CREATE TABLE gitmem.{0}_{1} PARTITION OF gitmem.{0} FOR VALUES IN ({1});
ALTER TABLE gitmem.{0}_{1} ADD PRIMARY KEY ({2})
"""
_FOREIGN: "Final[LiteralString]" = """
CREATE FOREIGN TABLE gitmem.{0}_{1} PARTITION OF gitmem.{0} FOR VALUES IN ({1}) SERVER gitmem_{1}
  OPTIONS (schema_name 'gitmem_shard', table_name '{0}')
"""
_UNSAMPLED: "Final[LiteralString]" = """
ALTER TABLE gitmem.contents ALTER record SET STORAGE EXTERNAL, ALTER text SET STORAGE EXTERNAL,
  ALTER record SET STATISTICS 0, ALTER text SET STATISTICS 0
"""


def divide(database: "Database", count: int) -> None:
    """Divide the contents into partitions on this server, in one transaction. Raises UsageError if they are already."""
    _lock(database)
    _divide_tables(database, [None] * count)
    database.execute(PROTECT)
    database.commit()


def divide_among(database: "Database", dsns: Sequence[str]) -> list[str]:
    """Move the contents to other servers, in one transaction of this one. DSNs are those of databases for them.

    Returns the names of those that let their role in without its password, seen from this machine.

    A run that fails leaves everything here, and the next one takes the same databases. Raises: UsageError,
    DatabaseFailed.
    """
    _lock(database)
    with ExitStack() as stack:
        shares = [stack.enter_context(open_database(dsn)) for dsn in dsns]
        _link(database)
        for number, share in enumerate(shares):
            _connect(database, share, number)
        # The roles and tables there must be visible to the connections of this server.
        for share in shares:
            share.commit()
        _divide_tables(database, [f"gitmem_{number}" for number in range(len(dsns))])
        database.execute(ASK)
        database.execute(SEARCH.replace("{0}", str(len(dsns))).encode())
        database.commit()
        for share in shares:
            _complete(share)
        return [f"gitmem_{number}" for number, share in enumerate(shares) if _is_open(share)]


def _lock(database: "Database") -> None:
    """Wait for publishers, and keep others out until the end of the transaction."""
    require_version(database)
    database.execute("SELECT pg_advisory_xact_lock(%s)", (BLOB_LOCK,))
    row = database.execute("SELECT count(*) FROM gitmem.partitions").fetchone()
    if row != (0,):
        number = row[0] if row else 0
        raise UsageError(f"the contents are divided into {number} partitions already", hint="gitmem org status")


def _divide_tables(database: "Database", servers: Sequence[str | None]) -> None:
    for table in _TABLES:
        parent = _PARENT.format(table.name, table.columns, table.part, len(servers))
        database.execute(parent.encode())
        if table.name == "contents":
            database.execute(_UNSAMPLED)
        for number, server in enumerate(servers):
            leaf = _FOREIGN if server else _OWN
            database.execute(leaf.format(table.name, number, table.key).encode())
        database.execute(f"INSERT INTO gitmem.{table.name} {table.rows}".encode())
        database.execute(f"DROP TABLE gitmem.whole_{table.name}".encode())
    database.execute("UPDATE gitmem.blobs SET record = '', text = ''")
    for number, server in enumerate(servers):
        database.execute("INSERT INTO gitmem.partitions (number, server) VALUES (%s, %s)", (number, server))


def _link(database: "Database") -> None:
    """Install the extensions. Raises UsageError if dblink is where readers may use it."""
    database.execute(LINKS)
    row = database.execute(
        "SELECT extnamespace::regnamespace::text FROM pg_extension WHERE extname = 'dblink'"
    ).fetchone()
    if row != ("gitmem_links",):
        # Connections of a session have names, and whoever may call dblink may use them.
        raise UsageError(
            f"dblink is installed in the schema `{row[0] if row else ''}`, where readers could use its connections",
            hint="DROP EXTENSION dblink, or give gitmem a database of its own",
        )
    # Whoever does not own the schema cannot close it, and PostgreSQL only warns.
    if database.execute("SELECT has_schema_privilege('gitmem_reader', 'gitmem_links', 'USAGE')").fetchone() != (False,):
        raise UsageError(
            "readers may use the schema `gitmem_links`, and with it the connections of dblink",
            hint="REVOKE USAGE ON SCHEMA gitmem_links FROM PUBLIC, as its owner",
        )


def _connect(database: "Database", share: "Database", number: int) -> None:
    """Make the schema and the role on another server, and the way to it here."""
    role = _prepare_share(share, _name_of(database))
    options = {
        **_address(share), "async_capable": "true", "fetch_size": "1000", "batch_size": "200",
    }  # fmt: skip
    server = f"gitmem_{number}"
    _run(database, "CREATE SERVER %I FOREIGN DATA WRAPPER postgres_fdw", server)
    for name, value in options.items():
        _run(database, "ALTER SERVER %I OPTIONS (ADD %I %L)", server, name, value)
    # This server makes the password: a log of statements has none, here or there.
    row: Any = database.execute("SELECT format(%s, %s::text, %s::text)", (_MAP, server, role)).fetchone()
    _run(database, "DO %L", row[0])
    password: Any = database.execute(_READ_BACK, (server,)).fetchone()
    verifier = share.pgconn.encrypt_password(password[0].encode(), role.encode(), b"scram-sha-256").decode()
    _run(share, "ALTER ROLE %I PASSWORD %L", role, verifier)


def _complete(share: "Database") -> None:
    """Note that the first server has committed the division. A share that misses it is as safe: only that server may
    take it again, and it does not divide twice."""
    with suppress(DatabaseFailed), database_errors():
        share.execute("UPDATE gitmem_shard.owner SET is_complete = true")
        share.commit()


def _is_open(share: "Database") -> bool:
    """Return whether the role of a share may connect without its password."""
    return accepts({**_address(share), "user": _ROLE + share.info.dbname, "password": "none"})


_ROLE: Final = "gitmem_of_"

_MAP: Final = """
BEGIN
  EXECUTE format('CREATE USER MAPPING FOR PUBLIC SERVER %%I OPTIONS (user %%L, password %%L)', %L, %L,
    replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''));
END
"""
_READ_BACK: Final = """
SELECT option_value FROM pg_user_mappings, pg_options_to_table(umoptions)
WHERE srvname = %s AND option_name = 'password'
"""


def _name_of(database: "Database") -> str:
    """Return a name of a database that no other has, also on other servers."""
    row: Any = database.execute(
        "SELECT system_identifier || '/' || (SELECT oid FROM pg_database WHERE datname = current_database())"
        " FROM pg_control_system()"
    ).fetchone()
    return str(row[0])


def _prepare_share(share: "Database", first: str) -> str:
    """Make the schema of a share and a role that may use nothing else; return its name. `first` is the first server."""
    row: Any = share.execute(
        "SELECT to_regnamespace('gitmem_shard') IS NOT NULL, to_regclass('gitmem_shard.owner') IS NOT NULL,"
        " 'gitmem_of_' || current_database(), current_database(), pg_try_advisory_lock(%s)", (BLOB_LOCK,)
    ).fetchone()  # fmt: skip
    has_schema, has_owner, role, name, is_single = row
    if not is_single:
        # The lock belongs to the database: another share has it, or the first server.
        raise UsageError(f"the database `{name}` is named twice", hint="name an empty database for each share")
    if not has_schema:
        share.execute(SHARE)
    elif not _is_free(share, first, has_owner=has_owner):
        hint = "name another database; if nobody uses that share: DROP SCHEMA gitmem_shard CASCADE"
        raise UsageError(f"the database `{name}` is a share already", hint=hint)
    else:
        # Another server may have committed its share, and this one not, when it was killed.
        share.execute("DROP SCHEMA gitmem_shard CASCADE")
        share.execute(SHARE)
    share.execute("INSERT INTO gitmem_shard.owner (first) VALUES (%s)", (first,))
    if share.execute("SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = %s)", (role,)).fetchone() == (False,):
        _run(share, "CREATE ROLE %I LOGIN", role)
    _run(share, "GRANT USAGE ON SCHEMA gitmem_shard TO %I", role)
    _run(share, "GRANT SELECT, INSERT, UPDATE, DELETE ON gitmem_shard.contents, gitmem_shard.signatures,"
         " gitmem_shard.term_lists TO %I", role)  # fmt: skip
    _run(share, "GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA gitmem_shard TO %I", role)
    return str(role)


def _is_free(share: "Database", first: str, *, has_owner: bool) -> bool:
    """Return whether a share is what an interrupted division of the same database has left, which has no other."""
    if has_owner:
        return share.execute("SELECT first, is_complete FROM gitmem_shard.owner").fetchall() == [(first, False)]
    return False


_OF_THE_CLIENT: Final = frozenset(
    {"user", "passfile", "service", "servicefile", "application_name", "connect_timeout", "client_encoding", *SECRETS}
)
"""Parameters of a connection that say who connects, and not where to."""


def _address(share: "Database") -> dict[str, str]:
    """Return the options of a server that is reached like this connection."""
    # Those that the DSN leaves out have other defaults on the machine of the first server.
    address = {"host": share.info.host, "port": str(share.info.port), "dbname": share.info.dbname}
    parameters = share.info.get_parameters().items()
    return {
        **address,
        **{name: value for name, value in parameters if name not in _OF_THE_CLIENT},
        "connect_timeout": "5",
    }


def _run(database: "Database", template: str, *values: str) -> None:
    """Run a statement that takes no parameters, with quoted names (`%I`) and values (`%L`)."""
    row: Any = database.execute("SELECT format(%s, VARIADIC %s::text[])", (template, list(values))).fetchone()
    database.execute(row[0].encode())


def remove_contents(database: "Database", blobs: Sequence[int], runs: Sequence[int]) -> None:
    """Remove contents of blobs, and lists of runs, that were deleted in a transaction before this one.

    Without partitions they went with them. If this fails, `find_lost` finds the rest.
    """
    for statement, numbers in ((_REMOVE_CONTENTS, blobs), (_REMOVE_SIGNATURES, blobs), (_REMOVE_LISTS, runs)):
        if numbers:
            database.execute(statement, (list(numbers),))
    database.commit()


_REMOVE_CONTENTS: Final = "DELETE FROM gitmem.contents WHERE blob = ANY(%s)"
_REMOVE_SIGNATURES: Final = "DELETE FROM gitmem.signatures WHERE blob = ANY(%s)"
_REMOVE_LISTS: Final = "DELETE FROM gitmem.term_lists WHERE run = ANY(%s)"


def skip_numbers(database: "Database") -> None:
    """Skip the numbers of blobs and runs that partitions have already.

    If the first server was restored, or a replica took over that was behind, it gives numbers again that it gave
    before, and the others still have their rows.
    """
    for statement in _SKIP:
        database.execute(statement)
    database.commit()


_SKIP: Final = (
    """
    SELECT count(nextval('gitmem.blob_ids')) FROM generate_series(nextval('gitmem.blob_ids'), (
      SELECT max(last) FROM (SELECT max(blob) FROM gitmem.contents
        UNION ALL SELECT max(blob) FROM gitmem.signatures) used (last)))
    """,
    """
    SELECT count(nextval('gitmem.runs_id_seq')) FROM generate_series(nextval('gitmem.runs_id_seq'), (
      SELECT max(run)::bigint FROM gitmem.term_lists))
    """,
)


class LostContents(NamedTuple):
    """Rows of partitions that no blob or run has."""

    blobs: list[int]
    runs: list[int]


def find_lost(database: "Database") -> LostContents:
    """Return the leftovers of interrupted publications in partitions. No publisher may be at work."""
    row = database.execute("SELECT EXISTS (SELECT FROM gitmem.partitions)").fetchone()
    if row != (True,):
        return LostContents([], [])
    found: Any = database.execute(
        "SELECT ARRAY(SELECT blob FROM gitmem.signatures EXCEPT SELECT id FROM gitmem.blobs)"
        " || ARRAY(SELECT blob FROM gitmem.contents EXCEPT SELECT id FROM gitmem.blobs),"
        " ARRAY(SELECT run FROM gitmem.term_lists EXCEPT SELECT id FROM gitmem.runs)"
    ).fetchone()
    return LostContents(*found)
