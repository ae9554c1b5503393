"""Over HTTP: who is let in, and what is served to them."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from starlette.testclient import TestClient

from gitmem.cli.command_service import serve_commands
from gitmem.errors import UsageError
from gitmem.mcp.tools.handlers import ToolHandlers
from gitmem.mcp.tools.toolsets import DEFAULT, parse_toolsets
from gitmem.mcp.transport.http import LOOPBACK, MAX_SESSIONS, hosts_of, make_app, serve_http
from gitmem.mcp.transport.http_auth import TOKEN_VARIABLE
from tests.gitrepo import Repo
from tests.mcp.clients import INITIALIZE, PATIENCE, SERVER, ask

TOKEN = "a token of enough characters"
BEARER = {"Authorization": f"Bearer {TOKEN}"}
HELLO = {"capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
LIST = {"jsonrpc": "2.0", "id": 5, "method": "tools/list"}
MCP = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}


@pytest.fixture
def http(indexed: Repo) -> Iterator[TestClient]:
    """The application, asked as if over the network, with a token."""
    handlers = ToolHandlers(indexed.path, {})
    app = make_app(handlers, parse_toolsets(DEFAULT), hosts=hosts_of(LOOPBACK, 8008), token=TOKEN)
    with TestClient(app, base_url="http://127.0.0.1:8008") as client:
        yield client
    handlers.close(5)


def test_health_needs_no_token_and_tells_nothing_of_the_repository(http: TestClient, indexed: Repo) -> None:
    made = http.get("/health")
    assert made.status_code == 200
    assert made.json()["status"] == "ok"
    assert str(indexed.path) not in made.text


@pytest.mark.parametrize("path", ["/mcp", "/mcp/"])
def test_a_greeting_with_the_token_is_answered(http: TestClient, path: str) -> None:
    made = http.post(path, json=INITIALIZE, headers={**MCP, **BEARER}, follow_redirects=False)
    assert made.status_code == 200
    assert '"name":"gitmem"' in made.text


@pytest.mark.parametrize(
    "headers",
    [{}, {"Authorization": TOKEN}, {"Authorization": "Bearer "}, {"Authorization": f"Basic {TOKEN}"},
     {"Authorization": f"Bearer {TOKEN}x"}, {"Authorization": f"Bearer {TOKEN[:-1]}"}],
)  # fmt: skip
@pytest.mark.parametrize(
    "path",
    ["/mcp", "/mcp/", "/mcp/health", "/mcp/mcp/health", "/health/", "/health/x", "/HEALTH", "//health", "/", "/x"],
)
def test_nothing_but_health_is_served_without_the_token(http: TestClient, headers: dict[str, str], path: str) -> None:
    assert http.post(path, json=INITIALIZE, headers={**MCP, **headers}).status_code == 401
    assert http.get(path, headers={**MCP, **headers}).status_code == 401


def test_a_refusal_says_which_token_is_needed(http: TestClient) -> None:
    made = http.post("/mcp", json=INITIALIZE, headers=MCP)
    for said in (made.headers["WWW-Authenticate"], made.json()["error_description"]):
        assert "Authorization: Bearer TOKEN" in said
        assert "`gitmem mcp --http` printed" in said
        assert "GITMEM_MCP_TOKEN" in said
        assert TOKEN not in said


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8008", "127.0.0.1.evil.example:8008", "", "localhost:8008.evil.example",
     "127.0.0.1:@evil.example", "localhost:", "localhost", "localhost:8009", "[::1]:8008x", " ", "localhost:8008,evil"],
)  # fmt: skip
@pytest.mark.parametrize("path", ["/health", "/mcp/"])
def test_another_name_of_this_host_is_refused(http: TestClient, host: str, path: str) -> None:
    assert http.get(path, headers={**BEARER, "Host": host}).status_code == 421


@pytest.mark.parametrize("host", ["127.0.0.1:8008", "localhost:8008", "LocalHost:8008", "[::1]:8008"])
def test_the_names_of_this_server_are_served(http: TestClient, host: str) -> None:
    assert http.get("/health", headers={"Host": host, "Origin": f"http://{host}"}).status_code == 200


def test_the_usual_port_may_be_left_out() -> None:
    assert hosts_of(["localhost", "::1"], 80) == ["localhost:80", "[::1]:80", "localhost", "[::1]"]
    assert hosts_of(["localhost", "::1", "::1"], 8080) == ["localhost:8080", "[::1]:8080"]


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "https://evil.example:8008", "null", "http://localhost:8008.evil.example", "http://localhost",
     "http://localhost:9000", "http://localhost:8008/", "ftp://localhost:8008", "localhost:8008", ""],
)  # fmt: skip
def test_another_site_is_refused(http: TestClient, origin: str) -> None:
    assert http.post("/mcp/", json=INITIALIZE, headers={**MCP, **BEARER, "Origin": origin}).status_code == 403
    assert http.get("/health", headers={"Origin": origin}).status_code == 403
    assert http.get("/health", headers={"Origin": "http://localhost:8008"}).status_code == 200
    both = [("Origin", "http://localhost:8008"), ("Origin", origin)]
    assert http.get("/health", headers=both).status_code == 403


def test_a_body_has_a_bound(http: TestClient) -> None:
    made = http.post("/mcp/", content=b"x" * (2 << 20), headers={**MCP, **BEARER})
    assert made.status_code == 413


def greet(http: TestClient, version: str = "2025-11-25") -> str:
    """Open a session and return its id."""
    params = {**HELLO, "protocolVersion": version}
    made = http.post("/mcp", json={**INITIALIZE, "params": params}, headers={**MCP, **BEARER})
    assert made.status_code == 200, made.text
    return str(made.headers["mcp-session-id"])


def events_of(text: str) -> list[dict[str, str]]:
    """Return the fields of each event of a stream."""
    blocks = text.replace("\r\n", "\n").strip().split("\n\n")
    return [{key: value.strip() for key, _, value in (line.partition(":") for line in block.split("\n"))}
            for block in blocks]  # fmt: skip


def test_there_is_a_bound_on_sessions_and_room_again_when_one_ends(http: TestClient) -> None:
    sessions = [greet(http) for _ in range(MAX_SESSIONS)]
    refused = http.post("/mcp", json=INITIALIZE, headers={**MCP, **BEARER})
    assert refused.status_code == 503
    assert http.delete("/mcp", headers={**BEARER, "mcp-session-id": sessions[0]}).status_code == 200
    greet(http)


def test_a_session_that_nobody_uses_expires(indexed: Repo) -> None:
    handlers = ToolHandlers(indexed.path, {})
    app = make_app(handlers, parse_toolsets(DEFAULT), hosts=(), token="", max_sessions=1, session_seconds=0.05)
    with TestClient(app) as client:
        greet(client)
        deadline = time.monotonic() + PATIENCE
        while client.post("/mcp", json=INITIALIZE, headers=MCP).status_code == 503:
            assert time.monotonic() < deadline
    handlers.close(5)


@pytest.mark.parametrize("header", [{}, {"mcp-protocol-version": "2025-03-26"}])
def test_a_stream_begins_with_an_id_and_a_time_to_reconnect(http: TestClient, header: dict[str, str]) -> None:
    headers = {**MCP, **BEARER, **header, "mcp-session-id": greet(http)}
    first, second = events_of(http.post("/mcp", json=LIST, headers=headers).text)
    assert first["data"] == ""
    assert first["id"]
    assert first["retry"] == "1000"
    assert json.loads(second["data"])["id"] == LIST["id"]


def test_an_older_client_gets_no_empty_event(http: TestClient) -> None:
    headers = {**MCP, **BEARER, "mcp-session-id": greet(http, "2025-06-18")}
    (only,) = events_of(http.post("/mcp", json=LIST, headers=headers).text)
    assert json.loads(only["data"])["id"] == LIST["id"]


def test_a_client_that_lost_its_stream_gets_the_answer_of_its_own_session(http: TestClient) -> None:
    session, other = greet(http), greet(http)
    headers = {**MCP, **BEARER, "mcp-session-id": session}
    first, second = events_of(http.post("/mcp", json=LIST, headers=headers).text)
    http.post("/mcp", json={**LIST, "method": "ping"}, headers={**headers, "mcp-session-id": other})
    again = events_of(http.get("/mcp", headers={**headers, "Last-Event-ID": first["id"]}).text)
    assert again == [second]
    (pong,) = events_of(
        http.get("/mcp", headers={**headers, "mcp-session-id": other, "Last-Event-ID": first["id"]}).text
    )
    assert json.loads(pong["data"])["result"] == {}
    assert http.get("/mcp", headers={**headers, "Last-Event-ID": "999-1"}).text == ""


@contextmanager
def serving(folder: Path, *options: str) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """A server in a process, and where it says it listens."""
    process = subprocess.Popen(
        [*SERVER, "--http", *options], cwd=folder, env={**os.environ, TOKEN_VARIABLE: TOKEN}, stderr=subprocess.PIPE
    )
    assert process.stderr is not None
    try:
        yield process, process.stderr.readline().decode().split()[-1]
    finally:
        process.terminate()
        try:
            assert process.wait(20) == 0
        finally:
            process.kill()
            process.stderr.close()


def test_the_sdks_client_is_served_over_a_port(indexed: Repo) -> None:
    with serving(indexed.path, "--port", "0") as (_, url):

        async def run() -> None:
            async with httpx2.AsyncClient(headers=BEARER) as http:
                with anyio.fail_after(PATIENCE):
                    await asked(Client(streamable_http_client(url, http_client=http)))

        async def asked(client: Client) -> None:
            async with client:
                assert "src/cookies.py" in await ask(client, "search", query="sign the cookie", limit=1)

        anyio.run(run)


def test_a_socket_is_its_owners_and_needs_no_token(indexed: Repo, tmp_path: Path) -> None:
    place = tmp_path / "s"
    with serving(indexed.path, "--socket", str(place)) as (_, told):
        assert told == str(place)
        assert place.stat().st_mode & 0o077 == 0
        with httpx2.Client(transport=httpx2.HTTPTransport(uds=str(place))) as http:
            made = http.post("http://anything/mcp/", json=INITIALIZE, headers=MCP)
            assert made.status_code == 200
    assert not place.exists()


SILENT: Any = {"announce": print, "serve_commands": serve_commands("test")}
"""Arguments that are never used: these servers do not start."""


def test_a_place_that_is_taken_is_refused(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(UsageError, match=f"cannot listen on 127.0.0.1 port {port}"):
            serve_http(tmp_path, {}, {}, host="127.0.0.1", port=port, path="", **SILENT)
    file = tmp_path / "file"
    file.write_text("keep")
    with pytest.raises(UsageError, match="cannot listen on"):
        serve_http(tmp_path, {}, {}, host="", port=0, path=str(file), **SILENT)
    assert file.read_text() == "keep"


def test_a_short_token_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="shorter than 16"):
        serve_http(tmp_path, {TOKEN_VARIABLE: "short"}, {}, host="", port=0, path="", **SILENT)


def test_the_server_says_where_it_listens_and_with_which_token_if_it_made_one(indexed: Repo) -> None:
    environment = {name: value for name, value in os.environ.items() if name != TOKEN_VARIABLE}
    command = [sys.executable, "-P", "-m", "gitmem", "mcp", "--http", "--port", "0"]
    process = subprocess.Popen(command, cwd=indexed.path, env=environment, stderr=subprocess.PIPE)
    assert process.stderr is not None
    assert process.stderr.readline().startswith(b"gitmem: serving http://127.0.0.1:")
    assert process.stderr.readline().startswith(b"gitmem: Authorization: Bearer ")
    process.terminate()
    assert process.wait(20) == 0
    process.stderr.close()
