"""Clients of the server: the SDK's own, in memory or over a process, and one that says what no client should."""

import json
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Final, Self

import anyio
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from gitmem.mcp.server import make_server
from gitmem.mcp.tools.handlers import ToolHandlers
from gitmem.mcp.tools.toolsets import DEFAULT, parse_toolsets

SERVER: Final = (sys.executable, "-P", "-m", "gitmem", "mcp")
INITIALIZE: Final = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
INITIALIZED: Final = {"jsonrpc": "2.0", "method": "notifications/initialized"}
PATIENCE: Final = 300.0


def talk(folder: Path, action: Callable[[Client], Awaitable[None]], toolsets: str = DEFAULT) -> None:
    """Let a client talk to a server within this process, in the handshake of today's clients."""

    async def run() -> None:
        handlers = ToolHandlers(folder, dict(os.environ))
        try:
            server = make_server(handlers, parse_toolsets(toolsets))
            with anyio.fail_after(PATIENCE):
                async with Client(server, mode="legacy") as client:
                    await action(client)
        finally:
            handlers.close(5)

    anyio.run(run)


def talk_to_process(
    folder: Path, action: Callable[[Client], Awaitable[None]], mode: str = "legacy", toolsets: str = DEFAULT
) -> None:
    """Let a client talk to a server in a process of its own; `mode` is `legacy` (handshake) or `auto`."""

    async def run() -> None:
        args = [*SERVER[1:], "--toolsets", toolsets]
        started = StdioServerParameters(command=SERVER[0], args=args, cwd=folder, env=dict(os.environ))
        with anyio.fail_after(PATIENCE):
            async with Client(stdio_client(started), mode=mode) as client:
                await action(client)

    anyio.run(run)


async def ask(client: Client, tool: str, /, **arguments: Any) -> str:
    """The text of a call that must not fail."""
    made = await client.call_tool(tool, arguments)
    assert not made.is_error, made.content
    assert made.structured_content is None
    (content,) = made.content
    return str(content.text)  # type: ignore[union-attr]


async def refused(client: Client, tool: str, /, **arguments: Any) -> str:
    """What a call is told that must fail."""
    made = await client.call_tool(tool, arguments)
    assert made.is_error, made.content
    return str(made.content[0].text)  # type: ignore[union-attr]


class RawClient:
    """A server in a process, spoken to in bytes. Whatever it says on standard output must be JSON-RPC."""

    def __init__(self, folder: Path, *command: str, **options: Any) -> None:
        options = {"stderr": subprocess.PIPE, "env": {**os.environ, **options.pop("env", {})}, **options}
        self.process = subprocess.Popen(
            command or SERVER, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, **options
        )

    def write(self, data: bytes) -> None:
        """Send bytes as they are."""
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, message: object) -> None:
        """Send one message."""
        self.write(json.dumps(message).encode() + b"\n")

    def read(self) -> dict[str, Any]:
        """The next message."""
        assert self.process.stdout is not None
        message = json.loads(self.process.stdout.readline())
        assert message["jsonrpc"] == "2.0"
        return dict(message)

    def answer(self, message: dict[str, Any]) -> dict[str, Any]:
        """Send a request and read on until it is answered."""
        self.send(message)
        while (told := self.read()).get("id") != message["id"] or "method" in told:
            pass
        return told

    def greet(self) -> dict[str, Any]:
        """Go through the handshake."""
        told = self.answer(INITIALIZE)
        self.send(INITIALIZED)
        return told

    def call(self, number: int, tool: str, **arguments: Any) -> str:
        """Call a tool; returns the text, of an answer or of an error."""
        params = {"name": tool, "arguments": arguments}
        told = self.answer({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})
        return str(told["result"]["content"][0]["text"])

    def close(self) -> int:
        """Close standard input and wait for the end; returns the exit code."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.end()

    def end(self) -> int:
        """Wait for the end; returns the exit code."""
        try:
            return self.process.wait(timeout=PATIENCE)
        finally:
            self.process.kill()
            for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
                if stream is not None:
                    stream.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.end()
