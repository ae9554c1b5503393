"""Search over many repositories at once: a cold query relative to one over a single repository, and in a server.

Each repository has about 5,000 chunks. A few are generated and indexed, the others are copies. `git status` runs
in each repository and is measured apart. In the server each query is timed at its second and third run, as in
`mcp-server`: by then the parts of the indexes that it needs have been read.
"""

import argparse
import os
import shutil
import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from gitmem.answering.repository_selection import choose_members
from gitmem.answering.search_query import Query
from gitmem.freshness.tree_selection import WORKING_TREE
from gitmem.registry import OFF_VARIABLE, add_repository
from gitmem.resident.call import Call
from gitmem.resident.open_federation import answer_open_repositories
from gitmem.resident.repositories import OpenRepositories
from tests.bench.commands import Gitmem, load_gitmem
from tests.bench.figures import Figure
from tests.bench.processes import Command, median_cpu
from tests.bench.subjects import git, synthetic_subject, work_folder
from tests.bench.warm import make_queries

FILES: Final = 1075
"""Files of a generated repository with about 5,000 chunks."""

DISTINCT: Final = 4
COLD_QUERY: Final = "how is a request handled"
COLD_RATIO: Final = 3.0
WARM_LIMIT: Final = 50
SETTLING: Final = 2.0
"""Seconds until all working trees are watched."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the numbers of repositories, queries and rounds."""
    parser.add_argument("--files", type=int, default=FILES, help="files of each repository")
    parser.add_argument("--cold", type=int, default=20, help="repositories of the cold query")
    parser.add_argument("--warm", type=int, default=100, help="repositories of the server; 0 leaves it out")
    parser.add_argument("--queries", type=int, default=60, help="number of queries to the server")
    parser.add_argument("--rounds", type=int, default=5, help="runs of the cold query")


def measure(options: argparse.Namespace) -> list[Figure]:
    """Make the repositories, then measure both."""
    gitmem = load_gitmem(options)
    with work_folder(options) as work:
        os.environ["XDG_DATA_HOME"] = str(work / "data")
        os.environ.pop(OFF_VARIABLE, None)
        os.environ["GITMEM_SEARCH_CACHE_SECONDS"] = "0"  # the later runs of a query must search
        chunks, originals = 0, []
        for number in range(min(DISTINCT, max(options.cold, options.warm))):
            subject = synthetic_subject(options.files + number, work)
            report, _ = gitmem.index_report(subject.path)
            chunks += report["chunks"]
            originals.append(subject.path)
        figures = [Figure("each repository", "chunks", round(chunks / len(originals)))]
        folders = list(originals)
        register(folders)
        figures += measure_cold(gitmem, grow(folders, originals, options.cold, work), options.rounds)
        if options.warm:
            figures += measure_warm(grow(folders, originals, options.warm, work), options.queries)
    return figures


def grow(folders: list[Path], originals: Sequence[Path], count: int, work: Path) -> list[Path]:
    """Copy repositories with their indexes until there are so many, and register them."""
    while len(folders) < count:
        copy = work / f"copy-{len(folders):03}"
        shutil.copytree(originals[len(folders) % len(originals)], copy, symlinks=True)
        git(copy, "status", "--short")  # git compares the copied files with its index, once
        folders.append(copy)
        register([copy])
    return folders


def register(folders: Sequence[Path]) -> None:
    """Add repositories to the registry of this run."""
    for folder in folders:
        add_repository(os.environ, folder)


def measure_cold(gitmem: Gitmem, folders: Sequence[Path], rounds: int) -> list[Figure]:
    """Return the CPU time of a query over all repositories relative to one, both without `git status`."""
    status = ["git", "--no-optional-locks", "status", "--porcelain=v2", "-z", "--untracked-files=all"]
    script = "\n".join(f"git -C {folder} {' '.join(status[1:])} > {os.devnull}" for folder in folders)
    seconds = median_cpu(
        {
            "one": gitmem.query(folders[0], COLD_QUERY),
            "all": gitmem.query(folders[0], COLD_QUERY, "--all"),
            "status of one": Command(["git", "-C", str(folders[0]), *status[1:]]),
            "status of all": Command(["sh", "-c", script]),
        },
        rounds,
    )
    one, together = seconds["one"] - seconds["status of one"], seconds["all"] - seconds["status of all"]
    name = f"{len(folders)} repositories"
    return [
        Figure("1 repository", "cold query above git status", one * 1000, "ms CPU"),
        Figure(name, "cold query above git status", together * 1000, "ms CPU"),
        Figure(name, "git status", seconds["status of all"] * 1000, "ms CPU"),
        Figure(name, "cold query above git status", together / one, "x one", at_most=COLD_RATIO),
    ]


def measure_warm(folders: Sequence[Path], count: int) -> list[Figure]:
    """Return the time of the second and third run of each query in a process that keeps the repositories open."""
    repositories = OpenRepositories(folders[0], os.environ)
    own = repositories.get(folders[0]).current_workspace()
    chosen = choose_members(os.environ, ["*"], own)

    def search(text: str) -> None:
        answer_open_repositories(repositories, chosen, Query(text), WORKING_TREE, own.settings, Call())

    queries = make_queries(folders[0], count)
    began = time.perf_counter()
    search(queries[0])
    first = time.perf_counter() - began
    time.sleep(SETTLING)  # the watches of the working trees are added by threads
    runs: list[list[float]] = [[], [], []]
    cpu: list[float] = []
    for query in queries:
        for number in range(3):
            began, began_cpu = time.perf_counter(), time.process_time()
            search(query)
            runs[number].append((time.perf_counter() - began) * 1000)
            if number:
                cpu.append((time.process_time() - began_cpu) * 1000)
    repositories.close(1)
    name = f"{len(folders)} repositories"
    warm = [*runs[1], *runs[2]]
    return [
        Figure(name, "server, first answer", first, "s"),
        Figure(name, "first run of a query, p50", statistics.median(runs[0]), "ms"),
        Figure(name, "warm query, p50", statistics.median(warm), "ms"),
        Figure(name, "warm query, p95", statistics.quantiles(warm, n=20)[-1], "ms", at_most=WARM_LIMIT),
        Figure(name, "warm query, CPU, p95", statistics.quantiles(cpu, n=20)[-1], "ms CPU", at_most=WARM_LIMIT),
    ]
