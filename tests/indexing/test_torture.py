"""Pathological files, indexed by the real program: the run succeeds in bounded memory and processor time."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.faults.torture import MEMORY, SECONDS, hostile_files
from tests.gitrepo import Repo, isolated_environment

SLACK: Final = 3.0
"""Factor for busy machines, whose processes displace each other from the caches. Without bounds on a parse one of the
files alone takes several times as long as all of them may."""

MEASURE: Final = (
    "import json, resource, subprocess, sys\n"
    "done = subprocess.run(sys.argv[1:], capture_output=True, text=True)\n"
    "used = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
    "result = [done.returncode, done.stdout, done.stderr]\n"
    "print(json.dumps([*result, used.ru_maxrss * 1024, used.ru_utime + used.ru_stime]))\n"
)


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs /proc to see the memory in use")
def test_pathological_files_are_indexed_within_bounds(tmp_path: Path, home: Path) -> None:
    repo = Repo.init(tmp_path / "repo")
    repo.commit(
        {
            **hostile_files(),
            **{f"copy{n}.txt": b"the same text\n" for n in range(300)},
            "good.py": b"def fine(): pass\n",
        }
    )
    environment = isolated_environment() | {"HOME": str(home), "GITMEM_JOBS": "1"}
    command = [sys.executable, "-m", "gitmem", "-C", str(repo.path), "index"]
    measured = subprocess.run(
        [sys.executable, "-c", MEASURE, *command], env=environment, capture_output=True, text=True, check=True
    )
    code, out, err, memory, seconds = json.loads(measured.stdout)
    assert code == 0, err
    assert out.startswith("indexed ")
    assert memory < MEMORY
    assert seconds < SLACK * SECONDS * len(hostile_files())
    query = subprocess.run([*command[:-1], "query", "-l", "-n", "1", "fine"], env=environment, capture_output=True)
    assert os.fsdecode(query.stdout) == "good.py\n"
