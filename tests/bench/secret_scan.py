"""Cost of the search for secrets, as a share of the CPU time of a full index.

The same texts are scanned in batches of the size that a run uses, alternately with full runs.
"""

import argparse
import statistics
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from gitmem.indexing.blob_batches import BATCH_BLOBS, BATCH_BYTES
from gitmem.secrets.masking import mask_each
from gitmem.settings import Settings
from tests.bench.commands import Gitmem, load_gitmem
from tests.bench.figures import Figure
from tests.bench.subjects import Subject, add_subject_options, git, iter_subjects, work_folder

LIMIT: Final = 0.02
FILES: Final = 500


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add repositories and rounds."""
    add_subject_options(parser, FILES)
    parser.add_argument("--rounds", type=int, default=3, help="full index runs, and scans of all texts")


def measure(options: argparse.Namespace) -> list[Figure]:
    """Index each repository and scan its texts, in turns."""
    gitmem = load_gitmem(options)
    figures: list[Figure] = []
    with work_folder(options) as work:
        for subject in iter_subjects(options, work):
            figures += measure_subject(subject, gitmem, options.rounds)
    return figures


def measure_subject(subject: Subject, gitmem: Gitmem, rounds: int) -> list[Figure]:
    """Measure full runs and scans of one repository. The first of each only warms caches."""
    batches = list(iter_batches(read_texts(subject.path)))
    size = sum(len(text) for batch in batches for text in batch)
    runs, scans = [], []
    for _ in range(rounds + 1):
        subject.drop_index()
        runs.append(gitmem.index_report(subject.path)[1])
        scans.append(scan_cpu(batches))
    run, scan = statistics.median(runs[1:]), statistics.median(scans[1:])
    return [
        Figure(subject.name, "texts", size / 1e6, "MB"),
        Figure(subject.name, "full index", run, "s CPU"),
        Figure(subject.name, "scan", scan / size * 1e9, "ns CPU per byte"),
        Figure(subject.name, "scan", scan / run, "of the full index", at_most=LIMIT),
    ]


def read_texts(folder: Path) -> list[bytes]:
    """Return the contents of the tracked files that look like text and are not too large to be indexed."""
    names = git(folder, "ls-files", "-z").split("\0")[:-1]
    contents = [(folder / name).read_bytes() for name in names if (folder / name).is_file()]
    limit = Settings().max_file_bytes
    return [content for content in contents if len(content) <= limit and b"\0" not in content[:8192]]


def iter_batches(texts: list[bytes]) -> Iterator[list[bytes]]:
    """Yield batches of the size that a run gives to a worker at once."""
    batch: list[bytes] = []
    for text in texts:
        batch.append(text)
        if len(batch) == BATCH_BLOBS or sum(map(len, batch)) >= BATCH_BYTES:
            yield batch
            batch = []
    if batch:
        yield batch


def scan_cpu(batches: list[list[bytes]]) -> float:
    """Return the CPU seconds that masking all batches takes."""
    started = time.process_time()
    for batch in batches:
        mask_each(batch)
    return time.process_time() - started
