"""Re-indexing after a commit that changes ten files, relative to the full index of the same repository.

The limit applies to a repository of 5,000 files.
"""

import argparse
import random
import statistics
from pathlib import Path
from typing import Final

from tests.bench.commands import Gitmem, load_gitmem
from tests.bench.figures import Figure
from tests.bench.processes import python_start_cpu
from tests.bench.subjects import Subject, add_subject_options, git, iter_subjects, work_folder

LIMIT: Final = 1 / 20
FILES: Final = 5000
CHANGED: Final = 10
SIZES: Final = (500, 50_000)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add repositories and rounds."""
    add_subject_options(parser, FILES)
    parser.add_argument("--rounds", type=int, default=5, help="commits of ten changed files each")


def measure(options: argparse.Namespace) -> list[Figure]:
    """Index each repository in full, then commit changes and index again."""
    gitmem = load_gitmem(options)
    figures: list[Figure] = []
    with work_folder(options) as work:
        for subject in iter_subjects(options, work):
            figures += measure_subject(subject, gitmem, options.rounds)
    return figures


def measure_subject(subject: Subject, gitmem: Gitmem, rounds: int) -> list[Figure]:
    """Measure the full run and the median of the small ones."""
    report, full = gitmem.index_report(subject.path)
    dice = random.Random(1)
    candidates = find_candidates(subject.path)
    spent = []
    for number in range(rounds):
        change_files(subject.path, dice.sample(candidates, CHANGED), f"round {number}")
        spent.append(gitmem.index_report(subject.path)[1])
    incremental = statistics.median(spent)
    name = f"index after {CHANGED} changed files"
    return [
        Figure(subject.name, "files", report["files"]),
        Figure(subject.name, "full index", full, "s CPU"),
        Figure(subject.name, name, incremental, "s CPU"),
        Figure(subject.name, name, incremental / python_start_cpu(), "x python start"),
        Figure(subject.name, name, incremental / full, "of the full index", at_most=LIMIT),
        Figure(subject.name, "slowest round", max(spent) / full, "of the full index"),
    ]


def find_candidates(repository: Path) -> list[Path]:
    """Return tracked text files of a usual size."""
    paths = [repository / name for name in git(repository, "ls-files", "-z").split("\0") if name]
    return [path for path in paths if is_usual(path)]


def is_usual(path: Path) -> bool:
    """Return whether a path is a text file that is neither tiny nor huge."""
    if path.is_symlink() or not path.is_file() or not SIZES[0] <= path.stat().st_size <= SIZES[1]:
        return False
    return b"\0" not in path.read_bytes()


def change_files(repository: Path, paths: list[Path], message: str) -> None:
    """Add a line in the middle of each file and commit."""
    mark_files(paths, message)
    git(repository, "commit", "-q", "--no-verify", "-a", "-m", message)


def mark_files(paths: list[Path], message: str) -> None:
    """Add a line in the middle of each file."""
    for path in paths:
        lines = path.read_bytes().splitlines(keepends=True)
        lines.insert(len(lines) // 2, f"// changed in {message}\n".encode())
        path.write_bytes(b"".join(lines))
