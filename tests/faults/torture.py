"""Files made to hurt, each in a worker of its own: no more than two seconds of processor time and 512 MiB. A mebibyte
of noise may take three.

Measured in a copy of a process that has loaded what a worker loads. Where others use the machine as well, the same
work takes up to twice the processor time, never less than alone: the least of some tries counts.
"""

import gc
import os
import random
from functools import cache
from typing import Final, NamedTuple

from gitmem.chunking.chunk_size import DEFAULT_BOUNDS, ChunkBounds
from gitmem.chunking.languages import language_of
from gitmem.embedding.bundled import BundledEncoder
from gitmem.indexing.row_builder import build_rows
from gitmem.indexing.worker_protocol import BlobContent
from tests.faults.report import Tally

SECONDS: Final = 2.0
NOISE_SECONDS: Final = 3.0
"""For a mebibyte of noise in one language after the other, which nobody's repository holds: ninety thousand different
words, which alone cost 1.4 s."""

MEMORY: Final = 512 << 20
TRIES: Final = 3

_PRINTABLE: Final = [*range(32, 127), *([10] * 5)]


def text_noise(size: int, seed: str) -> bytes:
    """Printable characters, five in a hundred a line feed."""
    return bytes(random.Random(seed).choices(_PRINTABLE, k=size))


@cache
def hostile_files() -> dict[str, bytes]:
    """The files by name. Made at the first call: the collection of the tests takes no time for them."""
    return {
        "line.js": b"let a=1;" * 131_000,
        "too_large.js": b"let a=1;" * 1_300_000,
        "noise.py": random.Random(7).randbytes(1 << 20),
        "text_noise.py": text_noise(1 << 19, "py"),
        "text_noise.cpp": text_noise(1 << 19, "cpp"),
        "nested.json": b"[\n" * 500_000,
        "nested.py": b"(\n" * 500_000,
        "deep.py": b"".join(b" " * depth + b"if x:\n" for depth in range(1400)),
        "ambiguous.cpp": b"a<b<\n" * 200_000,
        "ambiguous.ts": b"a<\n" * 340_000,
        "tags.html": b"<a>\n" * 250_000,
        "same.py": b"x = 1\n" * 170_000,
        "names.py": b"".join(b"v%x_%x=%d\n" % (n, n * 7919, n) for n in range(50_000)),
        "titles.md": b"# a\n" * 250_000,
        "utf16.py": "x = 1\n".encode("utf-16") * 80_000,
        "returns.py": b"x = 1\r" * 170_000,
        "marks.txt": ("a" + "\u0301" * 5000 + "\n").encode() * 100,
        "broken.txt": b"\xff\xfe\xc0\x80 text\n" * 50_000,
        "nul.c": b"int x;\0" * 100_000,
        "pointer.bin": b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 1\n",
    }


ENDINGS: Final = tuple("py cpp c ts js rb html md json hs go java sh yaml rs php cs swift kt scala sql css txt".split())


class Cost(NamedTuple):
    """Processor seconds, bytes in memory at the most, what became of the file; whether the process ended well."""

    seconds: float
    memory: int
    outcome: str
    well: bool


def measure(name: str, data: bytes, bounds: ChunkBounds = DEFAULT_BOUNDS) -> Cost:
    """Digest a file in a copy of this process."""
    encoder = _warm()
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            rows = build_rows([BlobContent(language_of(name), data)], encoder, bounds)
            os.write(write_end, rows.blobs[0].outcome.encode())
            code = 0
        finally:
            os._exit(code)
    os.close(write_end)
    with os.fdopen(read_end, "rb") as told:
        outcome = told.read().decode()
    _, status, used = os.wait4(child, 0)
    return Cost(used.ru_utime + used.ru_stime, used.ru_maxrss << 10, outcome, status == 0)


@cache
def _warm() -> BundledEncoder:
    """What a worker has done before its first batch."""
    encoder = BundledEncoder()
    gc.set_threshold(50_000)
    build_rows([BlobContent("python", b"def f():\n    return 1\n")], encoder)
    return encoder


def run(*, long: bool, slack: float = 1.0) -> Tally:
    """Each file, and a mebibyte of noise in each of many languages; or half of the files, and one language.

    `slack` is for busy machines. The other half is indexed in `tests/indexing/test_torture.py`, all in one run.
    """
    tally = Tally("files made to hurt")
    noise = {f"mebibyte.{ending}": text_noise(1 << 20, ending) for ending in (ENDINGS if long else ENDINGS[:1])}
    files = dict(list(hostile_files().items())[:: 1 if long else 2])
    for name, data in {**files, **noise}.items():
        cost = min(measure(name, data) for _ in range(TRIES)) if slack == 1.0 else measure(name, data)
        told = f"{name}: {cost.seconds:.2f} s, {cost.memory >> 20} MiB, {cost.outcome}"
        if slack == 1.0:
            print(told, flush=True)
        seconds = NOISE_SECONDS if name in noise else SECONDS
        fine = cost.well and cost.seconds < slack * seconds and cost.memory < MEMORY
        tally.note(name, [] if fine else [told])
    return tally


def run_control() -> Tally:
    """Without bounds on a parse."""
    tally = Tally("files made to hurt, unbounded", control=True)
    cost = measure(
        "ambiguous.cpp", hostile_files()["ambiguous.cpp"], ChunkBounds(parse_seconds=10.0, parse_memory=1 << 30)
    )
    fine = cost.seconds < SECONDS and cost.memory < MEMORY
    tally.note("ambiguous.cpp", [] if fine else [f"{cost.seconds:.2f} s, {cost.memory >> 20} MiB"])
    return tally
