"""Share connections between the searches of one process. A command connects once; a server keeps what it needs again.

The second search of a process shows that it is a server: from then on, connections come from a pool. It holds a few of
them, and refuses a search if too many wait already: a search that nobody waits for any more helps no one.
"""

import atexit
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from gitmem.errors import DatabaseUnavailable, UsageError
from gitmem.org.connection import CONNECT_SECONDS, complete_dsn, database_errors, open_database, prepare_session

if TYPE_CHECKING:
    from psycopg_pool import ConnectionPool

    from gitmem.org.connection import Database

MOST_CONNECTIONS: Final = 8
MOST_WAITING: Final = 32
_IDLE_SECONDS: Final = 120.0

_lock: Final = Lock()
_pools: "Final[dict[str, ConnectionPool[Any]]]" = {}
_connected: Final[set[str]] = set()
"""DSNs that this process has connected to."""


@contextmanager
def open_shared(dsn: str, connect_seconds: int = CONNECT_SECONDS) -> "Iterator[Database]":
    """Use a connection for a `with` block, as `open_database` does. Settings of its session stay for later searches.

    Raises: as `open_database`, and DatabaseUnavailable if all connections stay in use.
    """
    pool = _pools.get(dsn) or _take_pool(dsn, connect_seconds)
    if pool is None:
        with open_database(dsn, connect_seconds=connect_seconds) as database:
            _connected.add(dsn)
            yield database
        return
    from psycopg_pool import PoolTimeout, TooManyRequests

    try:
        with database_errors(), pool.connection(timeout=connect_seconds) as database:
            yield database
    except DatabaseUnavailable as problem:
        if isinstance(problem.__cause__, TooManyRequests):
            raise DatabaseUnavailable("too many searches wait for the database", hint="try again") from problem
        if not isinstance(problem.__cause__, PoolTimeout):
            raise
        if pool.get_stats().get("connections_errors"):
            # The next search connects by itself, and therefore knows why it cannot.
            _drop_pool(dsn)
        message = f"no connection to the database within {connect_seconds} seconds"
        raise DatabaseUnavailable(message, hint="check that the server runs; gitmem org status") from problem


def _take_pool(dsn: str, connect_seconds: int) -> "ConnectionPool[Any] | None":
    """Make the pool of a DSN; return None before the first connection of this process."""
    with _lock:
        if dsn in _connected and dsn not in _pools:
            _pools[dsn] = _make_pool(complete_dsn(dsn, connect_seconds))
        return _pools.get(dsn)


def _make_pool(conninfo: str) -> "ConnectionPool[Any]":
    try:
        from psycopg_pool import ConnectionPool
    except ModuleNotFoundError as problem:
        raise UsageError("this needs psycopg-pool", hint="pip install 'gitmem-cli[org]'") from problem
    if not _pools:
        atexit.register(close_pools)
    # Each failed attempt would be a line on standard error; the search itself says why it failed.
    logging.getLogger("psycopg.pool").setLevel(logging.ERROR)
    return ConnectionPool(
        conninfo,
        min_size=0,
        max_size=MOST_CONNECTIONS,
        max_waiting=MOST_WAITING,
        max_idle=_IDLE_SECONDS,
        configure=prepare_session,
        check=ConnectionPool.check_connection,  # the server may have restarted
        name="gitmem",
        open=True,
    )


def close_pools() -> None:
    """Close all pools; a later search begins again with a connection of its own."""
    for dsn in [*_pools]:
        _drop_pool(dsn)
    _connected.clear()


def _drop_pool(dsn: str) -> None:
    with _lock:
        pool = _pools.pop(dsn, None)
        _connected.discard(dsn)
    if pool is not None:
        pool.close()
