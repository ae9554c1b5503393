"""Cold query of 32,000 characters, relative to a short one: issues, logs and stack traces may cost twice as much.

The text is made of the repository's own files, so that its words, names and paths occur in the index: a title, prose of
comments, code, and stack traces.
"""

import argparse
import statistics
from pathlib import Path
from typing import Final

from gitmem.answering.search_query import MAX_QUERY
from tests.bench.cold import FILES, QUERIES
from tests.bench.commands import load_gitmem
from tests.bench.figures import Figure
from tests.bench.processes import PYTHON_START, median_cpu
from tests.bench.subjects import add_subject_options, iter_subjects, work_folder

LIMIT: Final = 2.0
LENGTHS: Final = (2_000, 8_000, MAX_QUERY)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add repositories and rounds."""
    add_subject_options(parser, FILES)
    parser.add_argument("--rounds", type=int, default=7, help="runs of each query")


def measure(options: argparse.Namespace) -> list[Figure]:
    """Index each repository, then run short and long queries alternately."""
    gitmem = load_gitmem(options)
    figures: list[Figure] = []
    with work_folder(options) as work:
        for subject in iter_subjects(options, work):
            gitmem.index_report(subject.path)
            text = write_issue(subject.path)
            short = {query: gitmem.query(subject.path, query) for query in QUERIES}
            long = {f"{length:,} characters": gitmem.query(subject.path, text[:length]) for length in LENGTHS}
            seconds = median_cpu({"start": PYTHON_START, **short, **long}, options.rounds)
            base = statistics.median(seconds[query] for query in short)
            figures.append(Figure(subject.name, "short query", base / seconds["start"], "x python start"))
            for name in long:
                figures.append(Figure(subject.name, name, seconds[name] / base, "x short query", at_most=LIMIT))
    return figures


def write_issue(repository: Path) -> str:
    """Return an issue of the maximum length about the files of a repository."""
    sections = ["Connection is closed while a request is pending", "### Steps to reproduce"]
    length = 0
    for path in sorted(repository.rglob("*.py")):
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
        name = path.relative_to(repository).as_posix()
        frames = [
            f'  File "/srv/app/{name}", line {number}, in run\n{line}' for number, line in enumerate(lines[:4], 1)
        ]
        sections += [
            f"It also fails in `{path.stem}` of {name} with another value.",
            "\n".join(["```", *lines[:30], "```"]),
            "\n".join(["```", "Traceback (most recent call last):", *frames, "ValueError: unexpected value", "```"]),
        ]
        length += sum(map(len, sections[-3:]))
        if length > MAX_QUERY:
            break
    return "\n\n".join(sections)[:MAX_QUERY]
