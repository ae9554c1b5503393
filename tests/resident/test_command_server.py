"""A server of commands: parallel clients, clients that vanish, its own end, and peers that are none of its business."""

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from gitmem.actions.doctor import examine_repository
from gitmem.git.locate import locate
from gitmem.resident.call import CallCancelled
from gitmem.resident.client import Client, connect, describe
from gitmem.resident.command_server import MAX_RUNNING, CommandServer
from gitmem.resident.exchange import Exchange
from gitmem.resident.repositories import OpenRepositories
from gitmem.resident.request import Request
from gitmem.resident.running_server import find_server
from gitmem.resident.wire import BEAT, HELLO, OUT, REQUEST, Channel
from tests.gitrepo import Repo
from tests.resident.served import PATIENCE, ask, release, serving, socket_file, wait_for_server, without_times
from tests.sample import SIGN, Cli

GITMEM = [sys.executable, "-P", "-m", "gitmem"]


class Commands:
    """Commands that run until they are released, and count how they ended."""

    def __init__(self) -> None:
        self.running = threading.Semaphore(0)
        self.released = threading.Event()
        self.cancelled = threading.Event()

    def run(self, request: Request, _: OpenRepositories, exchange: Exchange) -> None:
        """Answer with the last argument once released."""
        self.running.release()
        try:
            while not exchange.call.wait(self.released, 0.02):
                continue
            exchange.write(OUT, request.args[-1].encode())
            exchange.finish(0)
        except CallCancelled:
            self.cancelled.set()
            raise


@contextmanager
def waiting_server(repo: Repo) -> Iterator[tuple[Commands, CommandServer]]:
    """Serve a repository by commands that wait."""
    commands, repositories = Commands(), OpenRepositories(repo.path, dict(os.environ))
    with CommandServer("test", repositories, dict(os.environ), commands.run) as server:
        server.start()
        wait_for_server(repo.path)
        yield commands, server
    commands.released.set()
    release(server, repositories)


def test_clients_are_answered_in_parallel(own: Repo, cli: Cli) -> None:
    queries = [SIGN, "match a route", "deploying", "backups"]
    with serving(own.path):
        expected = [without_times(cli("query", query, cwd=own.path)) for query in queries]
        with ThreadPoolExecutor(12) as threads:
            answers = list(threads.map(lambda query: without_times(ask("query", query)), queries * 5))
    assert answers == expected * 5


def test_a_client_that_vanishes_cancels_its_command(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repo.path)
    with waiting_server(repo) as (commands, _):
        greeting = connect(os.fspath(socket_file(repo.path)), PATIENCE)
        assert greeting is not None
        greeting.channel.send(REQUEST, describe(["query", "x"], os.fspath(repo.path), os.fspath(repo.path)))
        assert commands.running.acquire(timeout=PATIENCE)
        assert greeting.channel.receive() == (BEAT, b"")
        greeting.channel.close()
        assert commands.cancelled.wait(PATIENCE)


def test_ctrl_c_ends_the_client_and_its_command(repo: Repo) -> None:
    with waiting_server(repo) as (commands, _):
        while True:  # on a loaded machine the greeting may come too late, and the client answers itself
            client = subprocess.Popen(
                [*GITMEM, "query", "x"], cwd=repo.path, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
            )  # fmt: skip
            while not (served := commands.running.acquire(timeout=0.05)) and client.poll() is None:
                continue
            if served:
                break
            client.communicate()
        client.send_signal(signal.SIGINT)
        out, err = client.communicate(timeout=PATIENCE)
        assert commands.cancelled.wait(PATIENCE)
    assert (client.returncode, out, err) == (130, b"", b"")


def test_a_server_that_ends_leaves_the_command_to_its_client(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repo.path)
    with waiting_server(repo) as (commands, server), ThreadPoolExecutor(1) as threads:
        answer = threads.submit(Client(PATIENCE, PATIENCE).ask, ["query", "x"])
        assert commands.running.acquire(timeout=PATIENCE)
        server.close()
        assert answer.result(PATIENCE) is None
        assert commands.cancelled.wait(PATIENCE)


def test_further_commands_wait_while_as_many_run_as_may(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repo.path)
    names = [f"query {number}" for number in range(2 * MAX_RUNNING)]
    with waiting_server(repo) as (commands, _), ThreadPoolExecutor(len(names)) as threads:
        answers = [threads.submit(ask, "query", name) for name in names]
        for _number in range(MAX_RUNNING):
            assert commands.running.acquire(timeout=PATIENCE)
        assert not commands.running.acquire(blocking=False)
        commands.released.set()
        results = [answer.result(PATIENCE) for answer in answers]
    assert [result and result.out for result in results] == names


def test_a_command_whose_answer_is_too_large_is_left_to_its_client(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repo.path)
    monkeypatch.setattr("gitmem.resident.exchange.MAX_ANSWER", 8)
    with waiting_server(repo) as (commands, _):
        commands.released.set()
        assert ask("query", "four") is not None
        assert ask("query", "fives") is None


