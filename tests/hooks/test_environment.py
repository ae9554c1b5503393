"""Hooks in the environments of git and its callers: odd variables, captured output, no gitmem."""

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from gitmem.errors import ExitCode
from gitmem.freshness.run_log import read_entries
from gitmem.locks import is_locked, writer_lock
from gitmem.paths import IndexPaths
from tests.actions.test_uninstall import fingerprint
from tests.gitrepo import Repo, isolated_environment
from tests.hooks.test_background import await_true, find_process, hook, is_unlocked
from tests.hooks.worlds import BARE_PATH, PROGRAM, is_idle, settle
from tests.install.test_hook_setup import install
from tests.sample import Cli, assert_error, open_sample

HOSTILE = (
    "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR", "GIT_NAMESPACE", "GIT_PREFIX", "GIT_CEILING_DIRECTORIES", "GIT_CONFIG", "GIT_CONFIG_PARAMETERS",
)  # fmt: skip


@pytest.fixture
def hooked(own: Repo) -> Repo:
    install(own, PROGRAM)
    return own


@pytest.fixture
def other(tmp_path: Path) -> Repo:
    """Return a repository that variables point to, and that must not change."""
    repo = Repo.init(tmp_path / "other")
    repo.commit({"precious.py": "def precious():\n    return 1\n"})
    return repo


def values_of(other: Repo) -> dict[str, str]:
    git = other.path / ".git"
    return {
        "GIT_DIR": str(git), "GIT_WORK_TREE": str(other.path), "GIT_INDEX_FILE": str(git / "index"),
        "GIT_OBJECT_DIRECTORY": str(git / "objects"), "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(git / "objects"),
        "GIT_COMMON_DIR": str(git), "GIT_NAMESPACE": "x", "GIT_PREFIX": "sub/", "GIT_CEILING_DIRECTORIES": "/",
        "GIT_CONFIG": str(git / "config"), "GIT_CONFIG_PARAMETERS": "'core.worktree=/nowhere'",
    }  # fmt: skip


@pytest.mark.parametrize("names", [*[(name,) for name in HOSTILE[:4]], HOSTILE])
def test_variables_that_name_another_repository_are_ignored(own: Repo, other: Repo, names: tuple[str, ...]) -> None:
    before = fingerprint(other.path)
    own.commit({"new.py": "def new_thing():\n    return 1\n"})
    values = values_of(other)
    done = hook(own, **{name: values[name] for name in names})
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert settle(own.path)
    assert fingerprint(other.path) == before


def test_a_commit_in_another_repository_does_not_touch_this_one(hooked: Repo, other: Repo) -> None:
    """`git --git-dir` runs the hooks of that repository in any working directory."""
    install(other, PROGRAM)
    before = fingerprint(hooked.path / ".gitmem" / "segments"), (hooked.path / ".gitmem" / "manifest").read_bytes()
    options = [f"--git-dir={other.path}/.git", f"--work-tree={other.path}"]
    assert hooked.git(*options, "commit", "-q", "--allow-empty", "-m", "x") == ""
    await_true(lambda: is_idle(hooked.path) and find_process(hooked) is None)
    after = fingerprint(hooked.path / ".gitmem" / "segments"), (hooked.path / ".gitmem" / "manifest").read_bytes()
    assert after == before
    assert not (other.path / ".gitmem").exists()


def test_a_partial_commit_with_a_temporary_index_is_indexed(hooked: Repo) -> None:
    hooked.write({"new.py": "def new_thing():\n    return 1\n", "other.py": "def other_thing():\n    return 2\n"})
    hooked.git("add", "--all")
    assert hooked.git("commit", "-q", "-m", "a part", "new.py") == ""
    assert hooked.git("commit", "-q", "-a", "-m", "the rest") == ""
    assert settle(hooked.path)


def test_a_caller_that_reads_all_output_does_not_wait(hooked: Repo) -> None:
    """It would wait while any process holds the pipe; the lock keeps the background process running."""
    with writer_lock(open_sample(hooked).paths.lock, wait=False):
        hooked.write({"new.py": "def new_thing():\n    return 1\n"})
        hooked.git("add", "--all")
        assert hooked.git("commit", "-q", "-m", "new") == ""
        await_true(lambda: not is_unlocked(hooked))
        assert find_process(hooked) is not None
    assert settle(hooked.path)


def test_the_previous_test_would_detect_an_open_pipe(hooked: Repo) -> None:
    file = hooked.path / ".git" / "hooks" / "post-commit"
    file.write_text("#!/bin/sh\nsleep 30 &\n")
    hooked.write({"new.py": "def new_thing():\n    return 1\n"})
    hooked.git("add", "--all")
    command = ["git", "commit", "-q", "-m", "new"]
    with pytest.raises(subprocess.TimeoutExpired):
        subprocess.run(command, cwd=hooked.path, env=isolated_environment(), capture_output=True, timeout=3)


