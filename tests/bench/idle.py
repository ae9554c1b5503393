"""`gitmem index` with nothing to do, relative to a Python that does nothing."""

import argparse
from typing import Final

from tests.bench.commands import load_gitmem
from tests.bench.figures import Figure
from tests.bench.processes import PYTHON_START, median_cpu, run
from tests.bench.subjects import add_subject_options, iter_subjects, work_folder

LIMIT: Final = 8
FILES: Final = 1000


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add repositories and rounds."""
    add_subject_options(parser, FILES)
    parser.add_argument("--rounds", type=int, default=15, help="runs")


def measure(options: argparse.Namespace) -> list[Figure]:
    """Index each repository once, then measure further runs."""
    gitmem = load_gitmem(options)
    figures: list[Figure] = []
    with work_folder(options) as work:
        for subject in iter_subjects(options, work):
            command = gitmem.index(subject.path)
            run(command)
            spent = median_cpu({"start": PYTHON_START, "idle": command}, options.rounds)
            figures += [
                Figure(subject.name, "index with nothing to do", spent["idle"] * 1000, "ms CPU"),
                Figure(
                    subject.name,
                    "index with nothing to do",
                    spent["idle"] / spent["start"],
                    "x python start",
                    at_most=LIMIT,
                ),
            ]
    return figures
