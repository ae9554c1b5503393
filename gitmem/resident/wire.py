"""Messages between a command and a process that stays, over a Unix socket. Imports next to nothing, like `client`.

A message is its kind (one letter), the length of its data (4 bytes, big endian) and the data. The server speaks first:

    server                                    client
    HELLO   protocol and version
                                              REQUEST  command line, folder, environment, terminal
    BEAT    again and again, until the answer
    INPUT   number of bytes wanted            INPUT    bytes of standard input
    OUT, ERR, PAGER                           (the client closes the connection to cancel)
    EXIT    exit code; or REFUSED

OUT and ERR hold the bytes of one write each, in their order. PAGER is the command that shows all further output.
"""

import _socket
import os
import sys

HELLO = b"H"
REQUEST = b"Q"
BEAT = b"B"
INPUT = b"I"
OUT = b"O"
ERR = b"E"
PAGER = b"P"
EXIT = b"X"
REFUSED = b"R"

PROTOCOL = b"gitmem 1"
MAX_MESSAGE = 1 << 22
"""Largest message in bytes. A command line and an environment may have 2 MiB together on Linux."""

MAX_ANSWER = 1 << 26
"""Largest answer in bytes; a command with more output runs without the server."""

MAX_MESSAGES = 1 << 20
"""Most messages of one answer."""

SILENCE_SECONDS = 1.0
"""Time without a message after which the client considers a server dead that has accepted its request."""

BEAT_SECONDS = 0.1
"""Interval between two beats; a tenth of the former, so that a busy server is not considered dead."""

_HEADER_BYTES = 5
_NUMBER_BYTES = 4
_LOCAL_PEERCRED = (0, 1)
"""Level SOL_LOCAL and name LOCAL_PEERCRED of macOS, which the module `_socket` lacks. See unix(4)."""
_XUCRED_BYTES = 76


class Channel:
    """Connected socket that carries messages. One thread sends at a time, and one receives."""

    def __init__(self, connection: _socket.socket) -> None:
        self._connection = connection

    def send(self, kind: bytes, data: bytes = b"") -> None:
        """Send a message. Raises OSError, also after the time set by `set_timeout`."""
        self._connection.sendall(kind + len(data).to_bytes(_NUMBER_BYTES, "big") + data)

    def receive(self) -> tuple[bytes, bytes]:
        """Return kind and data of the next message.

        Raises: EOFError at the end of the connection, ValueError if the message is too large, OSError.
        """
        header = self._read(_HEADER_BYTES)
        length = int.from_bytes(header[1:], "big")
        if length > MAX_MESSAGE:
            raise ValueError("message too large")
        return header[:1], self._read(length)

    def _read(self, length: int) -> bytes:
        parts = []
        while length:
            part = self._connection.recv(min(length, 1 << 18))
            if not part:
                raise EOFError
            parts.append(part)
            length -= len(part)
        return b"".join(parts)

    def set_timeout(self, seconds: float) -> None:
        """Set the time after which sending or receiving a part raises TimeoutError."""
        self._connection.settimeout(seconds)

    def fileno(self) -> int:
        """Return the descriptor of the connection."""
        return self._connection.fileno()

    def shut_down(self) -> None:
        """End the connection in both directions; a thread that waits for it wakes up."""
        try:
            self._connection.shutdown(_socket.SHUT_RDWR)
        except OSError:
            return  # the other end was faster

    def close(self) -> None:
        """Close the connection. May be called several times."""
        self._connection.close()


def peer(connection: _socket.socket) -> tuple[int, int] | None:
    """Return user id and process id of the other end, the latter 0 if unknown; None if the system does not tell."""
    if hasattr(_socket, "SO_PEERCRED"):
        # struct ucred: pid, uid, gid. See unix(7).
        data = connection.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, 12)
        return int.from_bytes(data[4:8], sys.byteorder), int.from_bytes(data[:4], sys.byteorder)
    if os.uname().sysname == "Darwin":
        # struct xucred: version, uid, number of groups, groups.
        data = connection.getsockopt(*_LOCAL_PEERCRED, _XUCRED_BYTES)
        return int.from_bytes(data[4:8], sys.byteorder), 0
    return None


def pack(items: "list[bytes]") -> bytes:
    """Join byte strings, each after its length."""
    return b"".join([len(item).to_bytes(_NUMBER_BYTES, "big") + item for item in items])


def unpack(data: bytes) -> "list[bytes]":
    """Split joined byte strings. Raises ValueError if the data is not the result of `pack`."""
    items, at = [], 0
    while at < len(data):
        start = at + _NUMBER_BYTES
        at = start + int.from_bytes(data[at:start], "big")
        if start > len(data) or at > len(data):
            raise ValueError("incomplete item")
        items.append(data[start:at])
    return items
