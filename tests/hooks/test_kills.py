"""An installation killed at any change on disk leaves the existing hook working; the next one completes it."""

import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gitmem import fsio
from gitmem.install.hook_state import INSTALLED
from tests.actions.test_uninstall import fingerprint
from tests.faults.dying_disk import DyingDisk, Killed
from tests.gitrepo import Repo
from tests.install.test_hook_setup import install, run_hook, state_of, uninstall, write_hook

HOOKS = {
    "shell": b"#!/bin/sh\necho mine\n",
    "python": f"#!{sys.executable}\nprint('mine')\n".encode(),
    "none": None,
    "no folder": None,
}


def run_dying(monkeypatch: pytest.MonkeyPatch, at: int, do: Callable[[], object]) -> bool:
    """Run an action; return whether it was killed before its end."""
    with monkeypatch.context() as patch:
        patch.setattr(fsio, "disk", DyingDisk(at))
        try:
            do()
        except Killed:
            return True
    return False


def start(repo: Repo, kind: str) -> dict[str, str]:
    content = HOOKS[kind]
    if content is not None:
        write_hook(repo, content)
    if kind == "no folder":
        shutil.rmtree(repo.path / ".git" / "hooks")
    return fingerprint(repo.path)


def assert_hook_works(repo: Repo, kind: str) -> None:
    file = repo.path / ".git" / "hooks" / "post-commit"
    elsewhere = {"GIT_DIR": str(repo.path.parent)}  # the hook creates a file there for a while
    if HOOKS[kind] is not None:
        assert run_hook(file, env=elsewhere).stdout == b"mine\n"
    elif file.exists():
        assert run_hook(file, env=elsewhere).stdout == b""


def remove_empty(folder: Path) -> None:
    """Remove a folder that only the killed run knew to be new."""
    if folder.is_dir():
        folder.rmdir()


@pytest.mark.parametrize("kind", HOOKS)
@pytest.mark.parametrize("killed", ["install", "uninstall"])
def test_killed_at_any_change(
    repo: Repo, tmp_path: Path, program: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, kind: str, killed: str
) -> None:
    monkeypatch.setattr("gitmem.install.hook_setup.EVENTS", ("post-commit",))
    before = start(repo, kind)
    points = 0
    while True:
        if killed == "uninstall":
            install(repo, program)
        do = (lambda: install(repo, program)) if killed == "install" else (lambda: uninstall(repo))
        died = run_dying(monkeypatch, points, do)
        assert_hook_works(repo, kind)
        assert state_of(install(repo, program)).state == INSTALLED
        assert_hook_works(repo, kind)
        uninstall(repo)
        if kind == "no folder" and died:
            remove_empty(repo.path / ".git" / "hooks")
        assert fingerprint(repo.path) == before, f"{killed}, killed at change {points}"
        if not died:
            break
        points += 1
    assert points >= (5 if killed == "install" else 1)
