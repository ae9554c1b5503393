"""Messages over standard input and output: one JSON value a line, and nothing else on standard output.

The two descriptors are taken away before anything else can use them: whatever prints to standard output is sent to
standard error, whatever reads standard input finds it empty.
"""

import json
import os
import threading
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

_READ_BYTES: Final = 1 << 16

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600


class InvalidMessage(NamedTuple):
    """A line that is no message, with the code and the words it is answered with."""

    code: int
    message: str

    def answer(self, request: str | int | None = None) -> dict[str, Any]:
        """The error a client is told, for the request of this id where there is one."""
        return {"jsonrpc": "2.0", "id": request, "error": {"code": self.code, "message": self.message}}


class MessageStream:
    """The two ends of a connection, by their descriptors. Lines longer than `most` bytes are refused."""

    def __init__(self, source: int, target: int, most: int) -> None:
        self._source = source
        self._target = target
        self._most = most
        self._writing = threading.Lock()

    def read(self) -> Iterator[dict[str, Any] | InvalidMessage]:
        """Messages until the other side closes its end. Memory stays bounded, whatever arrives."""
        for line in _iter_lines(self._source, self._most):
            if line is None:
                yield InvalidMessage(INVALID_REQUEST, f"a message has at most {self._most:,} bytes")
            elif line.strip():
                yield parse_message(line)

    def write(self, message: dict[str, Any]) -> None:
        """Send a message whole. Raises OSError where nobody reads any more."""
        data = memoryview(json.dumps(message, separators=(",", ":")).encode("ascii") + b"\n")
        with self._writing:
            while data:
                data = data[os.write(self._target, data) :]


def claim_stdio(most: int) -> MessageStream:
    """Take standard input and output away from everything else in this process and its children."""
    source, target = os.dup(0), os.dup(1)  # not inheritable
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    os.dup2(2, 1)
    return MessageStream(source, target, most)


def parse_message(line: bytes) -> dict[str, Any] | InvalidMessage:
    """A line as a message."""
    try:
        value = json.loads(line, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return InvalidMessage(PARSE_ERROR, "Parse error")
    return value if isinstance(value, dict) else InvalidMessage(INVALID_REQUEST, "Invalid request")


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def _iter_lines(source: int, most: int) -> Iterator[bytes | None]:
    """Lines without their ends, the last one even if it has none; None for one that is too long."""
    waiting = bytearray()
    skipping = False
    while data := _read_some(source):
        *ended, rest = data.split(b"\n")
        for part in ended:
            whole = bytes(waiting + part)
            waiting.clear()
            yield None if skipping or len(whole) > most else whole
            skipping = False
        waiting += rest
        if len(waiting) > most:
            waiting.clear()
            skipping = True
    if waiting and not skipping:
        yield bytes(waiting)


def _read_some(source: int) -> bytes:
    try:
        return os.read(source, _READ_BYTES)
    except OSError:  # a terminal or socket that went away
        return b""
