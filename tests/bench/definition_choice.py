"""Whether the definition that a sentence describes is the one shown for its file.

The documentation is removed from a copy of each repository: docstrings of Python, comments above definitions of Go,
Rust, Kotlin, Java, JavaScript and TypeScript. Its first sentences are the queries. Files of tests, examples and
documentation are left out as targets, and sentences that several definitions share.
"""

import argparse
import os
import random
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gitmem.answering.answer import answer
from gitmem.answering.search_query import Query
from gitmem.workspace import open_workspace
from tests.bench.commands import Gitmem, load_gitmem
from tests.bench.figures import Figure
from tests.bench.processes import run
from tests.bench.scoring import DEPTH, mean
from tests.bench.subjects import Subject, add_subject_options, git, iter_subjects, work_folder
from tests.bench.undocumented import Documented, has_documentation, remove_documentation

LEAST: Final = 0.5
"""Least share of found files that show the right definition."""

_OTHER: Final = re.compile(r"test|spec|example|sample|bench|docs?/|demo|vendor", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Target:
    """Definition of a file that a query describes."""

    path: str
    definition: Documented


@dataclass(frozen=True, slots=True)
class Shown:
    """Result of a query: its path, lines and the names that it defines, without containers."""

    path: str
    lines: range
    names: frozenset[str]

    def is_of(self, target: Target) -> bool:
        """Return whether the result is the definition itself."""
        definition = target.definition
        return self.path == target.path and definition.line in self.lines and definition.name in self.names


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add repositories and the number of queries."""
    add_subject_options(parser, 500)
    parser.add_argument("--queries", type=int, default=160, help="most queries of each repository")


def measure(options: argparse.Namespace) -> list[Figure]:
    """Ask for definitions of each repository by sentences about them."""
    with work_folder(options) as work:
        return [
            figure
            for subject in iter_subjects(options, work)
            for figure in measure_subject(subject, options.queries, load_gitmem(options))
        ]


def measure_subject(subject: Subject, count: int, gitmem: Gitmem) -> list[Figure]:
    """Return how often the file is found, and how often it shows the right definition then."""
    targets = choose(remove_all(subject.path), count)
    run(gitmem.index(subject.path))
    workspace = open_workspace(subject.path, os.environ)
    files: list[float] = []
    ranks: list[float] = []
    shown: list[float] = []
    for target in targets:
        result = answer(workspace, Query(target.definition.sentence, DEPTH), refresh=False)
        results = [
            Shown(hit.path, range(hit.start_line, hit.end_line + 1), frozenset(re.split(r"\W+", hit.symbol)))
            for hit, _ in result.hits
        ]
        first = next((one for one in results if one.path == target.path), None)
        files.append(float(first is not None))
        ranks.append(next((1 / rank for rank, one in enumerate(results, 1) if one.is_of(target)), 0.0))
        if first is not None:
            shown.append(float(first.is_of(target)))
    return [
        Figure(subject.name, "queries", len(targets)),
        Figure(subject.name, f"file among {DEPTH} results", mean(files)),
        Figure(subject.name, "right definition shown for the file", mean(shown), at_least=LEAST),
        Figure(subject.name, "mean reciprocal rank of the definition", mean(ranks)),
    ]


def remove_all(folder: Path) -> list[Target]:
    """Remove the documentation from the files of a repository, commit that, and return the described definitions."""
    targets: list[Target] = []
    for path in git(folder, "ls-files", "-z").split("\0"):
        file = folder / path
        if not has_documentation(path) or file.is_symlink() or not file.is_file():
            continue
        text, found = remove_documentation(path, file.read_text(errors="replace"))
        file.write_text(text)
        if not _OTHER.search(path):
            targets += [Target(path, definition) for definition in found]
    git(folder, "commit", "-q", "-a", "--no-verify", "--allow-empty", "-m", "Remove documentation")
    return targets


def choose(targets: Sequence[Target], count: int) -> list[Target]:
    """Return at most `count` targets, always the same ones, whose sentences describe nothing else."""
    times = Counter(target.definition.sentence for target in targets)
    unique = [target for target in targets if times[target.definition.sentence] == 1]
    return random.Random(5).sample(unique, min(count, len(unique)))
