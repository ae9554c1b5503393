"""Repositories with hooks, environments in which git runs them, and waiting for the background process."""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from gitmem.freshness.currency import is_current
from gitmem.install.hook_setup import install_hooks
from gitmem.locks import is_locked
from gitmem.paths import DIRTY
from gitmem.workspace import open_workspace
from tests.gitrepo import IDENTITY, ISOLATION, Repo, isolated_environment

ENVIRONMENTS: Final = ("normal", "bare path", "no home", "captured", "linked worktree", "gitmem gone")
PROGRAM: Final = (sys.executable, "-P", "-m", "gitmem")
FILE_HOOKS: Final = (2, 53)
"""Version of git without hooks in its configuration."""

BARE_PATH: Final = "/usr/bin:/bin"
PATIENCE_SECONDS: Final = 300.0
"""Seconds until a test gives up; a wait ends with its event."""


@dataclass(slots=True)
class Run:
    """One git command: its exit code and output, and the seconds until the caller had read all output."""

    args: tuple[str, ...]
    code: int
    out: bytes
    seconds: float


@dataclass(slots=True)
class World:
    """A working tree, the environment of its git commands, and all commands run so far."""

    path: Path
    environment: dict[str, str]
    captured: bool = False
    runs: list[Run] = field(default_factory=list)
    commits: int = 0

    def git(self, *args: str, stdin: bytes = b"") -> Run:
        """Run git as its user would; standard error counts as output."""
        started = time.perf_counter()
        code, out = (_run_captured if self.captured else _run_to_file)(args, self, stdin)
        run = Run(args, code, out, time.perf_counter() - started)
        self.runs.append(run)
        return run

    def write(self, name: str, content: str) -> None:
        """Write a file of the working tree, and add it."""
        (self.path / name).write_text(content)
        self.git("add", name)

    def commit(self, name: str, *options: str) -> None:
        """Commit a new file."""
        self.commits += 1
        self.write(f"{name}.py", f"def {name}(value):\n    return value + {self.commits}\n")
        self.git("commit", "-q", "-m", f"add {name}", *options)


def _run_captured(args: Sequence[str], world: World, stdin: bytes) -> tuple[int, bytes]:
    """Wait until every process has closed the pipe, like a program that reads all output."""
    done = subprocess.run(["git", *args], cwd=world.path, env=world.environment, input=stdin, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False)  # fmt: skip
    return done.returncode, done.stdout


def _run_to_file(args: Sequence[str], world: World, stdin: bytes) -> tuple[int, bytes]:
    with tempfile.TemporaryFile() as file:
        done = subprocess.run(["git", *args], cwd=world.path, env=world.environment, input=stdin, stdout=file,
                              stderr=subprocess.STDOUT, check=False)  # fmt: skip
        file.seek(0)
        return done.returncode, file.read()


def make_world(base: Path, environment: str, hooks: str) -> World:
    """Make a repository with an index and hooks: `gitmem`, `empty`, or `naive` ones that run gitmem and wait."""
    shutil.rmtree(base, ignore_errors=True)
    repo = Repo.init(base / "repo")
    repo.git("config", "gc.auto", "0")
    repo.commit({"start.py": "def start():\n    return 0\n", "shared.py": "def shared():\n    return 0\n"})
    repo.git("clone", "-q", str(repo.path), str(base / "upstream"))
    path = repo.path
    if environment == "linked worktree":
        path = base / "linked"
        repo.git("worktree", "add", "-q", "-b", "side", str(path))
    if hooks != "empty":
        _index(repo)
    _install(repo, hooks, gone=environment == "gitmem gone")
    return World(path, _environment(base, environment), captured=environment == "captured")


def _index(repo: Repo) -> None:
    command = [*PROGRAM, "--quiet", "init", "--no-hooks", "--no-mcp"]
    subprocess.run(command, cwd=repo.path, env=isolated_environment(), check=True, capture_output=True)


def _install(repo: Repo, hooks: str, *, gone: bool) -> None:
    program = ("/nowhere/bin/gitmem",) if gone else PROGRAM
    location = open_workspace(repo.path, {}).location
    report = install_hooks(location, program, FILE_HOOKS)
    if hooks == "gitmem":
        return
    body = {"empty": "exit 0\n", "naive": f"exec {program[0]} -P -m gitmem index\n"}[hooks]
    for state in report.states:
        (report.location / state.event).write_text(f"#!/bin/sh\n{body}")


def _environment(base: Path, environment: str) -> dict[str, str]:
    if environment == "no home":
        return {"PATH": BARE_PATH, **ISOLATION, **IDENTITY}
    environ = isolated_environment()
    if environment in ("bare path", "gitmem gone"):
        return environ | {"PATH": BARE_PATH}
    return environ | {"PATH": f"{program_folder(base)}{os.pathsep}{environ['PATH']}"}


def program_folder(base: Path) -> Path:
    """Return a folder for PATH that contains `gitmem`, like that of an installation."""
    folder = base / "bin"
    folder.mkdir(exist_ok=True)
    program = folder / "gitmem"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -P -m gitmem "$@"\n')
    program.chmod(0o755)
    return folder


def slow_program(base: Path) -> tuple[str, ...]:
    """Make a program to install instead of gitmem. It appends `started` to `calls` and runs while `hold` exists.

    It ends by itself after half a minute and then writes `ended`, so that a hook that waits for it fails a test.
    """
    program = base / "slow"
    program.write_text(
        f"""#!/bin/sh
echo started >>{base}/calls
for _ in $(seq 600); do [ -e {base}/hold ] || exit 0; sleep 0.05; done
touch {base}/ended
"""
    )
    program.chmod(0o755)
    (base / "hold").touch()
    return (str(program),)


def settle(path: Path) -> bool:
    """Wait for the background process; return whether HEAD is fully indexed then."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        workspace = open_workspace(path, {})
        if workspace.location.head_tree and is_current(workspace, workspace.location.head_tree) and is_idle(path):
            return True
        time.sleep(0.05)
    return False


def is_idle(path: Path) -> bool:
    """Return whether no working tree is marked dirty and no background process runs."""
    paths = open_workspace(path, {}).paths
    if any(paths.state.glob(f"{DIRTY}*")) or any(paths.state.glob("taken-*")):
        return False
    return not is_locked(paths.background_lock)
