"""Clients that send slowly, send nothing, or are too many keep nobody out, and a signal always ends the server."""

import os
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
import uvicorn
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from gitmem.mcp.transport.http_auth import TOKEN_VARIABLE
from gitmem.mcp.transport.http_limits import BACKLOG, MAX_CONNECTIONS, LimitedConnection, connection_limit
from tests.gitrepo import Repo
from tests.mcp.clients import PATIENCE, SERVER

HEAD = b"POST / HTTP/1.1\r\nHost: x\r\n"
WHOLE = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
SLOW = 0.3
"""Seconds, for limits whose expiry a test waits for."""


async def echo(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer with the body; `/early` before it is read."""
    body = b""
    while scope["path"] != "/early":
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        body += message.get("body", b"")
        if not message.get("more_body"):
            break
    await Response(b"got " + body)(scope, receive, send)


@contextmanager
def serving(connection: type[LimitedConnection]) -> Iterator[Callable[[], socket.socket]]:
    """Yield a function that connects to a server with these limits."""
    with socket.create_server(("127.0.0.1", 0)) as listening, ExitStack() as sockets:
        config = uvicorn.Config(echo, http=connection, log_config=None, lifespan="off", timeout_graceful_shutdown=1)
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, args=([listening],))
        thread.start()

        def connect() -> socket.socket:
            return sockets.enter_context(socket.create_connection(listening.getsockname(), PATIENCE))

        try:
            yield connect
        finally:
            sockets.close()
            server.should_exit = True
            thread.join()


def read_to_end(connection: socket.socket) -> bytes:
    """Read until the server closes the connection."""
    data = b""
    while part := connection.recv(1 << 16):
        data += part
    return data


class Patient(LimitedConnection):
    """Connection whose limits on time no test reaches."""

    header_seconds = body_seconds = PATIENCE


class SlowHead(Patient):
    """Connection that expects the head of a request soon."""

    header_seconds = SLOW


class SlowBody(Patient):
    """Connection that expects the body of a request soon."""

    body_seconds = SLOW


class Few(Patient):
    """At most two connections."""

    max_connections = staticmethod(lambda: 2)


@pytest.mark.parametrize("sent", [b"", b"POST / HT", HEAD, HEAD + b"X-Slow: "])
def test_a_head_that_does_not_come_ends_the_connection(sent: bytes) -> None:
    with serving(SlowHead) as connect:
        client = connect()
        client.sendall(sent)
        assert read_to_end(client).startswith(b"HTTP/1.1 408 Request Timeout\r\n")


def test_bytes_now_and_then_do_not_extend_the_time() -> None:
    with serving(SlowHead) as connect:
        client = connect()
        client.settimeout(SLOW / 10)
        sent, answer = 0, b""
        while not answer:
            client.send(HEAD[:1] if sent == 0 else b"x")
            sent += 1
            try:
                answer = client.recv(100)
            except TimeoutError:
                assert sent < PATIENCE / SLOW * 10
        assert answer.startswith(b"HTTP/1.1 408")


def test_a_second_request_has_a_limit_too() -> None:
    with serving(SlowHead) as connect:
        client = connect()
        client.sendall(WHOLE)
        assert client.recv(15) == b"HTTP/1.1 200 OK"
        client.sendall(b"GET /")
        assert b"HTTP/1.1 408 Request Timeout\r\n" in read_to_end(client)


def test_a_body_that_does_not_come_ends_the_connection() -> None:
    with serving(SlowBody) as connect:
        client = connect()
        client.sendall(HEAD + b"Content-Length: 9\r\n\r\nhalf")
        assert read_to_end(client).startswith(b"HTTP/1.1 408 Request Timeout\r\n")


def test_the_rest_of_a_request_that_was_answered_early_has_a_limit() -> None:
    with serving(SlowHead) as connect:
        client = connect()
        client.sendall(HEAD.replace(b"/", b"/early", 1) + b"Content-Length: 9\r\n\r\nhalf")
        answer = read_to_end(client)
        assert answer.startswith(b"HTTP/1.1 200 OK")
        assert b" 408 " in answer


def test_whole_requests_are_answered_one_after_the_other() -> None:
    with serving(Patient) as connect:
        client = connect()
        request = HEAD + b"Content-Length: 4\r\n\r\n"
        for body in (b"half", b"full"):
            client.sendall(request)
            client.sendall(body)
            answer = b""
            while not answer.endswith(b"got " + body):
                answer += client.recv(1 << 16)
        client.sendall(2 * (request + b"last"))  # pipelined
        answer = b""
        while answer.count(b"got last") < 2:
            answer += client.recv(1 << 16)


def test_the_connection_that_has_waited_longest_makes_way() -> None:
    with serving(Few) as connect:
        first, second = connect(), connect()
        third = connect()
        third.sendall(WHOLE)
        assert read_to_end(first).startswith(b"HTTP/1.1 503 Service Unavailable\r\n")
        assert third.recv(15) == b"HTTP/1.1 200 OK"
        second.sendall(WHOLE)
        assert second.recv(15) == b"HTTP/1.1 200 OK"


def test_the_connections_stay_below_the_limit_on_descriptors() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        for descriptors in (40, 64, 256, 1024):
            resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, hard))
            assert 1 <= connection_limit() + BACKLOG <= max(descriptors // 2, BACKLOG + 1)
            assert connection_limit() <= MAX_CONNECTIONS
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert connection_limit() == min(MAX_CONNECTIONS, max(1, soft // 2 - BACKLOG))


def test_a_flood_of_half_requests_is_survived_and_logged_in_few_lines(indexed: Repo) -> None:
    limited = [sys.executable, "-c", LIMITED, *SERVER, "--http", "--port", "0"]
    environment = {**os.environ, TOKEN_VARIABLE: "a token of enough characters"}
    process = subprocess.Popen(limited, cwd=indexed.path, env=environment, stderr=subprocess.PIPE)
    assert process.stderr is not None
    with ExitStack() as sockets:
        sockets.callback(process.kill)
        port = int(process.stderr.readline().decode().rsplit(":", 1)[1].split("/")[0])
        for _ in range(80):
            half = sockets.enter_context(socket.socket())
            half.setblocking(False)
            half.connect_ex(("127.0.0.1", port))
        deadline = time.monotonic() + PATIENCE
        while ask_health(port) != b"HTTP/1.1 200 OK":  # among so many, a connection may have to make way itself
            assert time.monotonic() < deadline
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0
        assert len(process.stderr.read()) < 2000
        process.stderr.close()


def ask_health(port: int) -> bytes:
    """Return the first bytes of an answer; none if the connection was refused."""
    try:
        with socket.create_connection(("127.0.0.1", port), PATIENCE) as client:
            client.sendall(f"GET /health HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
            return client.recv(15)
    except ConnectionError:
        return b""


LIMITED = """
import os, resource, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
os.execv(sys.argv[1], sys.argv[1:])
"""

STUCK = """
import socket, sys, time
from gitmem.mcp.transport.http import run_until_signal
from gitmem.mcp.transport.shutdown import Shutdown
async def stuck(scope, receive, send):
    if scope["type"] == "http":
        print("stuck", flush=True)
        time.sleep(1000)
    await send({"type": (await receive())["type"] + ".complete"})
    await receive()
    await send({"type": "lifespan.shutdown.complete"})
listening = socket.create_server(("127.0.0.1", 0))
ready = lambda: print(listening.getsockname()[1], flush=True)
shutdown = Shutdown(0.1)
run_until_signal(stuck, listening, print, ready=ready, shutdown=shutdown)
shutdown.finish()
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
@pytest.mark.parametrize("is_stuck", [False, True])
def test_a_signal_ends_the_server_even_if_its_loop_is_stuck(
    tmp_path: Path, number: signal.Signals, is_stuck: bool
) -> None:
    process = subprocess.Popen([sys.executable, "-c", STUCK], cwd=tmp_path, stdout=subprocess.PIPE)
    assert process.stdout is not None
    try:
        port = int(process.stdout.readline())
        with socket.create_connection(("127.0.0.1", port), PATIENCE) as client:
            if is_stuck:
                client.sendall(WHOLE)
                assert process.stdout.readline() == b"stuck\n"
            process.send_signal(number)
            assert process.wait(PATIENCE) == 0
    finally:
        process.kill()
        process.stdout.close()
