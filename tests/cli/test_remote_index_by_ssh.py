"""`gitmem index` for URLs of ssh, with a real sshd: keys of users and of hosts, and no questions."""

import os
import pty
import signal
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from gitmem.errors import ExitCode
from tests.git.ssh_server import HAS_SSHD, SshServer, open_ssh_server
from tests.gitrepo import Repo
from tests.indexes import python_file
from tests.sample import Cli, Outcome, assert_error

pytestmark = [
    pytest.mark.usefixtures("fake_model"),
    pytest.mark.skipif(not HAS_SSHD, reason="needs sshd, and /run/sshd for root"),
]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SshServer]:
    """Run one server for all tests of the module."""
    with open_ssh_server(tmp_path_factory.mktemp("ssh") / "server") as server:
        yield server


@pytest.fixture
def source(tmp_path: Path) -> Repo:
    repo = Repo.init(tmp_path / "cookies")
    repo.commit({"old.py": python_file("load_cookie")})
    return repo


@pytest.fixture
def run(cli: Cli, server: SshServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Run a command outside of any repository, as a user whose key the server accepts."""
    monkeypatch.delenv("GITMEM_NO_REGISTRY")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("GITMEM_ALLOWED_HOSTS", "127.0.0.1")
    monkeypatch.setenv("GIT_SSH_COMMAND", server.client())

    def call(*args: str) -> Outcome:
        return cli(*args, cwd=tmp_path)

    return call


def test_both_forms_of_a_url_name_one_clone(run: Cli, server: SshServer, source: Repo) -> None:
    full = run("index", f"ssh://{server.user}@127.0.0.1{source.path}")
    assert (full.code, full.err.split()[0]) == (ExitCode.OK, "cloning")
    source.commit({"new.py": python_file("sign_cookie")})
    short = run("index", f"{server.user}@127.0.0.1:{source.path}")
    assert (short.code, short.err.split()[0]) == (ExitCode.OK, "fetching")
    assert run("query", "-l", "--mode", "lexical", "--repo", "cookies", "sign").out == "cookies:new.py\n"


@pytest.mark.parametrize(
    ("identity", "known", "reason", "hint"),
    [
        ("bad", "known", "Permission denied (publickey)", "ssh-add"),
        ("good", "none", "Host key verification failed", "ssh -T {user}@127.0.0.1"),
        ("good", "changed", "Host key verification failed", "ssh-keygen -R"),
    ],
)
def test_a_refused_key_is_named_with_its_remedy(
    run: Cli, server: SshServer, source: Repo, monkeypatch: pytest.MonkeyPatch,
    identity: str, known: str, reason: str, hint: str,
) -> None:  # fmt: skip
    monkeypatch.setenv("GIT_SSH_COMMAND", server.client(identity, known))
    outcome = run("index", "--json", f"{server.user}@127.0.0.1:{source.path}")
    assert_error(outcome, ExitCode.FAILED, reason, hint.format(user=server.user))


def test_a_missing_repository_and_a_foreign_host_are_refused(run: Cli, server: SshServer, tmp_path: Path) -> None:
    absent = run("index", "--json", f"{server.user}@127.0.0.1:{tmp_path}/absent")
    assert_error(absent, ExitCode.FAILED, "does not appear to be a git repository", "check the URL")
    foreign = run("index", "--json", f"{server.user}@127.0.0.2:{tmp_path}/absent")
    assert_error(foreign, ExitCode.USAGE, "`127.0.0.2` is not allowed", "gitmem.allowedHosts")


def test_ssh_asks_nothing_on_a_terminal(
    run: Cli, server: SshServer, source: Repo, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("GIT_SSH_COMMAND", server.client(known="none"))
    command = [sys.executable, "-m", "gitmem", "index", f"{server.user}@127.0.0.1:{source.path}"]
    child, terminal = pty.fork()
    if not child:  # pragma: no cover (another process)
        os.chdir(tmp_path)
        os.execv(command[0], command)
    output = b""
    # The end of a terminal is an error on Linux.
    with os.fdopen(terminal, "rb", buffering=0) as stream, suppress(OSError):
        while part := stream.read(4096):
            output += part
            if b"continue connecting" in output:
                os.kill(child, signal.SIGHUP)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == ExitCode.FAILED
    assert "Host key verification failed" in " ".join(output.decode().split())


def test_ssh_gives_up_on_a_silent_server_unless_the_user_sets_another_time(
    run: Cli, server: SshServer, source: Repo, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    program, calls = tmp_path / "bin" / "ssh", tmp_path / "calls"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\necho "$*" >>{calls}\nexec {server.client()} "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent), prepend=os.pathsep)
    monkeypatch.delenv("GIT_SSH_COMMAND")
    own = "-o BatchMode=yes -o ConnectTimeout=60 "
    for variables, expected in (
        ({}, own),
        ({"GIT_SSH": str(program)}, own),
        # ssh takes the first value of an option, so those of the user come first.
        ({"GIT_SSH_COMMAND": "ssh -o ConnectTimeout=5"}, f"-o ConnectTimeout=5 {own}"),
        ({"GIT_SSH_COMMAND": f"exec {program}"}, "-o SendEnv=GIT_PROTOCOL "),
    ):
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        outcome = run("index", "--json", f"{server.user}@127.0.0.1:{source.path}", "--rev", "nope")
        assert "has no branch or tag `nope`" in outcome.err
        assert calls.read_text(encoding="utf-8").splitlines()[-1].startswith(expected), variables
        calls.unlink()
