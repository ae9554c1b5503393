"""Publishing a repository that is not indexed yet, on this machine alone and through a Ray cluster of two nodes on it.

Both run in turns, each time from nothing, with a server and a cluster that are started once. On one machine the cluster
cannot be faster: its two nodes have the same processors. The figures show the load that it takes from the publisher,
and its own cost. Needs Ray: `pip install 'ray[client]'`.
"""

import argparse
import os
import statistics
import time
from pathlib import Path
from typing import Final, NamedTuple

from tests.bench.commands import Gitmem, load_gitmem
from tests.bench.database_server import DatabaseServer, start_server
from tests.bench.figures import Figure
from tests.bench.processes import Command, run, run_measured
from tests.bench.subjects import Subject, add_subject_options, iter_subjects, work_folder
from tests.org.ray_clusters import RayCluster, running_ray

FILES: Final = 1000


class _Cost(NamedTuple):
    cpu: float
    cluster: float
    elapsed: float


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add repositories and rounds."""
    add_subject_options(parser, FILES)
    parser.add_argument("--rounds", type=int, default=3, help="publications of each kind")


def measure(options: argparse.Namespace) -> list[Figure]:
    """Publish each repository in turns, without and with the cluster."""
    gitmem = load_gitmem(options)
    figures = []
    with work_folder(options) as work, start_server(work / "postgres") as server, running_ray() as ray:
        for subject in iter_subjects(options, work):
            chunks = 0
            costs: dict[str, list[_Cost]] = {"alone": [], "cluster": []}
            for number in range(options.rounds + 1):
                for kind, spent in costs.items():
                    dsn = _make_database(gitmem, server, f"{kind}{number}")
                    spent.append(_publish(gitmem, subject, dsn, ray, is_alone=kind == "alone"))
                    chunks = _count_chunks(server, f"{kind}{number}")
            figures += _figures(subject, chunks, {kind: spent[1:] for kind, spent in costs.items()})
    return figures


def _make_database(gitmem: Gitmem, server: DatabaseServer, name: str) -> str:
    with server.connect() as database:
        database.execute(f"DROP DATABASE IF EXISTS {name}")
        database.execute(f"CREATE DATABASE {name}")
    run(Command([*gitmem.words, "-q", "org", "init", server.dsn(name)]))
    return server.dsn(name)


def _count_chunks(server: DatabaseServer, name: str) -> int:
    with server.connect(name) as database:
        return int(database.execute("SELECT sum(chunks) FROM gitmem.heads").fetchone()[0])


def _publish(gitmem: Gitmem, subject: Subject, dsn: str, ray: RayCluster, *, is_alone: bool) -> _Cost:
    """Index and publish from nothing; return the processor time of the publisher with its workers, and the rest."""
    subject.drop_index()
    # The setting of this workplace would have every process compile what it imports.
    env = {name: "" for name in ("PYTHONDONTWRITEBYTECODE",) if name in os.environ}
    publish = [*gitmem.words, "-q", "org", "publish", "--dsn", dsn]
    steps = [[*gitmem.words, "-q", "index"], publish] if is_alone else [[*publish, "--on", ray.address]]
    before, began, spent = ray.cpu_seconds(), time.perf_counter(), 0.0
    for words in steps:
        spent += run_measured(Command(words, cwd=Path(subject.path), env=env))[1]
    return _Cost(spent, ray.cpu_seconds() - before, time.perf_counter() - began)


def _figures(subject: Subject, chunks: int, costs: dict[str, list[_Cost]]) -> list[Figure]:
    name = f"{subject.name}, {chunks:,} chunks"
    figures = []
    for kind, spent in costs.items():
        medians = _Cost(*(statistics.median(values) for values in zip(*spent, strict=True)))
        figures += [
            Figure(name, f"{kind}: publisher and its workers", medians.cpu, "s CPU"),
            Figure(name, f"{kind}: elapsed", medians.elapsed, "s"),
        ]
        if kind == "cluster":
            figures.append(Figure(name, f"{kind}: all processes of the cluster", medians.cluster, "s CPU"))
    return figures
