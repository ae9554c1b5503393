"""Size of the index relative to the indexed text."""

import argparse
from pathlib import Path
from typing import Final

from tests.bench.commands import load_gitmem
from tests.bench.figures import Figure
from tests.bench.subjects import add_subject_options, iter_subjects, work_folder

LIMIT: Final = 1.0
FILES: Final = 2000


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add repositories."""
    add_subject_options(parser, FILES)


def measure(options: argparse.Namespace) -> list[Figure]:
    """Index each repository and add up the files of its index."""
    gitmem = load_gitmem(options)
    figures: list[Figure] = []
    with work_folder(options) as work:
        for subject in iter_subjects(options, work):
            report, _ = gitmem.index_report(subject.path)
            text, index = report["text_bytes"], bytes_below(subject.path / ".gitmem")
            figures += [
                Figure(subject.name, "text indexed", text / 1e6, "MB"),
                Figure(subject.name, "index", index / 1e6, "MB"),
                Figure(subject.name, "index", index / report["chunks"], "bytes per chunk"),
                Figure(subject.name, "index", index / text, "of the text", at_most=LIMIT),
            ]
    return figures


def bytes_below(folder: Path) -> int:
    """Return the total size of all files below a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
