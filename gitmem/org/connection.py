"""Connect to the database of an organisation. Passwords come from libpq's own places, never from a command line."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from gitmem.errors import DatabaseFailed, DatabaseUnavailable, UsageError

if TYPE_CHECKING:
    from psycopg import Connection

    Database = Connection[tuple[object, ...]]

CONNECT_SECONDS: Final = 10

_WORK_MEMORY: Final = "64MB"
"""Memory of one step of a query: row-level security hashes the blobs that a role may read instead of probing each."""

SECRETS: Final = ("password", "sslpassword", "oauth_client_secret", "scram_client_key", "scram_server_key")
"""Parameters of a connection that no DSN may have, and no catalogue of a server."""

# A slash or a question mark in a password ends the host for libpq, which then takes pieces of it for other parameters.
# What begins with a number is a port.
_HIDDEN_PASSWORD: Final = re.compile(r"[^/]*//[^/@?:]*:(?!\d*[,/?])[^@]*[/?][^@]*@")

# A peer that has vanished without a word is noticed after a minute instead of two hours.
_KEEP_ALIVE: Final[Mapping[str, int]] = {
    "keepalives_idle": 30, "keepalives_interval": 10, "keepalives_count": 3, "tcp_user_timeout": 60_000,
}  # fmt: skip

_SESSION: Final = """
SELECT set_config('work_mem', %s, false), set_config('jit', 'off', false),
  set_config('idle_in_transaction_session_timeout', '600s', false)
"""
"""Settings of a session. `jit` compiles a statement for longer than any of these runs. The timeout frees the locks of a
publisher that was stopped, or whose network was cut."""

_OTHER_SERVER: Final = "another server has a part of the contents; gitmem org status names those that do not answer"

OPEN_SHARE: Final = "let pg_hba.conf there ask the role for its password (scram-sha-256), as docs/organisation.md says"

_HINTS: Final = {
    "3F000": "an administrator runs `gitmem org init DSN` first",  # no such schema
    "42P01": "an administrator runs `gitmem org init DSN` first",  # no such table
    "42501": "ask an administrator of the database for the right",
    "57014": "the server's statement_timeout ended the query",
    "53100": "the disk of the server is full",
    "53300": "the server has no free connection; try again, or use a pooler",
    "08001": _OTHER_SERVER,
    "08006": _OTHER_SERVER,
    "2F003": OPEN_SHARE,  # postgres_fdw does not connect for others than superusers then
    "25006": "this server is a replica; to write, add target_session_attrs=read-write and the other hosts to the DSN",
}
"""Remedies by SQLSTATE."""

# Failures to connect have no state, whatever the server said.
_CONNECTION_HINTS: Final = {
    "password": "the password comes from PGPASSWORD, PGPASSFILE (~/.pgpass) or a service file (PGSERVICE)",
    "certificate": "TLS: `sslrootcert` names the file of the CA, and the certificate has the host of the DSN",
    "SSL": "TLS: the server must offer it, and `sslrootcert` name the file of the CA",
}
"""Remedies by words of libpq. The same attempt fails again."""

_TRANSIENT: Final = frozenset(
    {
        "08000",
        "08001",
        "08003",
        "08006",
        "40001",
        "40P01",
        "53300",
        "55P03",
        "57P01",
        "57P02",
        "57P03",
        "57P05",
        "25P03",
    }
)
"""States after which the same may pass a moment later: conflicts, a restart, a failover, too many connections.

With a state, 08 is a connection of the server to one that has a share of the contents."""


@contextmanager
def open_database(dsn: str, role: str = "", connect_seconds: int = CONNECT_SECONDS) -> "Iterator[Database]":
    """Connect for a `with` block and commit at its end, or roll back after an error. `role` acts as another role.

    A `connect_timeout` of the DSN has precedence over `connect_seconds`, which are for each of its hosts.

    Raises: UsageError for a wrong DSN or without psycopg, DatabaseFailed.
    """
    conninfo = complete_dsn(dsn, connect_seconds)
    import psycopg

    with database_errors(), psycopg.connect(conninfo, autocommit=False) as database:
        prepare_session(database, role)
        yield database


def prepare_session(database: "Database", role: str = "") -> None:
    """Set what every session of gitmem sets."""
    database.execute(_SESSION, (_WORK_MEMORY,))
    if role:
        database.execute("SELECT set_config('role', %s, false)", (role,))
    database.commit()


def complete_dsn(dsn: str, connect_seconds: int = CONNECT_SECONDS) -> str:
    """Return a DSN with the defaults of gitmem. Raises UsageError for a wrong one, or without psycopg."""
    try:
        import psycopg  # the extra `org`
        from psycopg.conninfo import conninfo_to_dict, make_conninfo
    except ModuleNotFoundError as problem:
        raise UsageError("this needs psycopg", hint="pip install 'gitmem-cli[org]'") from problem
    if not dsn:
        raise UsageError("no database is configured", hint="git config --global gitmem.org DSN, or pass --dsn")
    try:
        parameters: dict[str, Any] = conninfo_to_dict(dsn)
    except psycopg.Error as problem:
        # libpq repeats the DSN, or a piece of it.
        reason = "" if _may_have_password(dsn) else f": {_first_line(problem)}"
        raise UsageError(f"malformed DSN{reason}", hint="postgresql://host/database") from None
    if any(parameters.get(name) for name in SECRETS) or _HIDDEN_PASSWORD.match(dsn):
        # Arguments are visible in the list of processes, and settings in files that are shared.
        hint = "leave it out and use PGPASSWORD, PGPASSFILE (~/.pgpass) or a service file (PGSERVICE)"
        raise UsageError("the DSN contains a password", hint=hint)
    defaults: dict[str, str | int] = {"connect_timeout": connect_seconds, "application_name": "gitmem", **_KEEP_ALIVE}
    return make_conninfo(dsn, **{name: value for name, value in defaults.items() if not parameters.get(name)})


def _may_have_password(dsn: str) -> bool:
    return any(name in dsn.lower() for name in ("pass", *SECRETS)) or re.search(r":[^@]*@", dsn) is not None


@contextmanager
def database_errors() -> "Iterator[None]":
    """Raise errors of psycopg as DatabaseFailed, with a remedy if one is known."""
    import psycopg

    try:
        yield
    except psycopg.Error as problem:
        state, message = problem.sqlstate or "", _first_line(problem)
        refusal = "" if state else next((hint for word, hint in _CONNECTION_HINTS.items() if word in message), "")
        hint = _HINTS.get(state) or refusal or ("" if state else "check the DSN, and that the server runs")
        is_lost = isinstance(problem, psycopg.OperationalError) and not state and not refusal
        kind = DatabaseUnavailable if is_lost or state in _TRANSIENT else DatabaseFailed
        raise kind(f"PostgreSQL: {message}", hint=hint) from problem


def accepts(parameters: Mapping[str, str]) -> bool:
    """Return whether a server accepts a connection with some parameters."""
    import psycopg
    from psycopg.conninfo import make_conninfo

    try:
        psycopg.connect(make_conninfo("", **parameters)).close()
    except psycopg.Error:
        return False
    return True


def duplicate_key() -> type[Exception]:
    """Return the class of the error that reports a key which a table has already."""
    from psycopg.errors import UniqueViolation

    return UniqueViolation


def _first_line(problem: Exception) -> str:
    """Return the first line of an error: the following ones repeat the statement."""
    return next(iter(str(problem).strip().splitlines()), type(problem).__name__)
