"""The first words of a session, answered before anything is loaded: `initialize`, `ping` and `tools/list`. Pure.

What is said here is what the SDK's server would say (a test compares the two); any message that is not plainly one of
these is left to it.
"""

from collections.abc import Iterable
from typing import Any, Final

from gitmem import __version__
from gitmem.mcp.tools.descriptions import Tool
from gitmem.mcp.tools.instructions import instructions_for

NAME: Final = "gitmem"
TITLE: Final = "gitmem: code search"
VERSIONS: Final = ("2025-11-25", "2025-06-18", "2025-03-26")
"""Revisions of the protocol that differ in nothing said here."""

Json = dict[str, Any]


class Handshake:
    """Answers one client until its server is there."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        offered = {tool.name: tool.to_json() for tool in tools}
        self._tools = list(offered.values())
        self._instructions = instructions_for(offered)
        self.initialized: str | int | None = None
        """The id of the `initialize` that was answered: the server is told of it, but must not answer it again."""

    def answer(self, message: Json) -> Json | None:
        """The answer to a message, None where it is for the server."""
        made = self._result(message) if _is_request(message) else None
        return {"jsonrpc": "2.0", "id": message["id"], "result": made} if made is not None else None

    def _result(self, message: Json) -> Json | None:
        params = message.get("params", {})
        if message["method"] == "initialize" and self.initialized is None and _is_introduction(params):
            self.initialized = message["id"]
            return {
                "protocolVersion": params["protocolVersion"],
                "capabilities": {"tools": {"listChanged": False}},
                "serverInfo": {"name": NAME, "title": TITLE, "version": __version__},
                "instructions": self._instructions,
            }
        if self.initialized is None or params != {}:
            return None
        return {"tools/list": {"tools": self._tools}, "ping": {}}.get(message["method"])


def _is_request(message: Json) -> bool:
    own = {"jsonrpc", "id", "method", "params"}
    named = isinstance(message.get("id"), str | int) and not isinstance(message["id"], bool)
    return message.get("jsonrpc") == "2.0" and named and isinstance(message.get("method"), str) and own >= set(message)


def _is_introduction(params: object) -> bool:
    """Whether a client says plainly who it is, in a version of the protocol known here."""
    if not isinstance(params, dict) or params.get("protocolVersion") not in VERSIONS:
        return False
    client = params.get("clientInfo")
    if not isinstance(client, dict) or not isinstance(params.get("capabilities"), dict):
        return False
    return isinstance(client.get("name"), str) and isinstance(client.get("version"), str) and "_meta" not in params
