"""`doctor` reports no failure on a sound machine, and names each problem on another."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from gitmem.actions import doctor
from gitmem.actions.doctor import FAIL, MIN_FREE_BYTES, OK, WARN, Check, examine, examine_repository
from gitmem.actions.hooks import _program as doctor_program
from gitmem.errors import ExitCode
from gitmem.git.program import GitResult
from gitmem.install.hook_setup import install_hooks
from gitmem.records.notes import add_note
from gitmem.workspace import open_workspace
from tests.gitrepo import Repo
from tests.sample import Cli, open_sample, segment_files


def check_of(checks: list[Check], name: str) -> Check:
    return next(check for check in checks if check.name == name)


def test_a_sound_repository_has_no_failed_check(cli: Cli, indexed: Repo) -> None:
    outcome = cli("doctor", cwd=indexed.path)
    assert outcome.code == 0, outcome.out
    assert "fail" not in [line.split()[0] for line in outcome.out.splitlines()]
    parsed = json.loads(cli("doctor", "--json", cwd=indexed.path).out)
    assert parsed["sound"] is True
    assert {check["name"] for check in parsed["checks"]} == {
        "versions", "conflicts", "git", "model", "grammars", "worker", "graph", "repository", "index", "memory",
        "git status", "server", "hooks", "clients", "background", "disk", "completion"
    }  # fmt: skip


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out the checks that start processes and load models."""
    monkeypatch.setattr(doctor, "examine_installation", list)


@pytest.mark.usefixtures("quick")
def test_outside_a_repository_is_a_warning(cli: Cli, tmp_path: Path) -> None:
    outcome = cli("doctor", cwd=tmp_path)
    assert outcome.code == 0
    assert "warn  repository" in outcome.out
    assert "git init" in outcome.out


@pytest.mark.usefixtures("quick")
def test_no_index_yet_is_a_warning_with_the_command(tmp_path: Path) -> None:
    repo = Repo.init(tmp_path / "repo")
    assert check_of(examine(repo.path, {}), "index") == Check(
        "index", WARN, "this repository has no index yet", "gitmem init"
    )


@pytest.mark.usefixtures("quick")
def test_a_missing_segment_fails_with_a_remedy(cli: Cli, own: Repo) -> None:
    segment_files(own)[0].unlink()
    check = check_of(examine(own.path, {}), "index")
    assert (check.state, check.remedy) == (FAIL, "gitmem index")
    assert cli("doctor", cwd=own.path).code == ExitCode.FAILED
    assert cli("index", cwd=own.path).code == 0
    assert check_of(examine(own.path, {}), "index").state == OK


@pytest.mark.usefixtures("quick")
def test_an_index_that_is_a_link_fails(own: Repo) -> None:
    shutil.move(own.path / ".gitmem", own.path.parent / "elsewhere")
    (own.path / ".gitmem").symlink_to(own.path.parent / "elsewhere")
    check = check_of(examine(own.path, {}), "index")
    assert check.state == FAIL
    assert "symbolic link" in check.message


@pytest.mark.usefixtures("quick")
def test_an_index_others_can_read_is_a_warning(own: Repo) -> None:
    (own.path / ".gitmem").chmod(0o755)
    check = check_of(examine(own.path, {}), "index")
    assert (check.state, check.remedy) == (WARN, f"chmod 700 {own.path}/.gitmem")


@pytest.mark.usefixtures("quick")
def test_an_invalid_setting_fails(own: Repo) -> None:
    own.git("config", "gitmem.jobs", "many")
    assert check_of(examine_repository(own.path, {}), "repository").state == FAIL


@pytest.mark.usefixtures("quick")
def test_lost_records_and_a_fetch_that_would_lose_them_are_reported(own: Repo) -> None:
    add_note(open_workspace(own.path, {}), "a note")
    assert check_of(examine_repository(own.path, {}), "memory").state == OK
    own.git("config", "--add", "remote.up.fetch", "+refs/*:refs/*")
    check = check_of(examine_repository(own.path, {}), "memory")
    assert check.state == WARN
    assert "a fetch of up replaces or prunes `refs/gitmem/memory`" in check.message
    subprocess.run(check.remedy, shell=True, cwd=own.path, check=True)
    assert check_of(examine_repository(own.path, {}), "memory").state == OK
    upstream = Repo.init(own.path.parent / "upstream")
    own.git("config", "remote.up.url", str(upstream.path))
    own.git("fetch", "-q", "--prune", "up")
    assert check_of(examine_repository(own.path, {}), "memory").state == OK
    own.git("update-ref", "-d", "refs/gitmem/memory")
    check = check_of(examine_repository(own.path, {}), "memory")
    assert (check.state, check.remedy) == (FAIL, "gitmem memory recover")


def test_outdated_hooks_are_a_warning_with_a_remedy(cli: Cli, own: Repo) -> None:
    assert check_of(examine_repository(own.path, {}), "hooks").message.startswith("none: ")
    assert cli("hooks", "install", cwd=own.path).code == 0
    check = check_of(examine(own.path, {}), "hooks")
    assert (check.state, check.remedy) == (OK, "")
    install_hooks(open_sample(own).location, ("/another/gitmem",), (2, 53))
    check = check_of(examine(own.path, {}), "hooks")
    assert (check.state, check.remedy) == (WARN, "gitmem hooks install")
    assert "post-commit outdated" in check.message


@pytest.mark.usefixtures("quick")
def test_hooks_of_another_program_are_a_warning(own: Repo) -> None:
    (own.path / ".git" / "hooks" / "post-commit").write_text("#!/bin/sh\ncall_lefthook run post-commit\n")
    install_hooks(open_sample(own).location, doctor_program(), (2, 53))
    check = check_of(examine(own.path, {}), "hooks")
    assert (check.state, check.remedy) == (WARN, "gitmem hooks status")
    assert check.message.startswith("post-commit skipped: lefthook writes ")


def test_an_old_git_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "run_git", lambda _: GitResult(b"git version 2.25.1\n", "", 0))
    assert doctor._git().state == FAIL
    monkeypatch.setattr(doctor, "run_git", lambda _: GitResult(b"git version 3.0.0\n", "", 0))
    assert doctor._git().state == OK


def test_a_full_disk_is_a_warning(own: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = shutil.disk_usage(own.path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=MIN_FREE_BYTES - 1))
    assert check_of(examine_repository(own.path, {}), "disk").state == WARN
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=MIN_FREE_BYTES))
    assert check_of(examine_repository(own.path, {}), "disk").state == OK


def test_a_check_that_raises_fails() -> None:
    def broken() -> Check:
        raise RuntimeError("no such luck")

    check = doctor._check("model", broken)
    assert (check.state, check.message) == (FAIL, "RuntimeError: no such luck")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "nu"])
def test_doctor_suggests_completion_for_every_shell(shell: str) -> None:
    assert "gitmem completion" in doctor._completion({"SHELL": f"/usr/bin/{shell}"}).message
