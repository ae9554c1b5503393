"""Share of the functions and classes of each language that `gitmem usages` knows as definitions of names."""

import argparse
import subprocess
from collections import Counter
from pathlib import Path
from typing import Final

from gitmem.chunking.chunk import chunk_blob
from gitmem.chunking.languages import language_of
from gitmem.types import DEFINING, ChunkedBlob
from tests.bench.figures import Figure
from tests.bench.subjects import add_subject_options, iter_subjects, work_folder

FILES: Final = 150
MAX_BYTES: Final = 300_000
LEAST_UNITS: Final = 20
"""Units of a language below which its share says nothing."""

TYPES: Final = frozenset("function method class interface struct trait enum macro".split())


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add repositories."""
    add_subject_options(parser, FILES)


def measure(options: argparse.Namespace) -> list[Figure]:
    """Chunk at most 150 files of each language and repository; compare the units with the definitions of names."""
    units: Counter[str] = Counter()
    known: Counter[str] = Counter()
    with work_folder(options) as work:
        for subject in iter_subjects(options, work):
            for blob in _iter_blobs(subject.path):
                names = defined_names(blob)
                for symbol in symbols_of(blob):
                    units[blob.language] += 1
                    known[blob.language] += symbol in names or symbol.rpartition(".")[2] in names
    return [
        figure
        for language, count in units.most_common()
        if count >= LEAST_UNITS
        for figure in (
            Figure(language, "functions and classes", count, ""),
            Figure(language, "known as definitions", known[language] / count, ""),
        )
    ]


def _iter_blobs(folder: Path) -> list[ChunkedBlob]:
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=folder, capture_output=True, check=True).stdout
    files: Counter[str] = Counter()
    blobs = []
    for name in listing.decode("utf-8", "surrogateescape").split("\0"):
        path, language = folder / name, language_of(name)
        if not name or path.is_symlink() or not path.is_file() or path.stat().st_size > MAX_BYTES:
            continue
        files[language] += 1
        data = path.read_bytes()
        if files[language] <= FILES and b"\0" not in data:
            blobs.append(chunk_blob(data, language))
    return blobs


def symbols_of(blob: ChunkedBlob) -> list[str]:
    """Return the symbols of the functions and classes of a blob."""
    return [
        unit.symbol
        for chunk in blob.chunks
        for unit in chunk.units or (chunk,)
        if unit.chunk_type in TYPES and unit.symbol and ", " not in unit.symbol
    ]


def defined_names(blob: ChunkedBlob) -> set[str]:
    """Return the names that a blob defines."""
    pairs = zip(blob.names.kinds, blob.names.names, strict=True)
    return {name.decode("utf-8", "replace") for kind, name in pairs if kind < DEFINING}
