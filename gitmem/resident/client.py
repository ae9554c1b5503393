"""Ask a running gitmem for the answer to a command, before anything heavy is imported.

Imports only cheap parts of the standard library, not even `socket`: the whole client must cost less than a second start
of Python. Every failure means that the command runs in this process, so nothing is printed here.
"""

import _socket
import os
import sys
import time

import gitmem
from gitmem.resident.socket_path import find_repository, socket_name, socket_paths
from gitmem.resident.wire import (
    BEAT,
    ERR,
    EXIT,
    HELLO,
    INPUT,
    MAX_ANSWER,
    MAX_MESSAGES,
    OUT,
    PAGER,
    PROTOCOL,
    REQUEST,
    SILENCE_SECONDS,
    Channel,
    pack,
    peer,
)

HELLO_SECONDS = 0.05
"""Longest wait for a server to greet: this much a hung one costs a command."""

_MAX_INPUT = 1 << 20
_NAMESPACE = "/proc/self/ns/mnt"

Answer = list[tuple[bytes, bytes]]
"""Messages OUT, ERR and PAGER in their order, and EXIT at the end."""


class Client:
    """One question to a server. `taken` is the standard input that was read for it, None if it was not read."""

    def __init__(self, hello_seconds: float = HELLO_SECONDS, silence_seconds: float = SILENCE_SECONDS) -> None:
        self._hello_seconds = hello_seconds
        self._silence_seconds = silence_seconds
        self.taken: bytes | None = None

    def ask(self, args: list[str], folder: str = "") -> Answer | None:
        """Return the answer of a server to a command line with `-C folder`; None if this process must answer."""
        try:
            current = os.getcwd()  # noqa: PTH109 (pathlib takes as long to import as Python to start)
            place = find_repository(os.path.realpath(folder) if folder else current)
            if place is None:
                return None
            root, common_dir = place
            for path in socket_paths(os.environ, socket_name(common_dir)):
                greeting = connect(path, self._hello_seconds)
                if greeting is not None:
                    return self._converse(greeting, describe(args, current, root))
        except (OSError, EOFError, ValueError):
            pass
        return None

    def _converse(self, greeting: "Greeting", request: bytes) -> Answer | None:
        """Send the request, and return the complete answer; None from a server of another version, or if it refuses."""
        channel = greeting.channel
        answer: Answer = []
        size = 0
        try:
            if greeting.fields[:2] != [PROTOCOL, gitmem.__version__.encode()]:
                return None
            channel.set_timeout(self._silence_seconds)
            channel.send(REQUEST, request)
            while True:
                kind, data = channel.receive()
                size += len(data)
                if kind == BEAT and not data:
                    continue
                if kind == INPUT:
                    channel.send(INPUT, self._read_input(int.from_bytes(data, "big")))
                    continue
                if kind not in (OUT, ERR, PAGER, EXIT) or size > MAX_ANSWER or len(answer) > MAX_MESSAGES:
                    return None
                answer.append((kind, data))
                if kind == EXIT:
                    return answer if len(data) == 1 else None
        finally:
            channel.close()

    def _read_input(self, limit: int) -> bytes:
        if self.taken is None and 0 < limit <= _MAX_INPUT:
            self.taken = sys.stdin.buffer.read(limit)
        return self.taken or b""


class Greeting:
    """Server of this user that has greeted: its fields are protocol, version and command line."""

    def __init__(self, channel: Channel, pid: int, fields: list[bytes]) -> None:
        self.channel = channel
        self.pid = pid
        self.fields = fields


def connect(path: str, hello_seconds: float = HELLO_SECONDS) -> Greeting | None:
    """Connect to the server at a path; return None if none of this user listens there.

    Raises: OSError, EOFError or ValueError if one listens and does not greet properly or in time.
    """
    deadline = time.monotonic() + hello_seconds
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        connection.settimeout(hello_seconds)
        connection.connect(path)
        owner = peer(connection)
        # Nothing is sent to another user, and nothing read from one.
        if owner is not None and owner[0] == os.geteuid():
            connection.settimeout(max(0.001, deadline - time.monotonic()))
            kind, data = Channel(connection).receive()
            if kind != HELLO:
                raise ValueError("not a greeting")
            return Greeting(Channel(connection), owner[1], data.split(b"\0"))
    except (FileNotFoundError, ConnectionRefusedError, PermissionError, NotADirectoryError):
        pass
    except BaseException:
        connection.close()
        raise
    connection.close()
    return None


def describe(args: list[str], current: str, root: str) -> bytes:
    """Return the data of a request: all on which the output of a command can depend."""
    columns = b""
    for number in (1, 2):
        try:
            columns = b"%d" % os.get_terminal_size(number).columns
            break
        except OSError:
            continue
    streams = [_describe_stream(sys.stdout), _describe_stream(sys.stderr)]
    return pack(
        [
            pack([os.fsencode(arg) for arg in args]),
            os.fsencode(current),
            os.fsencode(root),
            pack([name + b"=" + value for name, value in os.environb.items()]),
            *streams,
            columns,
            b"" if sys.stdin is None or sys.stdin.closed else b"open",
            describe_process(),
        ]
    )


def _describe_stream(stream: object) -> bytes:
    """Return terminal or not, buffering and encoding of an output stream."""
    terminal = bool(stream.isatty())  # type: ignore[attr-defined]
    line_buffering = bool(getattr(stream, "line_buffering", False))
    write_through = bool(getattr(stream, "write_through", False))
    encoding = str(getattr(stream, "encoding", ""))
    return b"%d %d %d %s" % (terminal, line_buffering, write_through, encoding.encode("ascii"))


def describe_process() -> bytes:
    """Return code, Python, encoding of names, and root and mounts of this process: they decide what a path means."""
    package = os.path.dirname(os.path.realpath(gitmem.__file__))  # noqa: PTH120
    places = []
    for path in ("/", _NAMESPACE):
        try:
            status = os.stat(path)  # noqa: PTH116
            places.append(b"%d-%d" % (status.st_dev, status.st_ino))
        except OSError:  # no /proc, as on macOS
            places.append(b"")
    return pack([os.fsencode(package), sys.version.encode(), sys.getfilesystemencoding().encode(), *places])
