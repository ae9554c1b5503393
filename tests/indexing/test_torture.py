"""Files made to hurt, indexed by the real program: the run goes through, in bounded memory and processor time."""

import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.gitrepo import Repo, isolated_environment

MEMORY: Final = 512 << 20
SECONDS: Final = 2.0
"""Of processor time, for a file."""

MEASURE: Final = (
    "import json, resource, subprocess, sys\n"
    "done = subprocess.run(sys.argv[1:], capture_output=True, text=True)\n"
    "used = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
    "told = [done.returncode, done.stdout, done.stderr]\n"
    "print(json.dumps([*told, used.ru_maxrss * 1024, used.ru_utime + used.ru_stime]))\n"
)

NOISE: Final = random.Random(7)
PRINTABLE: Final = [*range(32, 127), *([10] * 5)]
FILES: Final[dict[str, bytes]] = {
    "line.js": b"let a=1;" * 131_000,
    "too_large.js": b"let a=1;" * 1_300_000,
    "noise.py": NOISE.randbytes(1 << 20),
    "text_noise.py": bytes(NOISE.choices(PRINTABLE, k=1 << 19)),
    "text_noise.cpp": bytes(NOISE.choices(PRINTABLE, k=1 << 19)),
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


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs /proc to see the memory in use")
def test_files_made_to_hurt_are_indexed_within_bounds(tmp_path: Path) -> None:
    repo = Repo.init(tmp_path / "repo")
    repo.commit({**FILES, **{f"copy{n}.txt": b"the same text\n" for n in range(300)}, "good.py": b"def fine(): pass\n"})
    home = tmp_path / "home"
    environment = isolated_environment() | {"HOME": str(home), "GITMEM_JOBS": "1"}
    command = [sys.executable, "-m", "gitmem", "-C", str(repo.path), "index"]
    measured = subprocess.run(
        [sys.executable, "-c", MEASURE, *command], env=environment, capture_output=True, text=True, check=True
    )
    code, out, err, memory, seconds = json.loads(measured.stdout)
    assert code == 0, err
    assert out.startswith("indexed ")
    assert memory < MEMORY
    assert seconds < SECONDS * len(FILES)
    asked = subprocess.run([*command[:-1], "query", "-l", "-n", "1", "fine"], env=environment, capture_output=True)
    assert os.fsdecode(asked.stdout) == "good.py\n"
