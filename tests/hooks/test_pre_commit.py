"""`.pre-commit-hooks.yaml`, and our git hooks together with those of the real pre-commit program."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gitmem.freshness.run_log import DONE, read_entries
from gitmem.install.hook_state import EVENTS, INSTALLED, MISSING
from gitmem.paths import IndexPaths
from tests.gitrepo import Repo, isolated_environment
from tests.hooks.test_background import await_true, find_process, processes_in
from tests.hooks.worlds import BARE_PATH, PROGRAM, is_idle, program_folder, settle
from tests.install.test_hook_setup import install, look, uninstall

MANIFEST = Path(__file__).resolve().parents[2] / ".pre-commit-hooks.yaml"


@pytest.fixture
def pre_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the real program, with a `gitmem` on PATH and its own cache."""
    program = shutil.which("pre-commit", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    if program is None:
        pytest.skip("pre-commit is not installed")
    monkeypatch.setenv("PRE_COMMIT_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", f"{program_folder(tmp_path)}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")  # pre-commit clones from a folder
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "protocol.file.allow")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "always")
    return program


def run_in(repo: Repo, *command: str) -> str:
    done = subprocess.run(command, cwd=repo.path, env=isolated_environment(), capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def write_config(repo: Repo, ids: tuple[str, ...] = ("gitmem-index", "gitmem-refresh")) -> None:
    """Configure hooks of a repository that has what pre-commit needs of this one."""
    source = Repo.init(repo.path.parent / "source")
    source.commit({".pre-commit-hooks.yaml": MANIFEST.read_text()})
    shutil.copytree(MANIFEST.parent / "hooks", source.path / "hooks")
    commit = source.commit()
    hooks = "".join(f"      - id: {name}\n" for name in ids)
    config = f"repos:\n  - repo: {source.path}\n    rev: {commit}\n    hooks:\n{hooks}"
    repo.commit({".pre-commit-config.yaml": config})


def install_all(repo: Repo, pre_commit: str) -> None:
    types = [word for event in EVENTS for word in ("-t", event)]
    run_in(repo, pre_commit, "install", *types)


def events_of(repo: Repo) -> set[str]:
    return {entry.event for entry in read_entries(IndexPaths(repo.path / ".gitmem")) if entry.outcome == DONE}


def test_the_manifest_is_valid(pre_commit: str, own: Repo) -> None:
    run_in(own, pre_commit, "validate-manifest", str(MANIFEST))


def test_pre_commit_runs_both_hooks_without_waiting(own: Repo, pre_commit: str) -> None:
    write_config(own)
    install_all(own, pre_commit)
    own.write({"new.py": "def new_thing():\n    return 1\n"})
    own.git("add", "new.py")
    run_in(own, "git", "commit", "-m", "new")
    assert settle(own.path)
    output = run_in(own, pre_commit, "run", "gitmem-index", "--hook-stage", "pre-commit")
    assert "Passed" in output
    # The log names the event that started a process, and a running process does the work of later events.
    await_true(lambda: not any(processes_in(own.path)) and find_process(own) is None)
    assert "pre-commit" in events_of(own)
    for stage in EVENTS[1:]:
        command = [pre_commit, "run", "gitmem-refresh", "--hook-stage", stage]
        extra = {"post-checkout": ["--from-ref", "HEAD", "--to-ref", "HEAD"], "post-merge": ["--is-squash-merge", "0"],
                 "post-rewrite": ["--rewrite-command", "amend"]}  # fmt: skip
        assert "Passed" in run_in(own, *command, *extra.get(stage, []))
    await_true(lambda: is_idle(own.path) and "refresh" in events_of(own))


def test_the_hooks_use_the_installed_gitmem_and_build_no_environment(
    own: Repo, pre_commit: str, tmp_path: Path
) -> None:
    write_config(own)
    run_in(own, pre_commit, "install", "--install-hooks")
    environments = [path.name for path in (tmp_path / "cache").glob("repo*/py_env*")]
    assert environments == []
    assert sum(file.stat().st_size for file in (tmp_path / "cache").rglob("*") if file.is_file()) < 5_000_000


def test_without_an_installed_gitmem_the_hooks_pass(
    own: Repo, pre_commit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_config(own)
    monkeypatch.setenv("PATH", BARE_PATH)
    output = run_in(own, pre_commit, "run", "-v", "gitmem-index")
    assert "Passed" in output
    assert "gitmem is not installed" in output


@pytest.mark.parametrize("first", ["pre-commit", "gitmem"])
def test_with_both_kinds_of_hooks_a_commit_is_indexed_once(own: Repo, pre_commit: str, first: str) -> None:
    """Whichever was set up first, the process that pre-commit starts leaves the event to the other."""
    write_config(own)
    for program in (first, *({"pre-commit", "gitmem"} - {first})):
        if program == "gitmem":
            install(own, PROGRAM)
        else:
            install_all(own, pre_commit)
    for stage in ("pre-commit", "post-commit"):
        assert "Passed" in run_in(own, pre_commit, "run", "--hook-stage", stage)
    await_true(lambda: not any(processes_in(own.path)) and find_process(own) is None)
    assert events_of(own) == set(), "git runs our hooks itself"
    uninstall(own)
    run_in(own, pre_commit, "run", "--hook-stage", "post-commit")
    await_true(lambda: is_idle(own.path) and events_of(own) == {"refresh"})


def test_our_lines_are_inserted_into_hooks_of_pre_commit(own: Repo, pre_commit: str) -> None:
    own.commit({".pre-commit-config.yaml": "repos: []\n"})
    install_all(own, pre_commit)
    before = {event: (own.path / ".git" / "hooks" / event).read_bytes() for event in EVENTS}
    assert install(own, PROGRAM).events(INSTALLED) == list(EVENTS)
    own.commit({"new.py": "def new_thing():\n    return 1\n"})
    assert settle(own.path)
    assert uninstall(own)
    assert {event: (own.path / ".git" / "hooks" / event).read_bytes() for event in EVENTS} == before
    run_in(own, pre_commit, "uninstall", "-t", "pre-commit")


def test_hooks_renamed_by_pre_commit_still_run_and_are_removed(own: Repo, pre_commit: str) -> None:
    own.commit({".pre-commit-config.yaml": "repos: []\n"})
    install(own, PROGRAM)
    install_all(own, pre_commit)
    before = {file: file.read_bytes() for file in (own.path / ".git" / "hooks").iterdir()}
    assert install(own, PROGRAM).events(INSTALLED) == list(EVENTS)
    assert {file: file.read_bytes() for file in before} == before, "it is called once, not twice"
    own.commit({"new.py": "def new_thing():\n    return 1\n"})
    assert settle(own.path)
    assert uninstall(own)
    assert look(own, PROGRAM).events(MISSING) == list(EVENTS)
    assert not list((own.path / ".git" / "hooks").glob("*.legacy"))
    await_true(lambda: is_idle(own.path))
