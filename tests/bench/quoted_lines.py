"""Whether a pasted line finds its place: the mean reciprocal rank of the result that has the line.

The lines are those of plain code that occur once in the files of a repository, without comments and imports. Their
words occur elsewhere: in the functions that they call, for example.
"""

import argparse
import random
from pathlib import Path
from typing import Final

from gitmem.answering.searched_trees import path_weight
from tests.bench.commands import Gitmem, load_gitmem
from tests.bench.figures import Figure
from tests.bench.inprocess import open_answers
from tests.bench.name_quality import reciprocal_rank, summarise
from tests.bench.processes import run
from tests.bench.scoring import mean
from tests.bench.subjects import Subject, add_subject_options, git, iter_subjects, work_folder

LEAST: Final = 0.9
"""Least mean reciprocal rank."""

_ENDINGS: Final = tuple(
    ".c .cc .cpp .cs .ex .go .h .hs .java .js .kt .lua .php .py .rb .rs .scala .swift .ts .zig".split()
)
_SKIPPED: Final = ("//", "#", "*", "/*", "--", "import", "from", "use ", "using")
_SHORTEST, _LONGEST = 25, 120
_SEED: Final = 3


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add repositories and the number of lines."""
    add_subject_options(parser, 1)
    parser.add_argument("--lines", type=int, default=15, help="most lines of a repository")


def measure(options: argparse.Namespace) -> list[Figure]:
    """Search each repository for some of its lines."""
    ranks: dict[str, list[float]] = {}
    with work_folder(options) as work:
        for subject in iter_subjects(options, work):
            ranks[subject.name] = measure_subject(subject, options.lines, load_gitmem(options))
    figures = [Figure(name, "reciprocal rank", mean(own)) for name, own in ranks.items() if own]
    return [*figures, *summarise("lines", [rank for own in ranks.values() for rank in own], LEAST)]


def measure_subject(subject: Subject, count: int, gitmem: Gitmem) -> list[float]:
    """Return the reciprocal rank of the place of each line."""
    run(gitmem.index(subject.path))
    search = open_answers(subject.path)
    return [reciprocal_rank(search(line), path, number) for line, path, number in choose_lines(subject.path, count)]


def choose_lines(folder: Path, count: int) -> list[tuple[str, str, int]]:
    """Return lines that occur once in the files of a repository, with their paths and numbers."""
    places: dict[str, list[tuple[str, int]]] = {}
    for path in git(folder, "ls-files", "-z").split("\0"):
        if path.endswith(_ENDINGS) and (folder / path).is_file():
            text = (folder / path).read_text(encoding="utf-8", errors="replace")
            for number, line in enumerate(text.split("\n"), 1):
                if _SHORTEST <= len(line.strip()) <= _LONGEST:
                    places.setdefault(line.strip(), []).append((path, number))
    single = sorted(
        (line, *where[0])
        for line, where in places.items()
        if len(where) == 1 and path_weight(where[0][0]) == 1 and not line.startswith(_SKIPPED)
    )
    return random.Random(_SEED).sample(single, min(count, len(single)))
