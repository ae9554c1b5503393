"""Ctrl-C at any moment ends with 130, without traceback or remaining processes, and the next run continues."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from gitmem.errors import ExitCode
from tests.gitrepo import Repo
from tests.sample import Cli

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc to see processes")

MARK = "TEST_GITMEM_RUN"
PATIENCE = 300.0


@pytest.fixture
def large(tmp_path: Path) -> Repo:
    """Make a repository that takes a few seconds to index."""
    repo = Repo.init(tmp_path / "large")
    body = "\n\n".join(
        f"def part_{{0}}_{n}(value):\n    result = value * {n}\n    return result + {n}" for n in range(60)
    )
    repo.commit({f"pack/module_{number}.py": body.format(number) + "\n" for number in range(150)})
    return repo


def run_until(repo: Repo, moment: Callable[[Path, int], bool], number: int) -> tuple[int, str, str]:
    """Start `gitmem init` and send a signal at a moment; return exit code, standard output and standard error."""
    environment = {**os.environ, MARK: str(repo.path)}
    process = subprocess.Popen(
        [sys.executable, "-m", "gitmem", "init"],
        cwd=repo.path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),  # background jobs ignore SIGINT
    )  # fmt: skip
    deadline = time.monotonic() + PATIENCE
    while not moment(repo.path / ".gitmem", process.pid) and process.poll() is None:
        assert time.monotonic() < deadline, "the moment was not reached"
        time.sleep(0.002)
    process.send_signal(number)
    out, err = process.communicate(timeout=PATIENCE)
    return process.returncode, out, err


def living_children(repo: Repo) -> list[int]:
    """Wait for the processes that a run for this repository started to end; return the living ones."""
    deadline = time.monotonic() + PATIENCE
    while (alive := _processes_with_mark(str(repo.path))) and time.monotonic() < deadline:
        time.sleep(0.02)
    return alive


def _processes_with_mark(value: str) -> list[int]:
    mark = f"{MARK}={value}".encode()
    pids = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal() and int(folder.name) != os.getpid():
            try:
                if mark in (folder / "environ").read_bytes().split(b"\0"):
                    pids.append(int(folder.name))
            except OSError:
                continue
    return pids


def index_exists(index: Path, _: int) -> bool:
    return index.is_dir()


def is_locked(index: Path, _: int) -> bool:
    return (index / "lock").exists()


def has_view(index: Path, _: int) -> bool:
    return (index / "views").is_dir() and any((index / "views").iterdir())


def has_worker(_: Path, process: int) -> bool:
    """Return whether a run has a worker: only workers have a session of their own, forked or not."""
    try:
        return any(
            os.getsid(int(child)) == int(child)
            for task in Path(f"/proc/{process}/task").iterdir()
            for child in (task / "children").read_text().split()
        )
    except OSError:
        return False


def has_segment(index: Path, _: int) -> bool:
    return (index / "segments").is_dir() and any((index / "segments").iterdir())


MOMENTS = [index_exists, is_locked, has_view, has_worker, has_segment]


@pytest.mark.parametrize("moment", MOMENTS)
def test_an_interrupted_init_ends_without_traceback_and_is_resumed(
    cli: Cli, large: Repo, moment: Callable[[Path, int], bool]
) -> None:
    code, _, err = run_until(large, moment, signal.SIGINT)
    assert code in (ExitCode.INTERRUPTED, ExitCode.OK), err
    assert "Traceback" not in err
    assert living_children(large) == []
    assert cli("status", cwd=large.path).code in (ExitCode.OK, ExitCode.NO_INDEX)
    outcome = cli("init", cwd=large.path)
    assert outcome.code == 0, outcome
    assert "sound: " in cli("verify", cwd=large.path).out
    assert cli("query", "-l", "-n", "1", "part_149_59", cwd=large.path).out == "pack/module_149.py\n"


def test_an_interrupt_before_the_first_segment_is_130(large: Repo) -> None:
    code, out, err = run_until(large, has_worker, signal.SIGINT)
    assert (code, out) == (130, "")
    assert err.startswith("stopped ")
    assert err.endswith("; completed work is kept, continue with: gitmem index\n")


def test_a_terminated_run_leaves_no_process_and_no_lock(cli: Cli, large: Repo) -> None:
    code, _, err = run_until(large, has_worker, signal.SIGTERM)
    assert code == -signal.SIGTERM
    assert "Traceback" not in err
    assert living_children(large) == []
    assert cli("index", "--no-wait", cwd=large.path).code == 0
