"""Reader of the client's messages, in a thread of its own. It answers the handshake until the server is loaded.

before `attach`   the thread answers the handshake itself and queues all other messages
after `attach`    the thread forwards every message to the server
"""

import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any, Final

from gitmem.mcp.transport.handshake import Handshake
from gitmem.mcp.transport.jsonrpc import InvalidMessage, MessageStream
from gitmem.mcp.transport.shutdown import Shutdown

Json = dict[str, Any]
Forward = Callable[[Json, float], None]
"""Passes a message to the server, with the time at which it was read, by `time.monotonic`.

Returns when the server has accepted it, so that a fast client has to wait.
"""

_MAX_QUEUED: Final = 256
"""Messages queued until the server is loaded; then the client has to wait."""


class StdinReader:
    """Reads the messages of one client."""

    def __init__(self, stream: MessageStream, handshake: Handshake, shutdown: Shutdown) -> None:
        self.stream = stream
        self.handshake = handshake
        self.first_message_handled = threading.Event()
        """Set after the first message, or at the shutdown. Loading the server before would delay the handshake."""
        self._shutdown = shutdown
        self._queue: deque[tuple[Json, float]] = deque()
        self._attached = threading.Condition()
        """Guards the queue and `_forward`; notified when the server is attached."""
        self._forward: Forward | None = None
        shutdown.add_callback(self.first_message_handled.set)

    def read(self) -> None:
        """Read until the client closes its end, then request the shutdown."""
        try:
            for message in self.stream.read():
                if isinstance(message, InvalidMessage):
                    self.stream.write(message.to_json())
                else:
                    self._handle(message)
        except OSError:
            return  # the client no longer reads our answers
        finally:
            self._shutdown.request()

    def attach(self, forward: Forward) -> None:
        """Forward every message from now on, those in the queue first."""
        with self._attached:
            while self._queue:
                forward(*self._queue.popleft())
            self._forward = forward
            self._attached.notify_all()

    def _handle(self, message: Json) -> None:
        received = time.monotonic()
        with self._attached:
            forward = self._forward
            if forward is None:
                self._handle_unattached(message, received)
                return
        forward(message, received)  # without the lock: the server may make this thread wait

    def _handle_unattached(self, message: Json, received: float) -> None:
        """Answer a message of the handshake, queue any other; wait for the server if the queue is full."""
        answer = self.handshake.answer(message)
        if answer is not None:
            self.stream.write(answer)
        # The server must see `initialize` too, because it refuses all requests before it.
        if answer is None or message["method"] == "initialize":
            self._queue.append((message, received))
        self.first_message_handled.set()
        self._attached.wait_for(lambda: len(self._queue) < _MAX_QUEUED or self._forward)
