"""Handshake of a session, answered before the SDK is loaded: `initialize`, `ping` and `tools/list`. Pure.

Loading the SDK takes longer than everything else, and until the handshake a client has no tools. The answers are the
same as those of the SDK's server, and a test compares them. Any message that is not exactly one of these requests is
left to the server.
"""

from collections.abc import Iterable
from typing import Any, Final

from gitmem import __version__
from gitmem.mcp.tools.descriptions import Tool
from gitmem.mcp.tools.instructions import instructions_for
from gitmem.mcp.tools.toolsets import offers_resources

NAME: Final = "gitmem"
TITLE: Final = "gitmem: code search"

PROTOCOL_VERSIONS: Final = ("2025-11-25", "2025-06-18", "2025-03-26")
"""Versions of the protocol in which these answers are the same. Others are negotiated by the SDK."""

Json = dict[str, Any]

_REQUEST_FIELDS: Final = {"jsonrpc", "id", "method", "params"}


class Handshake:
    """Answers the first requests of one client."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        tools_by_name = {tool.name: tool.to_json() for tool in tools}
        self._tools = list(tools_by_name.values())
        self._instructions = instructions_for(tools_by_name)
        resources = {"subscribe": False, "listChanged": False}
        self._resources = {"resources": resources} if offers_resources(tools_by_name) else {}
        self.initialize_id: str | int | None = None
        """Id of the answered `initialize`. The SDK's server gets the request too, but its answer must be dropped."""

    def answer(self, message: Json) -> Json | None:
        """Return the answer to a message, None if it is left to the server."""
        result = self._result(message) if _is_request(message) else None
        return {"jsonrpc": "2.0", "id": message["id"], "result": result} if result is not None else None

    def _result(self, message: Json) -> Json | None:
        params = message.get("params", {})
        if message["method"] == "initialize" and self.initialize_id is None and _is_initialize(params):
            self.initialize_id = message["id"]
            return {
                "protocolVersion": params["protocolVersion"],
                "capabilities": {**self._resources, "tools": {"listChanged": False}},
                "serverInfo": {"name": NAME, "title": TITLE, "version": __version__},
                "instructions": self._instructions,
            }
        if self.initialize_id is None or params != {}:
            return None
        return {"tools/list": {"tools": self._tools}, "ping": {}}.get(message["method"])


def _is_request(message: Json) -> bool:
    """Return whether a message is a valid request without unknown fields."""
    request_id = message.get("id")
    has_id = isinstance(request_id, str | int) and not isinstance(request_id, bool)
    has_method = isinstance(message.get("method"), str)
    return message.get("jsonrpc") == "2.0" and has_id and has_method and set(message) <= _REQUEST_FIELDS


def _is_initialize(params: object) -> bool:
    """Return whether parameters of `initialize` are complete and of a version known here."""
    if not isinstance(params, dict) or params.get("protocolVersion") not in PROTOCOL_VERSIONS:
        return False
    client = params.get("clientInfo")
    if not isinstance(client, dict) or not isinstance(params.get("capabilities"), dict):
        return False
    return isinstance(client.get("name"), str) and isinstance(client.get("version"), str) and "_meta" not in params
