"""Too little of something: open files, memory, room in a file. One clear error, and the old index serves."""

import subprocess
import sys
from pathlib import Path

import pytest

from gitmem.errors import ExitCode
from gitmem.store.manifest import find_manifest
from tests.faults.kill import ROOT
from tests.faults.oracle import find_faults
from tests.faults.worlds import fill
from tests.gitrepo import Repo, isolated_environment
from tests.indexes import workspace_of

resource = pytest.importorskip("resource")

MEBIBYTE = 1 << 20
GIVEN_UP = "OpenBLAS error"
"""What numpy's library prints before it ends the process, at a few sizes of memory: nobody can catch it."""


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    """A repository with an index, made by the real program."""
    made = Repo.init(tmp_path / "repo")
    fill(made, "base", 6)
    done = gitmem(made, "init", "--no-hooks", "--no-mcp")
    assert done.returncode == 0, done.stderr
    return made


def gitmem(repo: Repo, *args: str, limit: tuple[int, int] | None = None) -> subprocess.CompletedProcess[str]:
    """Run the program; `limit` is a resource and its amount.

    The limit holds from the start of gitmem on. An interpreter that is limited before it has read its own library
    may die there, all the more under coverage, which needs memory too.
    """
    environment = isolated_environment() | {"PYTHONPATH": str(ROOT), "HOME": str(repo.path.parent), "GITMEM_JOBS": "1"}
    for name in [name for name in environment if name.startswith("COVERAGE_")]:
        del environment[name]
    enforce = f"import resource; resource.setrlimit({limit[0]}, ({limit[1]}, {limit[1]})); " if limit else ""
    start = f"{enforce}import runpy; runpy.run_module('gitmem', run_name='__main__', alter_sys=True)"
    command = [sys.executable, "-c", start, "-C", str(repo.path), *args]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def assert_told(done: subprocess.CompletedProcess[str]) -> bool:
    """Whether it worked; where it did not, it says so in a line, with a hint at most."""
    if done.returncode == 0:
        return True
    if GIVEN_UP in done.stderr:
        return False
    lines = done.stderr.splitlines()
    assert done.returncode == ExitCode.FAILED, done.stderr
    assert lines[0].startswith("error: "), done.stderr
    assert "gitmem failed" not in lines[0], done.stderr
    assert [line[:6] for line in lines[1:]] in ([], ["hint: "]), done.stderr
    return False


def assert_unharmed(repo: Repo) -> None:
    """All rows are there, whole, and found."""
    paths = workspace_of(repo).paths
    manifest = find_manifest(paths.manifest)
    assert manifest is not None
    assert (manifest.rows, find_faults(paths)) == (12, [])
    done = gitmem(repo, "query", "--no-refresh", "-n", "1", "base load")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("command", [("index", "--full"), ("query", "base load")])
def test_with_few_open_files_it_works_or_says_so(repo: Repo, command: tuple[str, ...]) -> None:
    worked = []
    for files in (4, 6, 11, 15, 40):
        done = gitmem(repo, *command, limit=(resource.RLIMIT_NOFILE, files))
        worked.append(assert_told(done))
        if files == 6:
            assert "ulimit -n" in done.stderr
        assert_unharmed(repo)
    assert worked[-1]


@pytest.mark.skipif(sys.platform != "linux", reason="needs a system that limits the memory of a process")
@pytest.mark.parametrize("command", [("index", "--full"), ("query", "base load")])
def test_with_little_memory_it_works_or_says_so(repo: Repo, command: tuple[str, ...]) -> None:
    """Among these are sizes that suffice for the program and not for its workers."""
    worked = []
    for size in (20, 120, 175, 190, 2000):
        done = gitmem(repo, *command, limit=(resource.RLIMIT_AS, size * MEBIBYTE))
        worked.append(assert_told(done))
        assert_unharmed(repo)
    assert not worked[0]
    assert worked[-1]


def test_with_files_that_may_not_grow_the_old_index_serves(repo: Repo) -> None:
    """`ulimit -f`, and quotas that are enforced the same way."""
    fill(repo, "more", 6)
    for most in (0, 100, 1000):
        done = gitmem(repo, "index", limit=(resource.RLIMIT_FSIZE, most))
        assert not assert_told(done)
        assert "File too large" in done.stderr
        assert_unharmed(repo)
