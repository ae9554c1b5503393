"""A repository made by an enemy: nothing of it is executed, nothing outside it is read, and a refusal says why."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gitmem.errors import ExitCode
from tests.faults import kill
from tests.gitrepo import Repo, isolated_environment
from tests.sample import Cli, assert_error, make_sample

pytestmark = pytest.mark.skipif(not kill.is_available(), reason="needs strace, and leave to trace")

ALLOWED = re.compile(r"(git|python[\d.]*|git-[a-z-]+|sh|nice|setsid)")
"""Programs that a run may start: itself, git, and what detaches a background run."""

CANARIES = ("core.fsmonitor", "core.pager", "diff.external", "core.sshCommand", "core.editor", "credential.helper",
            "core.alternateRefsCommand", "uploadpack.packObjectsHook", "diff.x.textconv", "gpg.program")  # fmt: skip


class Trace:
    """What a process and its children opened and executed."""

    def __init__(self, text: str) -> None:
        self.opened = re.findall(r'open(?:at)?\([^"]*"([^"]*)"', text)
        self.executed = re.findall(r'execve\("([^"]*)".*= 0', text)


HOSTILE_FILES = ("/leak.py", "/loop.py", "/up.py", "/null.py", "/pipe.py")


def trace(command: list[str], cwd: Path, folder: Path) -> tuple[int, str, Trace]:
    """Run a command under strace: its exit code, its words on standard error, and what it did."""
    log = folder / "trace"
    environment = isolated_environment() | {"PYTHONPATH": str(kill.ROOT), "HOME": str(folder / "home")}
    watched = ["strace", "-f", "-s", "4096", "-e", "trace=open,openat,execve", "-o", str(log), *command]
    done = subprocess.run(watched, cwd=cwd, env=environment, capture_output=True, text=True)
    return done.returncode, done.stderr, Trace(log.read_text("utf-8", "replace"))


def gitmem(*args: str) -> list[str]:
    return [sys.executable, "-m", "gitmem", *args]


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A file that is nobody's business, and a program that nobody may run."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    (folder / "secret.py").write_text("def private_key():\n    return 'hunter2'\n")
    program = folder / "canary"
    program.write_text("#!/bin/sh\ntouch " + str(folder / "sung") + "\n")
    program.chmod(0o755)
    return folder


@pytest.fixture
def hostile(tmp_path: Path, outside: Path) -> Repo:
    """Links that lead out, in circles and nowhere; configuration and attributes that name programs."""
    repo = make_sample(tmp_path / "hostile")
    for name, target in {
        "leak.py": outside / "secret.py", "folder": outside, "loop.py": Path("loop.py"), "up.py": Path("../../../x"),
        "null.py": Path("/dev/zero"), "tty.py": Path("/proc/self/mem"),
    }.items():  # fmt: skip
        (repo.path / name).symlink_to(target)
    os.mkfifo(repo.path / "pipe.py")
    repo.write({
        ".gitattributes": "*.py diff=x\n*.txt filter=x\n",
        ".gitmem.toml": f"include = ['*', '!{outside}/secret.py']\nexclude = ['$({outside / 'canary'})', '../**']\n",
        ".gitmodules": '[submodule "x"]\n\tpath = sub\n\turl = --upload-pack=touch\n',
    })  # fmt: skip
    repo.git("add", "--all")
    repo.git("commit", "--quiet", "--no-verify", "-m", "hostile")
    for key in CANARIES:
        repo.git("config", key, str(outside / "canary"))
    return repo


@pytest.mark.parametrize(
    "args", [("init", "--no-mcp"), ("query", "sign the cookie"), ("status",), ("gc",), ("verify",)]
)
def test_nothing_is_executed_and_nothing_outside_is_opened(
    hostile: Repo, outside: Path, tmp_path: Path, args: tuple[str, ...]
) -> None:
    if args[0] != "init":
        assert trace(gitmem("init", "--no-mcp", "--no-hooks"), hostile.path, tmp_path)[0] == 0
        hostile.write({"src/cookies.py": "def changed():\n    return 1\n"})
    code, err, seen = trace(gitmem(*args), hostile.path, tmp_path)
    assert code in (0, 1), err
    assert not (outside / "sung").exists()
    assert [path for path in seen.opened if str(outside) in path or path in ("/dev/zero", "/etc/passwd")] == []
    assert [path for path in seen.opened if path.endswith(HOSTILE_FILES)] == []
    assert [program for program in seen.executed if not ALLOWED.fullmatch(Path(program).name)] == []


def test_a_committed_file_with_other_settings_is_refused_and_nothing_is_read_for_it(
    hostile: Repo, outside: Path, tmp_path: Path
) -> None:
    hostile.write({".gitmem.toml": f"[model]\npath = '{outside / 'secret.py'}'\ncommand = '{outside / 'canary'}'\n"})
    code, err, seen = trace(gitmem("init", "--no-mcp"), hostile.path, tmp_path)
    assert code == ExitCode.USAGE
    assert "unknown key `model`" in err
    assert [path for path in seen.opened if str(outside) in path] == []
    assert [program for program in seen.executed if not ALLOWED.fullmatch(Path(program).name)] == []


def test_this_would_see_a_program_that_follows_a_link(hostile: Repo, outside: Path, tmp_path: Path) -> None:
    _, _, seen = trace(["cat", "leak.py"], hostile.path, tmp_path)
    assert "leak.py" in seen.opened
    _, _, seen = trace(["sh", "-c", str(outside / "canary")], hostile.path, tmp_path)
    assert [Path(program).name for program in seen.executed if not ALLOWED.fullmatch(Path(program).name)] == [
        "canary",
        "touch",
    ]


def test_a_tracked_index_is_not_even_opened(own: Repo, tmp_path: Path) -> None:
    own.git("add", "--force", ".gitmem")
    own.git("commit", "--quiet", "--no-verify", "-m", "hostile")
    clone = tmp_path / "clone"
    own.git("clone", "--quiet", str(own.path), str(clone))
    for args in (("query", "sign"), ("index",), ("init", "--no-mcp"), ("gc",), ("cancel",), ("status",)):
        code, err, seen = trace(gitmem(*args), clone, tmp_path)
        assert code == ExitCode.FAILED, (args, err)
        assert "tracked by git" in err
        assert [path for path in seen.opened if "/.gitmem/" in path] == []


def test_the_folder_of_another_clone_is_refused_until_it_is_removed(cli: Cli, own: Repo, tmp_path: Path) -> None:
    other = make_sample(tmp_path / "other")
    shutil.copytree(own.path / ".gitmem", other.path / ".gitmem")
    before = read_files(other.path / ".gitmem")
    for args in (("query", "sign"), ("index",), ("gc",), ("cancel",)):
        assert_error(cli(*args, cwd=other.path), ExitCode.FAILED, "was not made by gitmem in this repository", "rm -r ")
    assert read_files(other.path / ".gitmem") == before


@pytest.mark.parametrize("args", [("query", "sign"), ("status",), ("metrics",)])
def test_no_event_is_written_into_the_folder_of_another_clone(
    cli: Cli, own: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, args: tuple[str, ...]
) -> None:
    other = make_sample(tmp_path / "other")
    shutil.copytree(own.path / ".gitmem", other.path / ".gitmem")
    before = read_files(other.path / ".gitmem")
    monkeypatch.setenv("GITMEM_LOG", "debug")
    assert '"outcome": "UnsafeIndex"' in cli(*args, cwd=other.path).err
    assert read_files(other.path / ".gitmem") == before


def read_files(folder: Path) -> dict[Path, bytes]:
    return {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs root, to give files away")
def test_an_index_of_another_user_is_rejected(own: Repo, tmp_path: Path) -> None:
    if shutil.which("setpriv") is None:
        pytest.skip("needs setpriv")
    for path in [own.path, *own.path.rglob("*")]:
        os.chown(path, 4242, 4242, follow_symlinks=False)
    os.chown(own.path / ".gitmem", 4243, 4243)
    (own.path / ".gitmem").chmod(0o755)
    for path in (tmp_path, *tmp_path.parents):
        if path.owner() == "root" and path not in (Path("/"), Path("/tmp")):
            path.chmod(path.stat().st_mode | 0o055)
    command = ["setpriv", "--reuid", "4242", "--regid", "4242", "--clear-groups", *gitmem("query", "sign")]
    environment = isolated_environment() | {"PYTHONPATH": str(kill.ROOT), "HOME": "/nonexistent"}
    done = subprocess.run(command, cwd=own.path, env=environment, capture_output=True, text=True)
    if "No module named" in done.stderr or "Permission denied" in done.stderr:
        pytest.skip("another user cannot run this Python")
    assert done.returncode == ExitCode.FAILED
    assert "belongs to another user" in done.stderr
