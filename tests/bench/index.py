"""A full index in one process tree: CPU time, throughput, and the rival's CPU on the same tree.

The rival has no command that only indexes: its first search builds the index, and takes a hundredth of the time itself.
"""

import argparse
import shutil
import statistics
from pathlib import Path
from typing import Final

from tests.bench.commands import Gitmem, Rival, add_rival_options, find_rival, load_gitmem
from tests.bench.figures import Figure
from tests.bench.processes import cpu_of, python_start_cpu
from tests.bench.subjects import Subject, add_subject_options, iter_subjects, work_folder

LIMIT: Final = 1.0
FILES: Final = 2000


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add repositories, rounds and the rival."""
    add_subject_options(parser, FILES)
    add_rival_options(parser)
    parser.add_argument("--rounds", type=int, default=3, help="full index runs of each program")


def measure(options: argparse.Namespace) -> list[Figure]:
    """Index every repository from scratch, alternately with the rival."""
    gitmem, rival = load_gitmem(options), find_rival(options)
    figures: list[Figure] = []
    with work_folder(options) as work:
        for subject in iter_subjects(options, work):
            figures += measure_subject(subject, gitmem, rival, work / "rival", options.rounds)
    return figures


def measure_subject(subject: Subject, gitmem: Gitmem, rival: Rival | None, cache: Path, rounds: int) -> list[Figure]:
    """Measure several full indexes of one repository with both programs."""
    ours, theirs, starts = [], [], []
    for _ in range(rounds):
        subject.drop_index()
        report, cpu = gitmem.index_report(subject.path)
        ours.append(cpu)
        starts.append(python_start_cpu())
        if rival:
            shutil.rmtree(cache, ignore_errors=True)
            cache.mkdir()
            theirs.append(cpu_of(rival.search(subject.path, "how is a request handled", cache)))
    cpu, megabytes = statistics.median(ours), report["text_bytes"] / 1e6
    figures = [
        Figure(subject.name, "text indexed", megabytes, "MB"),
        Figure(subject.name, "chunks", report["chunks"]),
        Figure(subject.name, "full index", cpu, "s CPU"),
        Figure(subject.name, "full index", cpu / statistics.median(starts), "x python start"),
        Figure(subject.name, "throughput", megabytes / cpu, "MB per CPU second"),
    ]
    if theirs:
        rival_cpu = statistics.median(theirs)
        figures += [
            Figure(subject.name, "rival's full index", rival_cpu, "s CPU"),
            Figure(subject.name, "full index", cpu / rival_cpu, "x rival", at_most=LIMIT),
        ]
    return figures
