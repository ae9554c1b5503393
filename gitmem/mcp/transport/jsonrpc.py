"""JSON-RPC messages over standard input and output: one JSON object a line, and nothing else on standard output.

The two descriptors are duplicated and replaced before any other code can use them. Output of other code goes to
standard error instead, and other code that reads standard input finds it empty.
"""

import json
import os
import threading
from collections.abc import Iterator
from typing import Any, Final

from gitmem.named_tuple import NamedTuple

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600

_READ_BYTES: Final = 1 << 16


class InvalidMessage(NamedTuple):
    """Line that is not a message, with the code and text of the error to answer."""

    code: int
    message: str

    def to_json(self, request_id: str | int | None = None) -> dict[str, Any]:
        """Return the error response; `request_id` is None if the line has no readable id."""
        return {"jsonrpc": "2.0", "id": request_id, "error": {"code": self.code, "message": self.message}}


class MessageStream:
    """Messages to and from one client over two descriptors. Lines longer than `max_bytes` are refused."""

    def __init__(self, source: int, target: int, max_bytes: int) -> None:
        self._source = source
        self._target = target
        self._max_bytes = max_bytes
        self._write_lock = threading.Lock()
        """Held for a whole message: the reading thread answers the handshake while the server writes."""

    def read(self) -> Iterator[dict[str, Any] | InvalidMessage]:
        """Yield messages until the client closes its end. Memory stays bounded for any input."""
        for line in _iter_lines(self._source, self._max_bytes):
            if line is None:
                yield InvalidMessage(INVALID_REQUEST, f"a message has at most {self._max_bytes:,} bytes")
            elif line.strip():
                yield parse_message(line)

    def write(self, message: dict[str, Any]) -> None:
        """Send a whole message. Raises OSError if the client has closed its end."""
        data = memoryview(json.dumps(message, separators=(",", ":")).encode("ascii") + b"\n")
        with self._write_lock:
            while data:
                data = data[os.write(self._target, data) :]


def claim_stdio(max_bytes: int) -> MessageStream:
    """Take standard input and output away from all other code of this process and its children."""
    source, target = os.dup(0), os.dup(1)  # children do not inherit these
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    os.dup2(2, 1)
    return MessageStream(source, target, max_bytes)


def parse_message(line: bytes) -> dict[str, Any] | InvalidMessage:
    """Parse a line. NaN and Infinity are errors: Python reads them, but they are not JSON."""
    try:
        value = json.loads(line, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return InvalidMessage(PARSE_ERROR, "Parse error")
    return value if isinstance(value, dict) else InvalidMessage(INVALID_REQUEST, "Invalid request")


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not valid JSON")


def _iter_lines(source: int, max_bytes: int) -> Iterator[bytes | None]:
    """Yield lines without their ends, including an incomplete last one; None for each line that is too long."""
    incomplete = bytearray()
    skipping = False  # inside a line that is too long; its bytes are dropped
    while data := _read_some(source):
        *ended, rest = data.split(b"\n")
        for part in ended:
            line = bytes(incomplete + part)
            incomplete.clear()
            yield None if skipping or len(line) > max_bytes else line
            skipping = False
        incomplete += rest
        if len(incomplete) > max_bytes:
            incomplete.clear()
            skipping = True
    if incomplete and not skipping:
        yield bytes(incomplete)


def _read_some(source: int) -> bytes:
    try:
        return os.read(source, _READ_BYTES)
    except OSError:  # a terminal or socket that was closed
        return b""
