"""Limits of one HTTP connection and of all together, so that no client can keep others out.

uvicorn accepts any number of connections, and waits for the rest of a request while its client sends a byte now and
then. Here a whole request must arrive in time, and the connections stay below the limit on descriptors, which calls
need as well. Above that number the connection that has waited longest for its client makes way for a new one.
"""

import asyncio
import math
import resource
from typing import Any, Final

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

MAX_CONNECTIONS: Final = 400
"""Open connections: each of 100 sessions may have an open stream and some calls."""

BACKLOG: Final = 16
"""Connections that the system accepts for the server before it counts them. asyncio also accepts so many at a time."""

HEADER_SECONDS: Final = 10.0
"""Time for the head of a request, from the start of the connection or the end of the previous answer."""

BODY_SECONDS: Final = 30.0
"""Time for the body of a request."""

_FLUSH_SECONDS: Final = 1.0
"""Time for a client to read the last bytes of a connection."""

_TIMEOUT_RESPONSE: Final = b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
_BUSY_RESPONSE: Final = (
    b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 5\r\nContent-Length: 0\r\n\r\n"
)


def connection_limit() -> int:
    """Return the largest number of connections. Half of the descriptors remain for the index, git and its pipes."""
    descriptors, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if descriptors == resource.RLIM_INFINITY:
        return MAX_CONNECTIONS
    return max(1, min(MAX_CONNECTIONS, descriptors // 2 - BACKLOG))


class LimitedConnection(H11Protocol):
    """One connection. Its requests must arrive in time; it makes way for others while it waits for one."""

    max_connections = staticmethod(connection_limit)
    header_seconds = HEADER_SECONDS
    body_seconds = BODY_SECONDS

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._deadline: asyncio.TimerHandle | None = None
        self._waiting_since = math.inf
        self._waits_for_body = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Count the connection; above the limit end the one that has waited longest, or this one if all are busy."""
        super().connection_made(transport)
        self._start_deadline(self.header_seconds)
        if len(self.connections) > self.max_connections():
            connections = [other for other in self.connections if isinstance(other, LimitedConnection)]
            min(connections, key=lambda other: other.waiting_since).refuse(_BUSY_RESPONSE)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the clock."""
        self._stop_deadline()
        super().connection_lost(exc)

    @property
    def waiting_since(self) -> float:
        """Return the time of the loop since which the client must send something; infinity if a request is handled."""
        return self._waiting_since

    def refuse(self, response: bytes) -> None:
        """End the connection with a response, unless one has begun."""
        self._stop_deadline()
        if self.transport.is_closing():
            return
        if self.cycle is None or not self.cycle.response_started or self.cycle.response_complete:
            self.transport.write(response)
        self.transport.close()
        self.loop.call_later(_FLUSH_SECONDS, self.transport.abort)  # a client that reads nothing delays `close` forever
        # The connection would count until the loop has closed it, and a further one would have to go instead of it.
        self.connections.discard(self)

    def handle_events(self) -> None:
        """Handle received bytes, and adapt the deadline to what is expected now."""
        super().handle_events()
        state = self.conn.their_state
        if state is h11.SEND_BODY and not self._waits_for_body:
            self._waits_for_body = True
            self._start_deadline(self.body_seconds)
        elif state is h11.IDLE and self._waits_for_body:  # the rest of a request that was answered before
            self._waits_for_body = False
            self._start_deadline(self.header_seconds)
        elif state not in (h11.IDLE, h11.SEND_BODY):
            self._waits_for_body = False
            self._stop_deadline()

    def on_response_complete(self) -> None:
        """Expect the next request, or the rest of this one if it was answered before it was complete."""
        self._waits_for_body = False
        self._start_deadline(self.header_seconds)
        super().on_response_complete()

    def _start_deadline(self, seconds: float) -> None:
        self._stop_deadline()
        self._waiting_since = self.loop.time()
        self._deadline = self.loop.call_later(seconds, self.refuse, _TIMEOUT_RESPONSE)

    def _stop_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
        self._waiting_since = math.inf
