"""`doctor` finds nothing on a sound machine, and names what is wrong on another."""

import json
import shutil
from pathlib import Path

import pytest

from gitmem.actions import doctor
from gitmem.actions.doctor import FAIL, OK, WARN, Check, examine
from gitmem.actions.hooks import _program as doctor_program
from gitmem.errors import ExitCode
from gitmem.git.program import GitResult
from gitmem.install.hook_setup import install_hooks
from tests.gitrepo import Repo
from tests.sample import Cli, open_sample, segment_files


def check_of(checks: list[Check], name: str) -> Check:
    return next(check for check in checks if check.name == name)


def test_all_is_well_here(cli: Cli, indexed: Repo) -> None:
    made = cli("doctor", cwd=indexed.path)
    assert made.code == 0, made.out
    assert "fail" not in [line.split()[0] for line in made.out.splitlines()]
    parsed = json.loads(cli("doctor", "--json", cwd=indexed.path).out)
    assert parsed["sound"] is True
    assert {check["name"] for check in parsed["checks"]} == {
        "versions", "conflicts", "git", "model", "grammars", "worker", "graph", "repository", "index", "hooks",
        "background", "disk", "completion"
    }  # fmt: skip


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out the checks that start processes and load models."""
    for name in ("_model", "_grammars", "_worker", "_versions", "_conflicts"):
        monkeypatch.setattr(doctor, name, lambda: Check("", OK, ""))


@pytest.mark.usefixtures("quick")
def test_outside_a_repository_is_a_warning(cli: Cli, tmp_path: Path) -> None:
    made = cli("doctor", cwd=tmp_path)
    assert made.code == 0
    assert "warn  repository" in made.out
    assert "git init" in made.out


@pytest.mark.usefixtures("quick")
def test_no_index_yet_is_a_warning_with_the_command(tmp_path: Path) -> None:
    repo = Repo.init(tmp_path / "repo")
    assert check_of(examine(repo.path, {}), "index") == Check(
        "index", WARN, "this repository has no index yet", "gitmem init"
    )


@pytest.mark.usefixtures("quick")
def test_a_missing_segment_fails_with_the_command_that_mends_it(cli: Cli, own: Repo) -> None:
    segment_files(own)[0].unlink()
    found = check_of(examine(own.path, {}), "index")
    assert (found.state, found.remedy) == (FAIL, "gitmem index")
    assert cli("doctor", cwd=own.path).code == ExitCode.FAILED
    assert cli("index", cwd=own.path).code == 0
    assert check_of(examine(own.path, {}), "index").state == OK


@pytest.mark.usefixtures("quick")
def test_an_index_that_is_a_link_fails(own: Repo) -> None:
    shutil.move(own.path / ".gitmem", own.path.parent / "elsewhere")
    (own.path / ".gitmem").symlink_to(own.path.parent / "elsewhere")
    found = check_of(examine(own.path, {}), "index")
    assert found.state == FAIL
    assert "symbolic link" in found.message


@pytest.mark.usefixtures("quick")
def test_an_index_others_can_read_is_a_warning(own: Repo) -> None:
    (own.path / ".gitmem").chmod(0o755)
    found = check_of(examine(own.path, {}), "index")
    assert (found.state, found.remedy) == (WARN, f"chmod 700 {own.path}/.gitmem")


@pytest.mark.usefixtures("quick")
def test_a_wrong_setting_is_told(own: Repo) -> None:
    own.git("config", "gitmem.jobs", "many")
    assert check_of(examine(own.path, {}), "repository").state == FAIL


@pytest.mark.usefixtures("quick")
def test_hooks_are_told_with_what_mends_them(cli: Cli, own: Repo) -> None:
    assert check_of(examine(own.path, {}), "hooks").message.startswith("none: ")
    assert cli("hooks", "install", cwd=own.path).code == 0
    found = check_of(examine(own.path, {}), "hooks")
    assert (found.state, found.remedy) == (OK, "")
    install_hooks(open_sample(own).location, ("/another/gitmem",), (2, 53))
    found = check_of(examine(own.path, {}), "hooks")
    assert (found.state, found.remedy) == (WARN, "gitmem hooks install")
    assert "post-commit outdated" in found.message


@pytest.mark.usefixtures("quick")
def test_hooks_that_belong_to_another_program_are_told(own: Repo) -> None:
    (own.path / ".git" / "hooks" / "post-commit").write_text("#!/bin/sh\ncall_lefthook run post-commit\n")
    install_hooks(open_sample(own).location, doctor_program(), (2, 53))
    found = check_of(examine(own.path, {}), "hooks")
    assert (found.state, found.remedy) == (WARN, "gitmem hooks status")
    assert found.message.startswith("post-commit skipped: lefthook writes ")


def test_an_old_git_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "run_git", lambda _: GitResult(b"git version 2.25.1\n", "", 0))
    assert doctor._git().state == FAIL
    monkeypatch.setattr(doctor, "run_git", lambda _: GitResult(b"git version 3.0.0\n", "", 0))
    assert doctor._git().state == OK


def test_a_full_disk_is_a_warning(own: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "_MIN_FREE_BYTES", 1 << 60)
    assert doctor._disk(open_sample(own)).state == WARN


def test_a_check_that_breaks_is_a_finding() -> None:
    def broken() -> Check:
        raise RuntimeError("no such luck")

    found = doctor._check("model", broken)
    assert (found.state, found.message) == (FAIL, "RuntimeError: no such luck")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "nu"])
def test_completion_is_hinted_at_for_every_shell(shell: str) -> None:
    assert "gitmem completion" in doctor._completion({"SHELL": f"/usr/bin/{shell}"}).message