def test_workers_of_the_background_process_hold_no_lock(own: Repo) -> None:
    """After a kill in the middle of a run, no process holds the lock of the index."""
    for number in range(60):
        body = "\n".join(f"def part_{number}_{line}(value):\n    return value * {line}\n" for line in range(200))
        own.write({f"pack/module_{number}.py": body})
    own.commit()
    hook(own)
    workspace = open_sample(own)
    await_true(lambda: find_process(own) is not None and is_locked(workspace.paths.lock))
    process = find_process(own)
    assert process is not None
    os.kill(int(process.name), 9)
    await_true(lambda: not is_locked(workspace.paths.lock) and is_unlocked(own))
    hook(own)
    assert settle(own.path)


def bare_commit(repo: Repo) -> subprocess.CompletedProcess[bytes]:
    repo.write({"new.py": "def new_thing():\n    return 1\n"})
    environment = {"PATH": BARE_PATH, **{k: v for k, v in isolated_environment().items() if k.startswith("GIT_")}}
    command = ["git", "add", "--all"], ["git", "commit", "-q", "-m", "new"]
    subprocess.run(command[0], cwd=repo.path, env=environment, check=True)
    return subprocess.run(command[1], cwd=repo.path, env=environment, capture_output=True, check=False)


def test_a_virtual_environment_that_moved_is_silent(own: Repo, tmp_path: Path) -> None:
    venv.create(tmp_path / "venv", with_pip=False, symlinks=True)
    shutil.move(tmp_path / "venv", tmp_path / "elsewhere")
    install(own, (str(tmp_path / "venv" / "bin" / "python"), "-P", "-m", "gitmem"))
    done = bare_commit(own)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_an_environment_from_which_gitmem_was_uninstalled_is_silent(own: Repo, tmp_path: Path) -> None:
    venv.create(tmp_path / "venv", with_pip=False, symlinks=True)
    install(own, (str(tmp_path / "venv" / "bin" / "python"), "-P", "-m", "gitmem"))
    done = bare_commit(own)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_bare_environment_finds_git_and_gitmem(hooked: Repo) -> None:
    done = bare_commit(hooked)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert settle(hooked.path)


def test_a_commit_from_a_subfolder_or_from_outside_is_indexed(hooked: Repo, tmp_path: Path) -> None:
    for folder, args in ((hooked.path / "src", []), (tmp_path, ["-C", str(hooked.path)])):
        (hooked.path / "src" / "new.py").write_text(f"def new_thing():\n    return {str(folder)!r}\n")
        for command in (["add", "--all"], ["commit", "-q", "-m", "new"]):
            subprocess.run(["git", *args, *command], cwd=folder, env=isolated_environment(), check=True)
        assert settle(hooked.path)


def test_a_repository_of_another_user_is_reported_with_the_remedy(cli: Cli, own: Repo) -> None:
    if os.name == "nt" or os.geteuid() != 0:
        pytest.skip("only root can give a folder away")
    install(own, PROGRAM)
    for path in [own.path, own.path / ".git", own.path / ".gitmem", *own.path.rglob("*")]:
        os.chown(path, 12345, 12345, follow_symlinks=False)
    assert_error(cli("hooks", "status", cwd=own.path), ExitCode.USAGE, "safe.directory", str(own.path))
    before = fingerprint(own.path)
    done = hook(own)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    await_true(lambda: find_process(own) is None)
    assert fingerprint(own.path) == before


def test_worktrees_share_the_hooks_and_one_process(hooked: Repo) -> None:
    names = [hooked.path.parent / f"side_{number}" for number in range(4)]
    for name in names:
        hooked.git("worktree", "add", "-q", "--detach", str(name))
        Repo(name).commit({f"{name.name}.py": f"def in_{name.name}():\n    return 1\n"})
    for name in names:
        assert settle(name)
    folders = {entry.folder for entry in read_entries(IndexPaths(hooked.path / ".gitmem"))}
    assert folders >= {str(name) for name in names}


def test_a_commit_without_shell_and_terminal_starts_the_hook(own: Repo) -> None:
    """Start git like a graphical client: no shell, no terminal, a new session."""
    install(own, PROGRAM)
    own.write({"new.py": "def new_thing():\n    return 1\n"})
    own.git("add", "--all")
    script = "import subprocess, sys; subprocess.run(['git', 'commit', '-q', '-m', 'new'], check=True, close_fds=True)"
    environment = {"PATH": BARE_PATH, **{k: v for k, v in isolated_environment().items() if k.startswith("GIT_")}}
    null = subprocess.DEVNULL
    subprocess.run([sys.executable, "-c", script], cwd=own.path, env=environment, stdin=null, stdout=null, stderr=null,
                   start_new_session=True, check=True)  # fmt: skip
    assert settle(own.path)
