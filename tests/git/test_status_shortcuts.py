"""Shortcuts of `git status`: which the configuration permits, and the same changes with and without them."""

import os
import socket
from pathlib import Path

import pytest

from gitmem.git.locate import RepositoryLocation
from gitmem.git.status import Status, read_status
from gitmem.git.status_shortcuts import StatusShortcuts, parse_shortcuts
from gitmem.workspace import open_workspace
from tests.gitrepo import Repo

LOCAL, GLOBAL = "local", "global"
CACHED = ("core.untrackedcache", "true", LOCAL)
MONITOR = "#!/bin/sh\necho called >>{calls}\nprintf 'token\\0/\\0'\n"


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    repo = Repo.init(tmp_path / "repo")
    repo.commit({"a.py": "one\n", "lib/c.py": "three\n", ".gitignore": "*.log\nbuild/\n"})
    return repo


def locate_configured(repo: Repo) -> RepositoryLocation:
    return open_workspace(repo.path, {}).location


def read_plainly(repo: Repo) -> Status:
    return read_status(locate_configured(repo)._replace(shortcuts=StatusShortcuts()))


@pytest.mark.parametrize(
    ("entries", "untracked"),
    [
        ([], "all"),
        ([CACHED], "normal"),
        ([("core.untrackedcache", None, LOCAL)], "normal"),
        ([("core.untrackedcache", "keep", LOCAL)], "all"),
        ([("feature.manyfiles", "true", GLOBAL)], "normal"),
        ([("feature.manyfiles", "true", GLOBAL), ("core.untrackedcache", "false", LOCAL)], "all"),
        ([CACHED, ("status.showuntrackedfiles", "all", GLOBAL)], "all"),
        ([CACHED, ("status.showuntrackedfiles", "no", GLOBAL)], "normal"),
    ],
)
def test_untracked_folders_are_listed_in_the_mode_of_the_cache(
    entries: list[tuple[str, str | None, str]], untracked: str
) -> None:
    assert parse_shortcuts(entries).untracked == untracked


@pytest.mark.parametrize(
    ("value", "scope", "program"),
    [
        ("/usr/bin/monitor", GLOBAL, "/usr/bin/monitor"),
        ("~/bin/monitor --quiet", GLOBAL, "~/bin/monitor --quiet"),
        ("rs-git-fsmonitor", "system", "rs-git-fsmonitor"),
        ("/usr/bin/monitor", LOCAL, ""),
        ("/usr/bin/monitor", "worktree", ""),
        (".git/hooks/fsmonitor-watchman", GLOBAL, ""),
        ("", GLOBAL, ""),
        ("1", GLOBAL, ""),
        ("2", GLOBAL, ""),
        ("False", GLOBAL, ""),
        ("true", GLOBAL, ""),
        (None, GLOBAL, ""),
    ],
)
def test_only_the_user_can_name_a_program_and_only_outside_the_repository(
    value: str | None, scope: str, program: str
) -> None:
    assert parse_shortcuts([("core.fsmonitor", value, scope)]).program == program


def test_the_last_entry_wins() -> None:
    entries = [("core.fsmonitor", "/usr/bin/monitor", GLOBAL), ("core.fsmonitor", "/tmp/evil", LOCAL)]
    assert parse_shortcuts(entries).program == ""


def test_the_daemon_of_git_is_used_only_while_it_runs(tmp_path: Path) -> None:
    shortcuts = parse_shortcuts([("core.fsmonitor", "true", LOCAL)])
    folder = Path(os.path.relpath(tmp_path))  # the path of a socket may have 107 bytes
    assert shortcuts.monitor(folder) == "false"
    with socket.socket(socket.AF_UNIX) as daemon:
        daemon.bind(str(folder / "fsmonitor--daemon.ipc"))
        assert shortcuts.monitor(folder) == "false"
        daemon.listen()
        assert shortcuts.monitor(folder) == "true"
    assert StatusShortcuts().monitor(folder) == "false"


def test_with_an_untracked_cache_the_changes_are_the_same(repo: Repo) -> None:
    repo.git("config", "core.untrackedCache", "true")
    repo.git("status")
    repo.write(
        {"new/deep/x.py": "x\n", "new/y.py": "y\n", "new/z.log": "z\n", "lib/[d]*.py": "d\n", "build/o.py": "o\n"}
    )
    repo.write({"*/star.py": "s\n", "only-ignored/a.log": "a\n", "a.py": "changed\n", "staged.py": "s\n"})
    repo.write({".claude/worktrees/left-behind/y.py": "y\n", ".claude/settings.json": "{}\n"})
    repo.git("add", "staged.py")
    repo.git("worktree", "add", "--quiet", "-b", "one", str(repo.path / "linked"))
    for nested in ("nested", "new/nested", "new/committed"):
        Repo.init(repo.path / nested).write({"inner.py": "i\n"})
    Repo(repo.path / "new/committed").commit({"inner.py": "i\n"})
    (repo.path / "empty").mkdir()
    (repo.path / os.fsdecode(b"\xff\n")).mkdir()
    (repo.path / os.fsdecode(b"\xff\n") / "odd.py").write_text("o\n")
    location = locate_configured(repo)
    assert location.shortcuts.untracked == "normal"
    cached, plain = read_status(location), read_plainly(repo)
    assert cached.commit == plain.commit
    assert sorted(cached.entries) == sorted(plain.entries)
    assert len(plain.entries) == 8


def test_with_hundreds_of_untracked_folders_the_changes_are_the_same(repo: Repo) -> None:
    repo.git("config", "core.untrackedCache", "true")
    repo.write({f"new-{number}/x.py": "x\n" for number in range(300)})
    status = read_status(locate_configured(repo))
    assert len(status.entries) == 300
    assert status == read_plainly(repo)


def test_the_monitor_of_the_user_runs_and_that_of_the_repository_does_not(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program, calls = tmp_path / "monitor", tmp_path / "calls"
    program.write_text(MONITOR.format(calls=calls))
    program.chmod(0o755)
    repo.git("config", "core.fsmonitor", str(program))
    repo.git("update-index", "--fsmonitor")
    repo.write({"a.py": "changed\n", "new.py": "new\n"})
    calls.unlink(missing_ok=True)
    expected = read_plainly(repo)
    assert read_status(locate_configured(repo)) == expected
    assert len(expected.entries) == 2
    assert not calls.exists()
    repo.git("config", "--unset", "core.fsmonitor")
    (tmp_path / "config").write_text(f"[core]\n\tfsmonitor = {program}\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "config"))
    assert read_status(locate_configured(repo)) == expected
    assert calls.exists()
