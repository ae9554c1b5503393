"""Answer of a tool, as the server sends it. No import of the SDK."""

from collections.abc import Mapping
from typing import Any, Final

from gitmem.named_tuple import NamedTuple

INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603


class ToolAnswer(NamedTuple):
    """Text of an answer; with an output schema also its values. `is_error` says that the call failed."""

    text: str
    values: Mapping[str, Any] | None = None
    is_error: bool = False


class ProtocolError(Exception):
    """Failure of a call that is sent as an error of the protocol, with a code of JSON-RPC and optional data."""

    def __init__(self, code: int, message: str, data: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data
