"""A client prints the complete answer of a server of its own user and version, or answers itself."""

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

import gitmem
from gitmem.resident.client import Client, connect, describe
from gitmem.resident.request import parse_request
from gitmem.resident.running_server import ANSWERS, OTHER_VERSION, SILENT, find_server
from gitmem.resident.wire import (
    BEAT,
    ERR,
    EXIT,
    HELLO,
    INPUT,
    MAX_MESSAGE,
    OUT,
    PAGER,
    PROTOCOL,
    REFUSED,
    REQUEST,
    Channel,
    pack,
    peer,
    unpack,
)
from gitmem.workspace import open_workspace
from tests.gitrepo import Repo
from tests.resident.served import PATIENCE, socket_file

Serve = Callable[[Channel], None]

GREETING = b"\0".join([PROTOCOL, gitmem.__version__.encode(), b"a test"])


@contextmanager
def listening(path: Path) -> Iterator[socket.socket]:
    """Listen at a path without accepting anybody, like a process that is stopped."""
    path.parent.mkdir(mode=0o700, exist_ok=True)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(os.fspath(path))
        server.listen(4)
        yield server
    path.unlink()


@contextmanager
def fake_server(repo: Repo, serve: Serve) -> Iterator[None]:
    """Serve each client of a repository by a function, which may fail in any way, until the end of the block."""
    with listening(socket_file(repo.path)) as server:

        def accept() -> None:
            with suppress(OSError):  # once the server is shut down
                while True:
                    connection, _ = server.accept()
                    with connection, suppress(OSError, EOFError, ValueError):
                        serve(Channel(connection))

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        yield
        server.shutdown(socket.SHUT_RDWR)
        thread.join(PATIENCE)


def greet(channel: Channel) -> None:
    """Greet like a server of this version, and take the request."""
    channel.send(HELLO, GREETING)
    assert channel.receive()[0] == REQUEST


def answering(*messages: tuple[bytes, bytes]) -> Serve:
    """Return a server that sends these messages after the request."""

    def serve(channel: Channel) -> None:
        greet(channel)
        for kind, data in messages:
            channel.send(kind, data)
        with suppress(EOFError):  # until the client has read them
            channel.receive()

    return serve


def raw(data: bytes) -> Serve:
    """Return a server that sends some bytes after the request, and closes."""

    def serve(channel: Channel) -> None:
        greet(channel)
        os.write(channel.fileno(), data)

    return serve


def test_an_answer_is_complete_and_in_order(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repo.path)
    parts = [(ERR, b"note\n"), (OUT, b"one\n"), (PAGER, b"less"), (OUT, b"two\n"), (EXIT, b"\1")]
    with fake_server(repo, answering((BEAT, b""), *parts[:2], (BEAT, b""), *parts[2:])):
        assert Client(PATIENCE, PATIENCE).ask(["query", "x"]) == parts


def close_at_once(_: Channel) -> None:
    """Accept and close."""


def other_version(channel: Channel) -> None:
    """Greet like another version, which would answer anything."""
    channel.send(HELLO, PROTOCOL + b"\x000.0.0\0old")
    answering((OUT, b"old"), (EXIT, b"\0"))(channel)


def speak_http(channel: Channel) -> None:
    """Greet like another program."""
    os.write(channel.fileno(), b"HTTP/1.1 400 Bad Request\r\n\r\n")


