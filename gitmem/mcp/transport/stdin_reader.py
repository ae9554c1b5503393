"""What a client says, read by a thread of its own. It is greeted at once; all else waits until the server is there."""

import threading
from collections import deque
from collections.abc import Callable
from typing import Any, Final

from gitmem.mcp.transport.handshake import Handshake
from gitmem.mcp.transport.jsonrpc import InvalidMessage, MessageStream
from gitmem.mcp.transport.shutdown import Shutdown

Json = dict[str, Any]
Forward = Callable[[Json], None]

_MOST_WAITING: Final = 256
"""Messages kept until the server is there; then the client has to wait."""


class StdinReader:
    """Reads what the client says; greets it until `connect` hands over to the server."""

    def __init__(self, wire: MessageStream, greeter: Handshake, life: Shutdown) -> None:
        self.wire = wire
        self.greeter = greeter
        self.greeted = threading.Event()
        self._life = life
        self._waiting: deque[Json] = deque()
        self._room = threading.Condition()
        self._forward: Forward | None = None
        life.on_end(self.greeted.set)

    def read(self) -> None:
        """Read until the client closes its end, then end the server."""
        try:
            for message in self.wire.read():
                if isinstance(message, InvalidMessage):
                    self.wire.write(message.answer())
                else:
                    self._take(message)
        except OSError:
            return  # nobody reads our answers
        finally:
            self._life.end()

    def connect(self, forward: Forward) -> None:
        """Hand every message on to a function, those that wait first. It returns when the message is taken."""
        with self._room:
            while self._waiting:
                forward(self._waiting.popleft())
            self._forward = forward
            self._room.notify_all()

    def _take(self, message: Json) -> None:
        with self._room:
            forward = self._forward
            if forward is None:
                answer = self.greeter.answer(message)
                if answer is not None:
                    self.wire.write(answer)
                if answer is None or message["method"] == "initialize":
                    self._waiting.append(message)
                self.greeted.set()
                self._room.wait_for(lambda: len(self._waiting) < _MOST_WAITING or self._forward)
                return
        forward(message)
