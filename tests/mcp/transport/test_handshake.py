"""The first words of a session: the same as the SDK's server would say, and said before anything is loaded."""

import os
import sys
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp.client.client import Client
from mcp.shared.memory import create_client_server_memory_streams
from mcp.shared.message import SessionMessage

from gitmem.mcp.server import make_server
from gitmem.mcp.tools.handlers import ToolHandlers
from gitmem.mcp.tools.toolsets import DEFAULT, parse_toolsets
from gitmem.mcp.transport.handshake import PROTOCOL_VERSIONS, Handshake
from tests.gitrepo import unmeasured_environment
from tests.mcp.clients import INITIALIZE, INITIALIZED, RawClient, talk_to_process

LIST = {"jsonrpc": "2.0", "id": "l", "method": "tools/list"}
PING = {"jsonrpc": "2.0", "id": 7, "method": "ping"}


def said_by_the_sdk(folder: Path, messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What the server answers to some requests, one after the other."""
    answers: list[dict[str, Any]] = []

    async def run() -> None:
        server = make_server(ToolHandlers(folder, {}), parse_toolsets(DEFAULT))
        async with create_client_server_memory_streams() as (near, far), anyio.create_task_group() as group:
            group.start_soon(server.run, *far, server.create_initialization_options())
            for message in messages:
                await near[1].send(SessionMessage(types.jsonrpc_message_adapter.validate_python(message)))
                if "id" in message:
                    told = await near[0].receive()
                    assert isinstance(told, SessionMessage)
                    answers.append(told.message.model_dump(by_alias=True, exclude_unset=True, mode="json"))
            group.cancel_scope.cancel()

    anyio.run(run)
    return answers


def introduction(version: str) -> dict[str, Any]:
    return {**INITIALIZE, "params": {**INITIALIZE["params"], "protocolVersion": version}}  # type: ignore[dict-item]


@pytest.mark.parametrize("version", PROTOCOL_VERSIONS)
def test_the_greeting_is_what_the_sdk_would_say(tmp_path: Path, version: str) -> None:
    messages = [introduction(version), INITIALIZED, LIST, {**LIST, "params": {}}, PING]
    handshake = Handshake(parse_toolsets(DEFAULT).values())
    told = [handshake.answer(message) for message in messages if "id" in message]
    assert told == said_by_the_sdk(tmp_path, messages)
    assert handshake.initialize_id == 0


@pytest.mark.parametrize(
    "message",
    [
        introduction("2024-11-05"),
        introduction("2026-07-28"),
        {**INITIALIZE, "id": None},
        {**INITIALIZE, "id": True},
        {**INITIALIZE, "id": 1.5},
        {**INITIALIZE, "jsonrpc": "1.0"},
        {**INITIALIZE, "params": {}},
        {**INITIALIZE, "params": 7},
        {**INITIALIZE, "more": 1},
        {**INITIALIZE, "params": {**INITIALIZE["params"], "clientInfo": {"name": 1}}},  # type: ignore[dict-item]
        LIST,
        PING,
        INITIALIZED,
        {},
    ],
)
def test_what_is_not_plainly_a_greeting_is_left_to_the_server(message: dict[str, Any]) -> None:
    assert Handshake([]).answer(message) is None


def test_only_the_first_introduction_and_plain_questions_are_answered() -> None:
    handshake = Handshake([])
    assert handshake.answer(INITIALIZE)
    assert handshake.answer({**INITIALIZE, "id": 1}) is None
    assert handshake.answer({**LIST, "params": {"cursor": "x"}}) is None
    assert handshake.answer({**LIST, "method": "tools/call"}) is None


PROBE = """
import sys
from gitmem.mcp.transport import stdio
real = stdio.Handshake.answer
def answer(self, message):
    made = real(self, message)
    print("seen", sorted({name.partition(".")[0] for name in sys.modules}), file=sys.stderr, flush=True)
    return made
stdio.Handshake.answer = answer
from gitmem.cli.main import main
sys.argv = ["gitmem", "mcp"]
main()
"""


def test_the_client_is_greeted_before_anything_is_loaded(indexed: Any) -> None:
    command = (sys.executable, "-c", PROBE)
    with RawClient(indexed.path, *command, env=unmeasured_environment()) as client:
        assert client.greet()["result"]["serverInfo"]["name"] == "gitmem"
        assert client.process.stderr is not None
        seen = client.process.stderr.readline().decode()
        assert seen.startswith("seen [")
        for name in ("mcp", "pydantic", "anyio", "asyncio", "numpy", "watchdog", "msgpack"):
            assert f"'{name}'" not in seen
        assert "main" in client.call(1, "status")
        assert client.close() == 0


def test_a_greeted_client_gets_one_answer_to_each_request(indexed: Any) -> None:
    with RawClient(indexed.path) as client:
        for message in (INITIALIZE, INITIALIZED, LIST, PING):
            client.send(message)
        client.send({"jsonrpc": "2.0", "id": 8, "method": "tools/call", "params": {"name": "status"}})
        client.send({**PING, "id": 9})
        told = [client.read()["id"] for _ in range(5)]
        assert sorted(map(str, told)) == ["0", "7", "8", "9", "l"]
        assert client.close() == 0


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_clients_of_both_eras_are_served_over_a_process(indexed: Any, mode: str) -> None:
    async def action(client: Client) -> None:
        made = await client.call_tool("search", {"query": "sign the cookie", "limit": 1})
        assert "src/cookies.py" in str(made.content)
        assert {tool.name for tool in (await client.list_tools()).tools} == set(parse_toolsets(DEFAULT))

    talk_to_process(indexed.path, action, mode)


def test_the_environment_of_a_test_has_no_registry() -> None:
    assert os.environ["GITMEM_NO_REGISTRY"]
