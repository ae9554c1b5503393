"""The hook that ships with gitmem, in a real repository: the commit is not held up, and the index follows it."""

import json
import os
import shutil
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gitmem.paths import bundled
from tests.gitrepo import Repo, isolated_environment

PATIENCE_SECONDS = 60


@pytest.fixture
def hooked(tmp_path: Path) -> Repo:
    repo = Repo.init(tmp_path / "repo")
    repo.commit({"old.py": "def old_thing():\n    return 1\n"})
    target = repo.path / ".git" / "hooks" / "post-commit"
    target.parent.mkdir(exist_ok=True)
    shutil.copy(bundled("hooks") / "post-commit", target)
    target.chmod(target.stat().st_mode | stat.S_IXUSR)
    return repo


def program_folder(tmp_path: Path) -> Path:
    """A folder for PATH that holds `gitmem`, as an installation would."""
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / "gitmem"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -P -m gitmem "$@"\n')
    program.chmod(0o755)
    return folder


def status(repo: Repo) -> dict[str, object]:
    command = [sys.executable, "-m", "gitmem", "status", "--json"]
    done = subprocess.run(command, cwd=repo.path, env=isolated_environment(), capture_output=True, check=True)
    found: dict[str, object] = json.loads(done.stdout)
    return found


def test_a_commit_is_indexed_behind_the_back_of_its_author(hooked: Repo, tmp_path: Path) -> None:
    folder = program_folder(tmp_path)
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    hooked.write({"new.py": "def new_thing():\n    return 2\n"})
    hooked.git("add", "--all")
    printed = hooked.git("commit", "-q", "-m", "new thing", env={"PATH": path})
    assert printed == ""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while status(hooked)["state"] != "Up to Date":
        assert time.monotonic() < deadline, status(hooked)
        time.sleep(0.2)


def test_without_gitmem_a_commit_goes_through_silently(hooked: Repo, tmp_path: Path) -> None:
    bare = tmp_path / "bare"
    bare.mkdir()
    for name in ("git", "sh"):
        found = shutil.which(name)
        assert found
        (bare / name).symlink_to(found)
    hooked.write({"new.py": "def new_thing():\n    return 2\n"})
    hooked.git("add", "--all")
    command = ["git", "commit", "-m", "new thing", "-q"]
    done = subprocess.run(
        command, cwd=hooked.path, env={**isolated_environment(), "PATH": str(bare)}, capture_output=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert not (hooked.path / ".gitmem").exists()