def test_a_server_of_older_code_refuses(own: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(own.path)
    with serving(own.path):
        assert ask("query", SIGN) is not None
        monkeypatch.setattr("gitmem.resident.command_server.read_code_signature", lambda: frozenset([("new.py", 1, 1)]))
        assert ask("query", SIGN) is None


def test_a_client_with_other_settings_is_refused(own: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(own.path)
    with serving(own.path):
        monkeypatch.setenv("GITMEM_SEARCH_DEFAULT_LIMIT", "3")
        assert ask("query", SIGN) is None
        monkeypatch.delenv("GITMEM_SEARCH_DEFAULT_LIMIT")
        assert ask("query", SIGN) is not None


@pytest.mark.parametrize("data", [b"", b"Q", b"Q\xff\xff\xff\xff", b"Q\0\0\0\4abcd", b"X\0\0\0\0", bytes(10_000)])
def test_garbage_of_a_client_ends_only_its_connection(own: Repo, monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    monkeypatch.chdir(own.path)
    with serving(own.path):
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(os.fspath(socket_file(own.path)))
            assert Channel(client).receive()[0] == HELLO
            with suppress(ConnectionError):  # the server closes while there is more to read
                client.sendall(data)
                client.shutdown(socket.SHUT_WR)
                assert client.recv(100) in (b"", b"R\0\0\0\0")
        assert ask("query", SIGN) is not None


def test_a_request_about_another_repository_is_refused(own: Repo, repo: Repo) -> None:
    with serving(own.path):
        greeting = connect(os.fspath(socket_file(own.path)), PATIENCE)
        assert greeting is not None
        greeting.channel.send(REQUEST, describe(["query", "x"], os.fspath(repo.path), os.fspath(repo.path)))
        kinds = set()
        while (kind := greeting.channel.receive()[0]) == BEAT:
            kinds.add(kind)
        assert kind == b"R"
        greeting.channel.close()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as two users")
def test_another_user_is_not_greeted(repo: Repo, runtime_folder: Path) -> None:
    script = (
        "import os, socket, sys; os.setuid(65534); s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]);"
        "print(len(s.recv(100)))"
    )
    with waiting_server(repo):
        place = socket_file(repo.path)
        for folder in (runtime_folder, place.parent, place):
            folder.chmod(0o777)
        try:
            process = subprocess.run([sys.executable, "-c", script, place], capture_output=True, check=True, text=True)
        finally:
            for folder in (runtime_folder, place.parent):
                folder.chmod(0o700)
    assert process.stdout == "0\n"


@contextmanager
def server_process(repo: Repo, *args: str) -> Iterator["subprocess.Popen[bytes]"]:
    """Run a command that stays; it ends with the block."""
    with subprocess.Popen([*GITMEM, *args], cwd=repo.path, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        try:
            yield process
        finally:
            process.kill()


def owner(repo: Repo) -> int:
    """Return the process that owns the socket, once there is one."""
    wait_for_server(repo.path)
    server = find_server(locate(repo.path), os.environ, PATIENCE)
    return server.pid if server else 0


def test_the_next_server_takes_over_when_the_owner_is_killed(own: Repo, cli: Cli) -> None:
    with server_process(own, "watch") as first:
        assert owner(own) in (first.pid, 0)
        with server_process(own, "watch") as second:
            first.kill()
            first.wait()
            assert owner(own) in (second.pid, 0)
            cold = cli("query", SIGN, cwd=own.path)
            assert without_times(ask("query", SIGN)) == without_times(cold)
            checks = {check.name: check for check in examine_repository(own.path, os.environ)}
            assert checks["server"].message.startswith("`gitmem watch`"), checks["server"]


def test_a_stopped_server_is_ignored_at_any_moment(own: Repo, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(own.path)
    with server_process(own, "watch") as process:
        assert owner(own) in (process.pid, 0)
        assert ask("query", SIGN) is not None
        greeting = connect(os.fspath(socket_file(own.path)), PATIENCE)
        process.send_signal(signal.SIGSTOP)
        assert Client().ask(["query", SIGN]) is None
        shown = subprocess.run([*GITMEM, "query", "-l", SIGN], capture_output=True, text=True, check=False)
        cold = cli("query", "-l", SIGN, cwd=own.path)
        assert (shown.returncode, shown.stdout, shown.stderr) == (cold.code, cold.out, cold.err)
        assert greeting is not None
        greeting.channel.set_timeout(0.1)
        greeting.channel.send(REQUEST, describe(["query", SIGN], os.fspath(own.path), os.fspath(own.path)))
        with pytest.raises(TimeoutError):
            greeting.channel.receive()
        greeting.channel.close()
        process.send_signal(signal.SIGCONT)
        assert ask("query", SIGN) is not None


@pytest.mark.parametrize("options", [[], ["--http", "--port", "0"]])
def test_servers_for_agents_answer_commands_too(own: Repo, cli: Cli, options: list[str]) -> None:
    cold = cli("query", "--json", SIGN, cwd=own.path)
    with server_process(own, "mcp", *options) as process:
        assert process.stdin is not None
        process.stdin.write(b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n')
        process.stdin.flush()
        wait_for_server(own.path)
        assert without_times(ask("query", "--json", SIGN)) == without_times(cold)
        process.stdin.close()
        if not options:
            assert process.wait(PATIENCE) == 0
            assert find_server(locate(own.path), os.environ) is None