@pytest.mark.parametrize(
    "serve",
    [
        close_at_once,
        other_version,
        speak_http,
        answering((REFUSED, b"")),
        answering((OUT, b"x"), (b"?", b""), (EXIT, b"\0")),
        answering((EXIT, b"")),
        answering((EXIT, b"\0\0")),
        answering((BEAT, b"x" * 100)),
        raw(b""),
        raw(OUT + b"\0\0\0\5hell"),
        raw(OUT + b"\0\0"),
        raw(OUT + b"\0\0\0\1x"),
        raw(OUT + (MAX_MESSAGE + 1).to_bytes(4, "big") + b"x" * 100),
        raw(b"\xff" * 100),
    ],
)
def test_whatever_else_a_server_sends_is_no_answer(
    repo: Repo, monkeypatch: pytest.MonkeyPatch, serve: Serve, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(repo.path)
    with fake_server(repo, serve):
        assert Client(PATIENCE, PATIENCE).ask(["query", "x"]) is None
    assert capfd.readouterr() == ("", "")


def test_an_endless_answer_is_no_answer(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    def serve(channel: Channel) -> None:
        greet(channel)
        while True:
            channel.send(OUT, bytes(MAX_MESSAGE))

    monkeypatch.chdir(repo.path)
    with fake_server(repo, serve):
        assert Client(PATIENCE, PATIENCE).ask(["query", "x"]) is None


def test_a_server_that_hangs_is_ignored(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repo.path)
    # A stopped process: the system accepts the connection for it.
    with listening(socket_file(repo.path)):
        assert Client().ask(["query", "x"]) is None
        server = find_server(open_workspace(repo.path, {}).location, os.environ)
        assert server is not None
        assert server.state == SILENT
    hang = threading.Event()

    def serve(channel: Channel) -> None:
        greet(channel)
        channel.send(OUT, b"half of")
        hang.wait(PATIENCE)

    with fake_server(repo, serve):
        assert Client(PATIENCE, 0.01).ask(["query", "x"]) is None
        hang.set()


def test_reports_name_the_server(repo: Repo) -> None:
    location = open_workspace(repo.path, {}).location
    assert find_server(location, os.environ) is None
    with fake_server(repo, answering()):
        server = find_server(location, os.environ, PATIENCE)
        assert server is not None
        assert (server.state, server.command, server.version) == (ANSWERS, "a test", gitmem.__version__)
        assert server.pid in (os.getpid(), 0)
    with fake_server(repo, other_version):
        server = find_server(location, os.environ, PATIENCE)
        assert server is not None
        assert (server.state, server.command, server.version) == (OTHER_VERSION, "old", "0.0.0")


def test_input_read_for_a_server_that_fails_is_not_lost(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repo.path)
    script = "import gitmem.cli.main as m, sys; sys.argv[1:] = ['query', '-']; m.main()"
    # The server reads the input, then dies. The command must still have a query: without one it fails otherwise.
    with fake_server(repo, answering((INPUT, (4064).to_bytes(4, "big")), (REFUSED, b""))):
        process = subprocess.run([sys.executable, "-c", script], input=b"find me", capture_output=True, check=False)
    assert process.returncode == 3
    assert process.stderr.decode().startswith("error: this repository has no index yet")


def test_the_command_prints_the_answer_once(repo: Repo) -> None:
    command = [sys.executable, "-P", "-m", "gitmem", "query", "x"]
    run = {"cwd": repo.path, "capture_output": True, "check": False}
    answer = answering((ERR, b"note: n\n"), (OUT, b"\xff whatever\n"), (EXIT, b"\7"))
    with fake_server(repo, answer):
        while True:  # on a loaded machine the greeting may come too late
            process = subprocess.run(command, **run)  # type: ignore[call-overload]
            if process.returncode == 7:
                break
        assert (process.stdout, process.stderr) == (b"\xff whatever\n", b"note: n\n")
        by_itself = subprocess.run([*command[:-2], "--no-server", "query", "x"], **run)  # type: ignore[call-overload]
    assert by_itself.returncode == 3
    with fake_server(repo, raw(OUT + b"\0\0\0\3abc")):
        process = subprocess.run(command, **run)  # type: ignore[call-overload]
    assert (process.returncode, process.stdout, process.stderr) == (3, b"", by_itself.stderr)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_an_answer_that_cannot_be_printed_is_an_error(repo: Repo) -> None:
    command = [sys.executable, "-P", "-m", "gitmem", "query", "x"]
    with fake_server(repo, answering((OUT, b"text\n"), (EXIT, b"\0"))), Path("/dev/full").open("wb") as full:
        while True:
            process = subprocess.run(command, cwd=repo.path, stdout=full, stderr=subprocess.PIPE, check=False)
            if process.returncode != 3:
                break
    assert process.returncode == 5
    assert process.stderr.decode().splitlines() == [
        "error: No space left on device", "hint: the output is redirected to a full disk",
    ]  # fmt: skip


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as two users")
def test_another_user_is_told_nothing(repo: Repo, runtime_folder: Path, tmp_path: Path) -> None:
    # The other user listens where this one looks, and would answer.
    place = runtime_folder / f"{tmp_path.stat().st_ino}.sock"
    script = (
        "import os, socket, sys; s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); os.chmod(sys.argv[1], 0o777);"
        "os.chown(sys.argv[1], 65534, -1); os.setuid(65534); s.listen(); print('ready', flush=True);"
        "c, _ = s.accept(); c.settimeout(60); print(len(c.recv(100)), flush=True)"
    )
    command = [sys.executable, "-c", script, os.fspath(place)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        assert connect(os.fspath(place), PATIENCE) is None
        assert process.stdout.readline() == "0\n"


def test_the_peer_of_a_connection_is_known() -> None:
    one, other = socket.socketpair(socket.AF_UNIX)
    with one, other:
        known = peer(one)
        assert known is not None
        assert known[0] == os.geteuid()
        assert known[1] in (os.getpid(), 0)


def test_a_request_survives_the_wire(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ODD", os.fsdecode(b"a=b\xff\n"))
    request = parse_request(describe(["query", "", os.fsdecode(b"caf\xe9")], "/here", "/root"))
    assert request.args == ["query", "", os.fsdecode(b"caf\xe9")]
    assert (request.folder, request.root) == ("/here", Path("/root"))
    assert request.environment == dict(os.environ)
    assert unpack(pack([b"", b"x", bytes(300)])) == [b"", b"x", bytes(300)]
    for damaged in (b"\0", b"\0\0\0\2x", b"\xff" * 9):
        with pytest.raises(ValueError, match="incomplete item"):
            unpack(damaged)
