"""Search in a process that holds the index open, as a server does: median and 95th percentile over many queries.

The limit applies to an index of 100,000 chunks. Elapsed time is what a user notices and is only meaningful on an idle
machine. CPU time, of all threads together, bounds it on a busy one.
"""

import argparse
import random
import re
import statistics
import time
from pathlib import Path
from typing import Final

from tests.bench.commands import load_gitmem
from tests.bench.figures import Figure
from tests.bench.inprocess import open_search
from tests.bench.processes import cpu_of
from tests.bench.subjects import add_subject_options, git, iter_subjects, work_folder

LIMIT: Final = 20
FILES: Final = 21_500
WARMING: Final = 20
WORD: Final = re.compile(r"[A-Za-z][A-Za-z_]{3,30}")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add repositories and the number of queries."""
    add_subject_options(parser, FILES)
    parser.add_argument("--queries", type=int, default=300, help="number of queries")
    parser.add_argument("--graph", action="store_true", help="build the neighbour graph first and search with it")


def measure(options: argparse.Namespace) -> list[Figure]:
    """Index each repository with the program, then search it in this process."""
    gitmem = load_gitmem(options)
    figures: list[Figure] = []
    with work_folder(options) as work:
        for subject in iter_subjects(options, work):
            report, _ = gitmem.index_report(subject.path)
            if options.graph:
                figures.append(Figure(subject.name, "graph", cpu_of(gitmem.index(subject.path, "--graph")), "s CPU"))
            figures.append(Figure(subject.name, "chunks in the index", report["chunks"]))
            queries = make_queries(subject.path, options.queries)
            figures += time_queries(subject.name, subject.path, queries, graph=options.graph)
    return figures


def time_queries(name: str, repository: Path, queries: list[str], *, graph: bool) -> list[Figure]:
    """Measure every query; the first few only warm caches."""
    search = open_search(repository, graph=graph)
    elapsed, cpu = [], []
    for query in queries[:WARMING] + queries:
        began, began_cpu = time.perf_counter(), time.process_time()
        search(query)
        cpu.append((time.process_time() - began_cpu) * 1000)
        elapsed.append((time.perf_counter() - began) * 1000)
    return [
        *percentiles(name, "elapsed", "ms", elapsed[WARMING:]),
        *percentiles(name, "CPU", "ms CPU", cpu[WARMING:]),
    ]


def percentiles(subject: str, name: str, unit: str, values: list[float]) -> list[Figure]:
    """Return the median and the 95th percentile."""
    return [
        Figure(subject, f"warm search, {name}, p50", statistics.median(values), unit),
        Figure(subject, f"warm search, {name}, p95", statistics.quantiles(values, n=20)[-1], unit, at_most=LIMIT),
    ]


def make_queries(repository: Path, count: int) -> list[str]:
    """Return queries of one to five words from the repository's files, so that each has results."""
    dice = random.Random(1)
    names = [name for name in git(repository, "ls-files", "-z").split("\0") if name]
    queries: list[str] = []
    for _ in range(50 * count):
        if len(queries) == count:
            break
        path = repository / dice.choice(names)
        if path.is_file() and not path.is_symlink():
            words = WORD.findall(path.read_bytes()[:20_000].decode(errors="replace"))
            if words:
                queries.append(" ".join(dice.choices(words, k=dice.randint(1, 5))))
    return queries
