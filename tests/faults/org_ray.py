"""Publications through a Ray cluster of two nodes that lose a process, a node, or themselves in the middle.

Afterwards the server must have the same rows and the same head as after a publication without a cluster: nothing
twice, and nothing missing. Needs Ray, which is not among the packages for development: `pip install 'ray[client]'`.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

import gitmem
from gitmem.cli.main import run as run_gitmem
from gitmem.org.connection import open_database
from gitmem.org.migrations import migrate
from tests.faults.report import Tally
from tests.gitrepo import Repo
from tests.org.clusters import Cluster, running
from tests.org.ray_clusters import RayCluster, running_ray

LONG_ROUNDS: Final = 5
_LOOK_SECONDS: Final = 0.02
_END_SECONDS: Final = 300

_ROWS: Final = {
    "blobs": "SELECT encode(oid, 'hex'), language, parsed_language, outcome, chunks, kinds, blobs.words, md5(record),"
    " md5(text), signatures.bits::text FROM gitmem.blobs LEFT JOIN gitmem.signatures ON blob = id",
    "entries": "SELECT encode(path, 'hex'), encode(oid, 'hex'), entries.words::text FROM gitmem.entries"
    " JOIN gitmem.blobs ON blobs.id = blob",
    "heads": "SELECT revision, is_default, commit, tree, files, contents, chunks, words, roles::text FROM gitmem.heads",
}
_QUERIES: Final = ("lock of the writer", "parse a date", "how are workers ended")


class _State(NamedTuple):
    """Rows of each table, sorted, and results of queries. Numbers of rows differ between publications."""

    tables: dict[str, list[Any]]
    results: list[Any]


class _World:
    """A repository of real code, what a publication without a cluster gives, and a cluster."""

    def __init__(self, server: Cluster, ray: RayCluster, folder: Path) -> None:
        self.ray = ray
        self._server = server
        self._folder = folder
        self._cases = 0
        self._source = Repo.init(folder / "source")
        package = Path(gitmem.__file__).parent
        self._source.commit({str(file.relative_to(package)): file.read_bytes() for file in package.rglob("*.py")})
        repo, dsn = self.make_case()
        assert run_gitmem(["-q", "-C", str(repo), "index"]) == 0
        assert run_gitmem(["-q", "-C", str(repo), "org", "publish", "--name", "shop", "--dsn", dsn]) == 0
        self.expected = read_state(dsn)

    def make_case(self) -> tuple[Path, str]:
        """Return a clone without an index, and the DSN of an empty database."""
        self._cases += 1
        self.ray.start_other()
        name = f"case{self._cases}"
        self._source.git("clone", "-q", str(self._source.path), str(self._folder / name))
        with self._server.connect() as database:
            database.execute(f"CREATE DATABASE {name}")
        dsn = self._server.dsn(name)
        with open_database(dsn) as database:
            migrate(database)
        return self._folder / name, dsn

    def start(self, repo: Path, dsn: str, *options: str) -> "subprocess.Popen[str]":
        """Start a publisher."""
        command = [sys.executable, "-m", "tests.faults.ray_publisher", str(repo), dsn, self.ray.address, *options]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def read_state(dsn: str) -> _State:
    """Read all that a publication has stored."""
    with open_database(dsn) as database:
        tables: dict[str, list[Any]] = {
            table: sorted(map(repr, database.execute(query).fetchall())) for table, query in _ROWS.items()
        }
    results = []
    for text in _QUERIES:
        command = [sys.executable, "-m", "gitmem", "org", "query", "--dsn", dsn, "--json", text]
        output = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        results.append([(hit["path"], hit["start_line"], hit["score"]) for hit in output["results"]])
    return _State(tables, results)


def run(*, long: bool) -> Tally:
    """Each fault once, or several times."""
    tally = Tally("publications through a cluster")
    with _world() as world:
        for _ in range(LONG_ROUNDS if long else 1):
            for name, fault in FAULTS.items():
                _try(world, tally, name, fault)
    return tally


def run_control() -> Tally:
    """The same with a publisher that takes a lost batch for one of empty files."""
    tally = Tally("publications that ignore lost batches", control=True)
    with _world() as world:
        _try(world, tally, "a killed process", _kill_process, "careless")
    return tally


@contextmanager
def _world() -> Iterator[_World]:
    with running() as server, running_ray() as ray, tempfile.TemporaryDirectory() as folder:
        yield _World(server, ray, Path(folder))


def _try(world: _World, tally: Tally, name: str, fault: Callable[[RayCluster], None], *options: str) -> None:
    """Publish with a fault in the middle, compare, and publish again."""
    repo, dsn = world.make_case()
    publisher = world.start(repo, dsn, *options)
    is_killed = _await_task(world.ray, publisher)
    faults = [] if is_killed else ["no task was seen"]
    if fault is _kill_publisher:
        publisher.kill()
    elif is_killed:
        fault(world.ray)
    _, errors = publisher.communicate(timeout=_END_SECONDS)
    if fault is _silence_node:
        world.ray.kill_other()
    if fault is _kill_publisher:
        publisher = world.start(repo, dsn)
        _, errors = publisher.communicate(timeout=_END_SECONDS)
    if publisher.returncode:
        faults.append(f"the publication failed: {errors}")
    tally.note(name, faults or _compare(world.expected, read_state(dsn)))


def _await_task(ray: RayCluster, publisher: "subprocess.Popen[str]") -> bool:
    """Wait until the other node runs a task; return False if the publisher ended before."""
    while ray.find_task() is None:
        try:
            publisher.wait(_LOOK_SECONDS)
        except subprocess.TimeoutExpired:
            continue
        return False
    return True


def _kill_process(ray: RayCluster) -> None:
    process = ray.find_task()
    if process is not None:
        process.kill()


def _kill_worker(ray: RayCluster) -> None:
    """Kill gitmem's own worker below a process of Ray, as a hostile file might."""
    process = ray.find_task()
    for child in process.children() if process is not None else ():
        child.kill()


def _kill_node(ray: RayCluster) -> None:
    ray.kill_other()


def _silence_node(ray: RayCluster) -> None:
    ray.suspend_other()


def _kill_publisher(_: RayCluster) -> None:
    """Mark the fault whose victim is the publisher itself."""


FAULTS: Final[dict[str, Callable[[RayCluster], None]]] = {
    "a killed process": _kill_process,
    "a killed worker": _kill_worker,
    "a lost node": _kill_node,
    "a silent node": _silence_node,
    "a killed publisher": _kill_publisher,
}


def _compare(expected: _State, state: _State) -> list[str]:
    faults = []
    for table, rows in state.tables.items():
        wanted = expected.tables[table]
        if rows != wanted:
            missing, foreign = len(set(wanted) - set(rows)), len(set(rows) - set(wanted))
            repeated = len(rows) - len(set(rows))
            faults.append(f"{table}: {missing} rows missing, {foreign} others, {repeated} twice")
    return faults + (["queries have other results"] if state.results != expected.results else [])
