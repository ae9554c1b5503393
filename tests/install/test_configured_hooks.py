"""Hooks in git's configuration. With an older git, their command is run as a newer one would run it."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from gitmem.git.version import read_version
from gitmem.install.configured_hooks import SINCE
from gitmem.install.hook_state import EVENTS, INSTALLED, MISSING, OUTDATED, SKIPPED
from tests.actions.test_uninstall import fingerprint
from tests.gitrepo import Repo, isolated_environment
from tests.install.test_hook_setup import await_call, install, look, uninstall, write_hook


def run_like_git(repo: Repo, *args: str) -> subprocess.CompletedProcess[bytes]:
    """Run the command like git: in a shell, with the arguments of the event appended."""
    command = repo.git("config", "hook.gitmem.command")
    shell = ["/bin/sh", "-c", f'{command} "$@"', command, *args]
    return subprocess.run(shell, cwd=repo.path, env=isolated_environment() | {"PATH": "/usr/bin:/bin"},
                          capture_output=True, check=False)  # fmt: skip


def test_the_configuration_names_every_event_and_no_file_is_written(repo: Repo, program: tuple[str, ...]) -> None:
    hooks = fingerprint(repo.path / ".git" / "hooks")
    report = install(repo, program, SINCE)
    assert (report.configured, report.events(INSTALLED)) == (True, list(EVENTS))
    assert repo.git("config", "--get-all", "hook.gitmem.event").split() == list(EVENTS)
    assert fingerprint(repo.path / ".git" / "hooks") == hooks


def test_the_command_starts_gitmem_silently(repo: Repo, program: tuple[str, ...], tmp_path: Path) -> None:
    install(repo, program, SINCE)
    done = run_like_git(repo, "amend", "; exit 5")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert await_call(tmp_path) == ["hook refresh"]


def test_without_gitmem_the_command_is_silent(repo: Repo) -> None:
    install(repo, ("/nowhere/gitmem",), SINCE)
    done = run_like_git(repo)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.parametrize("end", ["", "\n", "\n# a comment\n", "\n[user]\n\tname = A"])
def test_the_configuration_is_restored_byte_for_byte(repo: Repo, program: tuple[str, ...], end: str) -> None:
    file = repo.path / ".git" / "config"
    file.write_bytes(file.read_bytes().rstrip(b"\n") + end.encode())
    before = fingerprint(repo.path)
    install(repo, program, SINCE)
    install(repo, program, SINCE)
    assert uninstall(repo)
    assert fingerprint(repo.path) == before
    assert not uninstall(repo)


def test_a_newer_git_moves_the_hooks_to_the_configuration_and_an_older_one_back(
    repo: Repo, program: tuple[str, ...]
) -> None:
    write_hook(repo, "#!/bin/sh\necho mine\n")
    hooks = fingerprint(repo.path / ".git" / "hooks")
    install(repo, program)
    install(repo, program, SINCE)
    assert fingerprint(repo.path / ".git" / "hooks") == hooks
    assert look(repo, program).events(OUTDATED) == list(EVENTS), "this git would not call them"
    assert install(repo, program).events(INSTALLED) == list(EVENTS)
    assert look(repo, program, SINCE).configured is False


def test_configured_hooks_work_with_the_hooks_path_of_another_program(repo: Repo, program: tuple[str, ...]) -> None:
    repo.git("config", "core.hooksPath", ".husky/_")
    assert install(repo, program, SINCE).events(INSTALLED) == list(EVENTS)


def test_installing_again_does_not_touch_the_file(repo: Repo, program: tuple[str, ...]) -> None:
    install(repo, program, SINCE)
    file = repo.path / ".git" / "config"
    before = file.stat()
    install(repo, program, SINCE)
    assert os.path.samestat(before, file.stat())


def test_disabled_hooks_stay_disabled(repo: Repo, program: tuple[str, ...]) -> None:
    install(repo, program, SINCE)
    repo.git("config", "hook.gitmem.enabled", "false")
    assert install(repo, program, SINCE).events(SKIPPED) == list(EVENTS)
    assert repo.git("config", "hook.gitmem.enabled") == "false"


def test_manual_changes_of_the_section_are_reported(repo: Repo, program: tuple[str, ...]) -> None:
    install(repo, program, SINCE)
    assert look(repo, ("/another/gitmem",), SINCE).events(OUTDATED) == list(EVENTS)
    repo.git("config", "hook.gitmem.enabled", "false")
    assert look(repo, program, SINCE).events(SKIPPED) == list(EVENTS)
    repo.git("config", "--unset", "hook.gitmem.enabled")
    repo.git("config", "--unset", "hook.gitmem.event", "post-merge")
    assert look(repo, program, SINCE).events(MISSING) == ["post-merge"]


def test_a_git_that_supports_them_runs_configured_hooks(repo: Repo, program: tuple[str, ...], tmp_path: Path) -> None:
    version = read_version()
    if version < SINCE:
        pytest.skip(f"git {version[0]}.{version[1]} does not read hooks from its configuration")
    git = shutil.which("git")
    assert git
    install(repo, program, version)
    done = repo.git("commit", "-q", "--allow-empty", "-m", "x", env={"PATH": f"{Path(git).parent}:/usr/bin:/bin"})
    assert done == ""
    assert set(await_call(tmp_path)) == {"hook refresh"}
