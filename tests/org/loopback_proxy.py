"""A proxy before a PostgreSQL server that breaks one connection at a chosen statement or byte.

It reads the messages that the client sends: a type of one byte, and four bytes of length. Statements are simple
queries (Q), executions (E) and the ends of copies (c). The DSN must switch off encryption.
"""

import socket
import struct
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Final

_STATEMENTS: Final = b"QEc"
_COPY_DATA: Final = ord("d")
_ANSWERS: Final = b"ZG"
"""Types of the messages that end the answer to a statement: ready for the next one, or for the data of a copy."""


_Work = Callable[[socket.socket, socket.socket, threading.Event], None]


@dataclass(slots=True)
class Fault:
    """Event at which `action` is called, and the connection ends if `ends`.

    It is the statement of a number, counted from 1 over all connections: before the server gets it, or `after` the
    server has answered and before the client gets that. Else it is a number of bytes of copied data.
    """

    action: Callable[[], None]
    statement: int = 0
    after: bool = False
    copied: int = -1
    ends: bool = True


class Proxy:
    """Proxy for a `with` block. `statements` and `copied` are the numbers of statements and bytes so far.

    It outlives its server: connections end while that is down, and new ones reach it after a restart.
    """

    def __init__(self, port: int, fault: Fault | None = None) -> None:
        self.statements = 0
        self.copied = 0
        self._target = port
        self._fault = fault
        self._server = socket.create_server(("127.0.0.1", 0))
        self._threads: list[threading.Thread] = []

    def set_fault(self, fault: Fault | None) -> None:
        """Begin to count again, and break a connection at another event."""
        self.statements = self.copied = 0
        self._fault = fault

    def dsn(self, database: str) -> str:
        """Return the DSN of a database behind the proxy."""
        port = self._server.getsockname()[1]
        options = "sslmode=disable&gssencmode=disable"
        return f"postgresql://postgres@127.0.0.1:{port}/{database}?{options}"

    def __enter__(self) -> "Proxy":
        self._start(self._accept)
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):
            self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()
        for thread in self._threads:
            thread.join(60)

    def _start(self, run: Callable[[], None]) -> None:
        thread = threading.Thread(target=run, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._server.accept()
            except OSError:
                return
            try:
                server = socket.create_connection(("127.0.0.1", self._target))
            except OSError:
                client.close()
                continue
            for each in (client, server):
                # A statement is several small messages: else each waits 40 ms for the acknowledgement of the last one.
                each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            held = threading.Event()  # the next answer goes to nobody
            for work in (self._send, self._answer):
                self._start(partial(self._guard, work, client, server, held))

    @staticmethod
    def _guard(work: _Work, client: socket.socket, server: socket.socket, held: threading.Event) -> None:
        with suppress(OSError):
            work(client, server, held)
        for each in (client, server):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    def _send(self, client: socket.socket, server: socket.socket, held: threading.Event) -> None:
        """Pass on what the client sends."""
        size = _receive(client, 4)
        server.sendall(size + _receive(client, struct.unpack("!I", size)[0] - 4))
        while True:
            head = _receive(client, 5)
            body = _receive(client, struct.unpack("!I", head[1:])[0] - 4)
            if self._breaks(head[0], body, held):
                return
            server.sendall(head + body)

    def _breaks(self, kind: int, body: bytes, held: threading.Event) -> bool:
        """Count a message, and return whether the connection ends here."""
        fault = self._fault
        if kind == _COPY_DATA:
            before, self.copied = self.copied, self.copied + len(body)
            hits = fault is not None and before <= fault.copied < self.copied
        else:
            self.statements += kind in _STATEMENTS
            hits = fault is not None and kind in _STATEMENTS and self.statements == fault.statement
        if fault is None or not hits:
            return False
        if fault.after:
            held.set()
            return False
        self._fault = None
        fault.action()
        return fault.ends

    def _answer(self, client: socket.socket, server: socket.socket, held: threading.Event) -> None:
        """Pass on what the server answers, until the answer that is held back."""
        while True:
            head = _receive(server, 5)
            body = _receive(server, struct.unpack("!I", head[1:])[0] - 4)
            if not held.is_set():
                client.sendall(head + body)
            elif head[0] in _ANSWERS:
                fault, self._fault = self._fault, None
                if fault is not None:
                    fault.action()
                return


def _receive(source: socket.socket, size: int) -> bytes:
    """Return exactly some bytes. Raises ConnectionError at the end."""
    parts = []
    while size:
        part = source.recv(min(size, 1 << 16))
        if not part:
            raise ConnectionError
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
