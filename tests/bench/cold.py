"""Cold `gitmem query`: a whole process from start to answer, relative to a Python that does nothing.

The limits hold for an index of about 10,000 chunks. Each query runs in its own process; git children are included.
"""

import argparse
import statistics
from typing import Final

from tests.bench.commands import add_rival_options, find_rival, load_gitmem
from tests.bench.figures import Figure
from tests.bench.processes import PYTHON_START, Command, median_cpu, run
from tests.bench.subjects import add_subject_options, iter_subjects, work_folder

LIMIT: Final = 26
FILES: Final = 2100
QUERIES: Final = (
    "how is a request handled",
    "parse command line options",
    "open_connection",
    "where are errors turned into messages",
    "TestCase setUp",
)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add repositories, rounds and the rival."""
    add_subject_options(parser, FILES)
    add_rival_options(parser)
    parser.add_argument("--rounds", type=int, default=7, help="runs of each query")


def measure(options: argparse.Namespace) -> list[Figure]:
    """Index each repository, then run all queries alternately with an empty Python."""
    gitmem, rival = load_gitmem(options), find_rival(options)
    figures: list[Figure] = []
    with work_folder(options) as work:
        for subject in iter_subjects(options, work):
            report, _ = gitmem.index_report(subject.path)
            commands = {query: gitmem.query(subject.path, query) for query in QUERIES}
            if rival:
                commands["rival"] = rival.search(subject.path, QUERIES[0], work / "rival")
                run(commands["rival"])
            figures.append(Figure(subject.name, "chunks in the index", report["chunks"]))
            figures += compare(subject.name, commands, options.rounds)
    return figures


def compare(subject: str, commands: dict[str, Command], rounds: int) -> list[Figure]:
    """Return the medians of each query, their median, and the rival's, as ratios."""
    seconds = median_cpu({"start": PYTHON_START, **commands}, rounds)
    start = seconds.pop("start")
    rival = seconds.pop("rival", None)
    figures = [
        Figure(subject, "python start", start * 1000, "ms CPU"),
        Figure(subject, "cold query", statistics.median(seconds.values()) * 1000, "ms CPU"),
        Figure(subject, "cold query", statistics.median(seconds.values()) / start, "x python start", at_most=LIMIT),
        Figure(subject, "cold query, slowest query", max(seconds.values()) / start, "x python start"),
    ]
    if rival is not None:
        figures.append(Figure(subject, "rival's cached query", rival / start, "x python start"))
    return figures
