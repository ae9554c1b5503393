"""Connect to the database of an organisation. Passwords come from libpq's own places, never from a command line."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from gitmem.errors import DatabaseFailed, UsageError

if TYPE_CHECKING:
    from psycopg import Connection

    Database = Connection[tuple[object, ...]]

CONNECT_SECONDS: Final = 10

_WORK_MEMORY: Final = "64MB"
"""Memory of one step of a query: row-level security hashes the blobs that a role may read instead of probing each."""

_HINTS: Final = {
    "3F000": "an administrator runs `gitmem org init DSN` first",  # no such schema
    "42P01": "an administrator runs `gitmem org init DSN` first",  # no such table
    "42501": "ask an administrator of the database for the right",
    "57014": "the server's statement_timeout ended the query",
    "53100": "the disk of the server is full",
}
"""Remedies by SQLSTATE."""


@contextmanager
def open_database(dsn: str, role: str = "", connect_seconds: int = CONNECT_SECONDS) -> "Iterator[Database]":
    """Connect for a `with` block and commit at its end, or roll back after an error. `role` acts as another role.

    A `connect_timeout` of the DSN has precedence over `connect_seconds`, which are for each of its hosts.

    Raises: UsageError for a wrong DSN or without psycopg, DatabaseFailed.
    """
    try:
        import psycopg  # the extra `org`
        from psycopg.conninfo import conninfo_to_dict, make_conninfo
    except ModuleNotFoundError as problem:
        raise UsageError("this needs psycopg", hint="pip install 'gitmem-cli[org]'") from problem
    if not dsn:
        raise UsageError("no database is configured", hint="git config --global gitmem.org DSN, or pass --dsn")
    try:
        parameters = conninfo_to_dict(dsn)
    except psycopg.Error as problem:
        raise UsageError(f"malformed DSN: {_first_line(problem)}", hint="postgresql://host/database") from problem
    if parameters.get("password"):
        # Arguments are visible in the list of processes, and settings in files that are shared.
        hint = "leave it out and use PGPASSWORD, PGPASSFILE (~/.pgpass) or a service file (PGSERVICE)"
        raise UsageError("the DSN contains a password", hint=hint)
    conninfo = dsn if parameters.get("connect_timeout") else make_conninfo(dsn, connect_timeout=connect_seconds)
    try:
        with psycopg.connect(conninfo, application_name="gitmem", autocommit=False) as database:
            # `jit` compiles a statement for longer than any of these runs.
            database.execute(
                "SELECT set_config('work_mem', %s, false), set_config('jit', 'off', false)", (_WORK_MEMORY,)
            )
            if role:
                database.execute("SELECT set_config('role', %s, false)", (role,))
            database.commit()
            yield database
    except psycopg.Error as problem:
        state = problem.sqlstate or ""
        hint = _HINTS.get(state) or ("check the DSN, and that the server runs" if not state else "")
        raise DatabaseFailed(f"PostgreSQL: {_first_line(problem)}", hint=hint) from problem


def _first_line(problem: Exception) -> str:
    """Return the first line of an error: the following ones repeat the statement."""
    return next(iter(str(problem).strip().splitlines()), type(problem).__name__)
