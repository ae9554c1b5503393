"""All costs that could grow with the repository, side by side at several sizes.

The repositories are built out of public ones (`--repositories`), named (`--repo`), or generated. Each cost is measured
several times, alternately with its baseline, and the median counts.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.bench.commands import add_rival_options, find_rival, load_gitmem
from tests.bench.figures import Figure
from tests.bench.scale_lines import Lines
from tests.bench.side_by_side import build, find_parts
from tests.bench.subjects import (
    Subject,
    SubjectError,
    clone_subject,
    remove_subject,
    synthetic_subject,
    work_folder,
)

SIZES: Final = {"32k": 32_000, "144k": 144_000, "372k": 372_000, "1310k": 1_310_000}
"""Names of the sizes, and their chunks."""

CHUNKS_PER_FILE: Final = 4.8
"""Chunks in a file of the generated code."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the origin of the repositories, sizes, rounds and the rival."""
    parser.add_argument(
        "--repositories", type=Path, metavar="DIR", help="folder of git directories, up to two levels below it"
    )
    parser.add_argument("--repo", type=Path, nargs="+", default=[], help="repositories to measure (clones of them)")
    parser.add_argument("--sizes", nargs="+", default=list(SIZES), metavar="SIZE", help=f"of {', '.join(SIZES)}")
    parser.add_argument("--rounds", type=int, default=3, help="repetitions of each cost")
    parser.add_argument("--queries", type=int, default=60, help="number of warm queries")
    add_rival_options(parser)


def measure(options: argparse.Namespace) -> list[Figure]:
    """Measure every cost at every size; print each size's figures as soon as they are known."""
    gitmem, rival = load_gitmem(options), find_rival(options)
    figures: list[Figure] = []
    with work_folder(options) as work:
        for subject in iter_sizes(options, work):
            lines = Lines(gitmem, rival, subject, rounds=options.rounds, queries=options.queries)
            for figure in lines.iter_figures():
                print(f"{figure.subject}  {figure.name}: {figure.text} {figure.unit}", flush=True)
                figures.append(figure)
    return figures


def iter_sizes(options: argparse.Namespace, work: Path) -> Iterator[Subject]:
    """Yield one repository after the other; remove each before the next."""
    if unknown := [size for size in options.sizes if size not in SIZES]:
        raise SubjectError(f"unknown size: {', '.join(unknown)}")
    parts = find_parts(options.repositories) if options.repositories else []
    if options.repositories and not parts:
        raise SubjectError(f"no git directory at most two levels below {options.repositories}")
    for repository in options.repo:
        subject = clone_subject(repository, work)
        yield subject
        remove_subject(subject)
    for size in [] if options.repo else options.sizes:
        target = work / size
        if parts:
            build(target, parts, SIZES[size])
        else:
            target = synthetic_subject(round(SIZES[size] / CHUNKS_PER_FILE), work).path
        subject = Subject(size, target)
        yield subject
        remove_subject(subject)
