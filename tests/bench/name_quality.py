"""Whether the name of a class finds the class: the mean reciprocal rank of its file among the results for the name.

The classes are those of plain code whose name, spelled alike, no other file gives a class. Names of one word are the
hard ones: many other names, paths and texts have that word. Everything else has only one right result as well, and so
do names of functions, but a function and a class may differ in case alone.
"""

import argparse
import os
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np

from gitmem.answering.searched_trees import path_weight
from gitmem.answering.searcher import open_searcher
from gitmem.freshness.tree_selection import WORKING_TREE
from gitmem.references.file_names import CLASS
from gitmem.workspace import open_workspace
from tests.bench.commands import Gitmem, load_gitmem
from tests.bench.figures import Figure
from tests.bench.inprocess import open_answers
from tests.bench.processes import run
from tests.bench.scoring import Place, mean
from tests.bench.subjects import Subject, add_subject_options, iter_subjects, work_folder

LEAST: Final = 0.93
"""Least mean reciprocal rank."""

_SHORTEST: Final = 3
_SEED: Final = 7


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add repositories and the number of names."""
    add_subject_options(parser, 1)
    parser.add_argument("--names", type=int, default=30, help="most names of a repository")


def measure(options: argparse.Namespace) -> list[Figure]:
    """Search each repository for the names of its classes."""
    ranks: dict[str, list[float]] = {}
    with work_folder(options) as work:
        for subject in iter_subjects(options, work):
            ranks[subject.name] = measure_subject(subject, options.names, load_gitmem(options))
    every = [rank for own in ranks.values() for rank in own]
    figures = [Figure(name, "reciprocal rank", mean(own)) for name, own in ranks.items() if own]
    first = mean(float(rank == 1) for rank in every)
    return [
        *figures,
        Figure(f"{len(every)} names", "reciprocal rank", mean(every), at_least=LEAST),
        Figure(f"{len(every)} names", "first", first),
    ]


def measure_subject(subject: Subject, names: int, gitmem: Gitmem) -> list[float]:
    """Return the reciprocal rank of the class of each name."""
    run(gitmem.index(subject.path))
    classes = choose_names(find_classes(subject.path), names)
    search = open_answers(subject.path)
    return [reciprocal_rank(search(name), path) for name, path in classes]


def reciprocal_rank(results: Sequence[Place], path: str) -> float:
    """Return 1 / rank of the first result in a file, 0 without one."""
    return next((1 / rank for rank, result in enumerate(results, 1) if result.path == path), 0.0)


def find_classes(folder: Path) -> dict[str, set[str]]:
    """Return the paths of plain code that define a class, by its name."""
    searcher = open_searcher(open_workspace(folder, os.environ), WORKING_TREE, refresh=False)
    graph = searcher.names.graph(path_weight, lambda: None)
    classes: dict[str, set[str]] = {}
    for entry in graph.files(np.arange(len(graph.blob_of)))[1].tolist():
        file = searcher.names.file(entry)
        if path_weight(file.path) == 1:
            for each in file.all_definitions():
                if each.kind == CLASS:
                    classes.setdefault(each.name, set()).add(file.path)
    return classes


def choose_names(classes: dict[str, set[str]], count: int) -> list[tuple[str, str]]:
    """Return names that one file gives a class, with the file: names of one word, and others to make up the number."""
    single = sorted(name for name, paths in classes.items() if len(paths) == 1 and is_typed(name))
    short = [name for name in single if name[1:].islower() or name[1:].isupper()]
    long = [name for name in single if name not in set(short)]
    choice = random.Random(_SEED)
    chosen = choice.sample(short, min(count, len(short)))
    chosen += choice.sample(long, min(count - len(chosen), len(long)))
    return [(name, next(iter(classes[name]))) for name in chosen]


def is_typed(name: str) -> bool:
    """Return whether a name is one that a user types to find a class, and that prose does not have."""
    return len(name) >= _SHORTEST and name.isidentifier() and name[:1].isupper()
