"""Queries answered by a running gitmem: CPU of the client and elapsed time, compared with a process of its own.

The client's CPU is what a user pays; that of the server is not in it. The commands run alternately with an empty
Python. With `--queries` and `--trees`, as for `quality`, the output of both ways is compared for each query instead.
"""

import argparse
import os
import re
import statistics
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from gitmem.git.locate import locate
from gitmem.resident.client import Client
from gitmem.resident.running_server import ANSWERS, find_server
from gitmem.resident.wire import EXIT
from tests.bench.commands import Gitmem, load_gitmem
from tests.bench.figures import Figure
from tests.bench.processes import PYTHON_START, Command, run, run_measured
from tests.bench.quality import read_names, read_queries
from tests.bench.subjects import add_subject_options, clone_subject, iter_subjects, work_folder

LIMIT: Final = 4
FILES: Final = 2100
QUERIES: Final = ("how is a request handled", "parse command line options", "TestCase setUp")
_PATIENCE: Final = 120.0
_TIME: Final = re.compile(rb"\d+ ms|(?<=\"query_time_ms\": )[\d.]+")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add repositories, rounds, the program that serves, and the set of queries to compare."""
    add_subject_options(parser, FILES)
    parser.add_argument("--rounds", type=int, default=15, help="runs of each query")
    parser.add_argument("--server", default="watch", help="command that serves: watch (default) or mcp")
    parser.add_argument("--queries", type=Path, metavar="DIR", help="compare the output for these queries")
    parser.add_argument("--trees", type=Path, metavar="DIR", help="their repositories")


def measure(options: argparse.Namespace) -> list[Figure]:
    """Index each repository, start a server, and run the queries through it and without it."""
    gitmem = load_gitmem(options)
    with work_folder(options) as work:
        if options.queries:
            return compare_answers(gitmem, options, work)
        figures: list[Figure] = []
        for subject in iter_subjects(options, work):
            report, _ = gitmem.index_report(subject.path)
            figures.append(Figure(subject.name, "chunks in the index", report["chunks"]))
            with serving(gitmem, subject.path, options.server):
                figures += measure_queries(subject.name, gitmem, subject.path, options.rounds)
        return figures


@contextmanager
def serving(gitmem: Gitmem, repository: Path, command: str) -> Iterator[None]:
    """Run a server of a repository."""
    args = [*gitmem.words, "-C", os.fspath(repository), command]
    with subprocess.Popen(args, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as server:
        if command == "mcp" and server.stdin:
            server.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
            server.stdin.flush()
        while (found := find_server(locate(repository), os.environ, _PATIENCE)) is None or found.state != ANSWERS:
            threading.Event().wait(0.05)
        yield
        server.kill()


def measure_queries(subject: str, gitmem: Gitmem, repository: Path, rounds: int) -> list[Figure]:
    """Return the medians of both ways: CPU, relative to an empty Python, and elapsed time."""
    cold_gitmem = Gitmem((*gitmem.words, "--no-server"))
    commands: dict[str, Command] = {"start": PYTHON_START}
    for number, query in enumerate(QUERIES):
        commands[f"served {number}"] = gitmem.query(repository, query)
        commands[f"cold {number}"] = cold_gitmem.query(repository, query)
    cpu: dict[str, list[float]] = {"start": [], "served": [], "cold": []}
    elapsed: dict[str, list[float]] = {"start": [], "served": [], "cold": []}
    for turn in range(rounds + 1):
        for name, command in commands.items():
            started = time.perf_counter()
            _, seconds = run_measured(command)
            if turn:  # the first turn warms caches, and lets the server open the tree
                cpu[name.split()[0]].append(seconds)
                elapsed[name.split()[0]].append(time.perf_counter() - started)
    start, served, cold = (statistics.median(cpu[way]) for way in ("start", "served", "cold"))
    answered = sum(seconds < (start + cold) / 2 for seconds in cpu["served"]) / len(cpu["served"])
    return [
        Figure(subject, "python start", start * 1000, "ms CPU"),
        Figure(subject, "query, client of a server", served * 1000, "ms CPU"),
        Figure(subject, "query, client of a server", served / start, "x python start", at_most=LIMIT),
        Figure(subject, "query, without a server", cold / start, "x python start"),
        *(
            Figure(subject, f"elapsed, {way}", statistics.median(elapsed[way]) * 1000, "ms")
            for way in ("start", "served", "cold")
        ),
        Figure(subject, "queries answered by the server", answered * 100, "%"),
    ]


def compare_answers(gitmem: Gitmem, options: argparse.Namespace, work: Path) -> list[Figure]:
    """Return how many queries of a set have the same output both ways; print the others."""
    counts: Counter[str] = Counter()
    names = [name for name in read_names(options.queries, []) if (options.trees / name).is_dir()]
    for name in names:
        repository = clone_subject(options.trees / name, work).path
        gitmem.index_report(repository)
        with serving(gitmem, repository, options.server):
            for number, query in enumerate(read_queries(options.queries, name)):
                args = ["query", *(["--json"] if number % 2 else []), query.text]
                served = _ask(repository, args)
                cold = run(Command([*gitmem.words, "--no-server", *args], cwd=repository, expect=(0, 1)))
                result = "refused" if served is None else "same" if served == _TIME.sub(b"", cold) else "different"
                counts[result] += 1
                if result != "same":
                    print(f"{result} in {name}: {query.text}", file=sys.stderr)
    return [
        Figure("all", "repositories", len(names)),
        Figure("all", "queries with the same output", counts["same"]),
        Figure("all", "queries with another output", counts["different"], at_most=0),
        Figure("all", "queries left to the client", counts["refused"], at_most=0),
    ]


def _ask(repository: Path, args: list[str]) -> bytes | None:
    """Return the output of the server without times, however busy the machine is."""
    answer = Client(_PATIENCE, _PATIENCE).ask(["-C", os.fspath(repository), *args], os.fspath(repository))
    if answer is None:
        return None
    return _TIME.sub(b"", b"".join(data for kind, data in answer if kind != EXIT))
