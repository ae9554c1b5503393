"""CPU time that names and references add to a full index: runs that store them and runs that find none, in turns."""

import argparse
import statistics
import sys
from pathlib import Path
from typing import Final

from tests.bench.figures import Figure
from tests.bench.processes import Command, cpu_of
from tests.bench.subjects import Subject, add_subject_options, iter_subjects, work_folder

LIMIT: Final = 1.2
FILES: Final = 2000

_WITH: Final = """
import os, sys
os.environ["OPENBLAS_NUM_THREADS"] = "1"  # else numpy starts threads, and the workers are not forked
sys.argv = ["gitmem", "index", "--full"]
"""
_WITHOUT: Final = """
from gitmem.chunking import occurrence_query, occurrences
from gitmem.types import NO_NAMES
occurrences.find_occurrences = lambda *_: NO_NAMES
occurrence_query.load_patterns = lambda _: None
"""
_RUN: Final = """
from gitmem.cli.main import main
main()
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add repositories and rounds."""
    add_subject_options(parser, FILES)
    parser.add_argument("--rounds", type=int, default=5, help="full index runs of each kind")


def measure(options: argparse.Namespace) -> list[Figure]:
    """Index each repository with and without names."""
    with work_folder(options) as work:
        return [
            figure for subject in iter_subjects(options, work) for figure in measure_subject(subject, options.rounds)
        ]


def measure_subject(subject: Subject, rounds: int) -> list[Figure]:
    """Return the medians of both kinds of runs, and their ratio. The first round only warms caches."""
    programs = {"with names": _WITH + _RUN, "without names": _WITH + _WITHOUT + _RUN}
    spent: dict[str, list[float]] = {name: [] for name in programs}
    for number in range(rounds + 1):
        for name, program in programs.items():
            seconds = cpu_of(_python(program, subject.path))
            if number:
                spent[name].append(seconds)
    both = {name: statistics.median(seconds) for name, seconds in spent.items()}
    ratio = both["with names"] / both["without names"]
    return [
        *(Figure(subject.name, f"full index {name}", seconds, "s CPU") for name, seconds in both.items()),
        Figure(subject.name, "full index with names", ratio, "x without", at_most=LIMIT),
    ]


def _python(program: str, folder: Path) -> Command:
    return Command([sys.executable, "-c", program], cwd=folder)
