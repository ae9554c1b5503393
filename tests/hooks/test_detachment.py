"""Git, and programs that run hooks, go on while gitmem still runs."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from gitmem.install.configured_hooks import SINCE
from gitmem.locks import writer_lock
from tests.gitrepo import Repo, isolated_environment
from tests.hooks.test_background import await_true, hook, outcomes
from tests.hooks.worlds import BARE_PATH, FILE_HOOKS, is_idle, slow_program
from tests.install.test_hook_setup import install
from tests.sample import open_sample

ENVIRONMENT = {"PATH": BARE_PATH}


def by_commit(repo: Repo) -> None:
    repo.write({"new.py": "def new_thing():\n    return 1\n"})
    repo.git("add", "--all", env=ENVIRONMENT)
    repo.git("commit", "-q", "-m", "new", env=ENVIRONMENT)


def by_configured_command(repo: Repo) -> None:
    """Run the command as git 2.54 does, which this machine may lack."""
    install(repo, (str(repo.path.parent / "slow"),), SINCE)
    command = repo.git("config", "hook.gitmem.command")
    shell = ["/bin/sh", "-c", f'{command} "$@"', command]
    subprocess.run(shell, cwd=repo.path, env=isolated_environment() | ENVIRONMENT, check=True, capture_output=True)


@pytest.mark.parametrize("start", [by_commit, by_configured_command])
def test_git_goes_on_while_the_program_of_the_hook_runs(
    own: Repo, tmp_path: Path, start: Callable[[Repo], None]
) -> None:
    """The program runs until this test lets it end. Only a hook that waits for it sees it end by itself."""
    install(own, slow_program(tmp_path), FILE_HOOKS)
    start(own)
    await_true((tmp_path / "calls").exists)
    assert not (tmp_path / "ended").exists(), "the hook waited for the program"
    (tmp_path / "hold").unlink()


def test_the_command_of_the_hook_returns_while_the_refresh_runs(own: Repo) -> None:
    """pre-commit, husky and lefthook start it directly. The lock holds the refresh until the command has returned."""
    workspace = open_sample(own)
    with writer_lock(workspace.paths.lock, wait=False):
        try:
            done = hook(own)
        except subprocess.TimeoutExpired:
            pytest.fail("the command waited for the refresh")
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
        assert outcomes(own) == []
    await_true(lambda: bool(outcomes(own)) and is_idle(own.path))
