"""Sessions over HTTP as the protocol wants them beyond what the SDK keeps: their version, and answers for resumption.

A client whose stream breaks off reconnects with the id of the last event that it has seen, and gets what it missed.
For that the server numbers the events, begins each stream with an empty one, and keeps the last answers for a while.
The SDK does so if it has an event store, and for clients whose version of the protocol has this. Two things are
different here:

  - The SDK reads the version from a header of each request, which clients may omit. Here the version counts that was
    negotiated in `initialize`.
  - The SDK names streams by the ids of requests, which are the same in all sessions. Here each session has its own
    events.
"""

import json
from collections import OrderedDict, deque
from contextvars import ContextVar
from http import HTTPStatus
from typing import Final

from mcp.server.streamable_http import MCP_SESSION_ID_HEADER, EventCallback, EventMessage, EventStore
from mcp.shared.inbound import MCP_PROTOCOL_VERSION_HEADER
from mcp_types import JSONRPCError, JSONRPCMessage, JSONRPCNotification, JSONRPCResponse
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

RETRY_MILLISECONDS: Final = 1000
"""Time after which a client should reconnect."""

_MAX_EVENTS: Final = 64
_MAX_EVENT_CHARACTERS: Final = 1 << 18
"""Length of the kept messages of one session together; the newest is always kept."""


class SessionState:
    """Version and kept events of one session."""

    def __init__(self, version: str = "") -> None:
        self.version = version
        """Negotiated version; empty if it is not known."""
        self._streams: OrderedDict[str, int] = OrderedDict()
        self._events: deque[tuple[int, str, JSONRPCMessage, int]] = deque()
        """Number, stream, message and its length, oldest first."""
        self._characters = 0
        self._number = 0

    def add(self, stream: str, message: JSONRPCMessage | None) -> str:
        """Number an event and return its id. Notifications are not kept: a later progress says the same."""
        self._number += 1
        stream_number = self._streams.setdefault(stream, self._number)
        self._streams.move_to_end(stream)
        if len(self._streams) > _MAX_EVENTS:
            self._streams.popitem(last=False)
        if message is not None and not isinstance(message, JSONRPCNotification):
            length = len(message.model_dump_json())
            self._events.append((self._number, stream, message, length))
            self._characters += length
            self._drop_oldest()
        return f"{stream_number}-{self._number}"

    def events_after(self, event_id: str) -> tuple[str, list[tuple[str, JSONRPCMessage]]]:
        """Return the stream of an event, and the kept events after it; the stream is empty for an unknown id."""
        stream_number, _, number = event_id.partition("-")
        if not (stream_number.isdecimal() and number.isdecimal() and len(event_id) < 40):
            return "", []
        streams = [name for name, value in self._streams.items() if value == int(stream_number)]
        stream = streams[0] if streams else ""
        later = [(f"{stream_number}-{at}", message) for at, name, message, _ in self._events
                 if name == stream and at > int(number)]  # fmt: skip
        return stream, later

    def _drop_oldest(self) -> None:
        while len(self._events) > _MAX_EVENTS or (self._characters > _MAX_EVENT_CHARACTERS and len(self._events) > 1):
            self._characters -= self._events.popleft()[3]


_current: ContextVar[SessionState] = ContextVar("session")
"""Session of the request that is being handled. The tasks of a session inherit it from the request that opened it."""


class SessionEvents(EventStore):
    """Event store that keeps the events of each session in its state."""

    async def store_event(self, stream_id: str, message: JSONRPCMessage | None) -> str:
        """Return the id of a new event of a stream."""
        return _current.get().add(stream_id, message)

    async def replay_events_after(self, last_event_id: str, send_callback: EventCallback) -> str | None:
        """Send the later events of a stream. Return its id if more will follow, None after its answer."""
        stream, events = _current.get().events_after(last_event_id)
        for event_id, message in events:
            await send_callback(EventMessage(message, event_id))
        has_ended = any(isinstance(message, JSONRPCResponse | JSONRPCError) for _, message in events)
        return stream if stream and not has_ended else None


class SessionTable:
    """Application around the SDK's that finds the session of each request. It expects whole bodies."""

    def __init__(self, app: ASGIApp, max_sessions: int) -> None:
        self._app = app
        self._max_states = 2 * max_sessions
        """The SDK does not tell which sessions have expired: those used last are kept, some expired ones included."""
        self._states: OrderedDict[str, SessionState] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = await receive()
        if request["type"] != "http.request" or request.get("more_body"):
            return  # the client has gone, or its time was over; the SDK would log this with a traceback
        session_id = Headers(scope=scope).get(MCP_SESSION_ID_HEADER)
        if session_id is None:
            state = SessionState(_requested_version(request.get("body", b"")))
        else:
            state = self._states.get(session_id) or SessionState()
            _set_version(scope, state.version)
        _current.set(state)

        async def remember(message: Message) -> None:
            if message["type"] == "http.response.start":
                is_open = scope["method"] != "DELETE" and message["status"] < HTTPStatus.BAD_REQUEST
                self._remember(Headers(raw=message["headers"]).get(MCP_SESSION_ID_HEADER), state if is_open else None)
            await send(message)

        await self._app(scope, _replay(request, receive), remember)

    def _remember(self, session_id: str | None, state: SessionState | None) -> None:
        """Keep the state of a session, or forget it."""
        if session_id is None:
            return
        self._states.pop(session_id, None)
        if state is not None:
            self._states[session_id] = state
        if len(self._states) > self._max_states:
            self._states.popitem(last=False)


def _replay(first: Message, receive: Receive) -> Receive:
    """Return a `receive` that returns a message which has been received already, then what follows it."""
    messages = [first]

    async def replay() -> Message:
        return messages.pop() if messages else await receive()

    return replay


def _requested_version(body: bytes) -> str:
    """Return the version that an `initialize` asks for, if it is one that the server confirms; else nothing."""
    try:
        version = json.loads(body)["params"]["protocolVersion"]
    except (ValueError, RecursionError, LookupError, TypeError):
        return ""
    return version if version in HANDSHAKE_PROTOCOL_VERSIONS else ""


def _set_version(scope: Scope, version: str) -> None:
    """Replace the version in the headers by the negotiated one, unless it is one without sessions."""
    headers = MutableHeaders(scope=scope)
    if version and headers.get(MCP_PROTOCOL_VERSION_HEADER, version) in HANDSHAKE_PROTOCOL_VERSIONS:
        headers[MCP_PROTOCOL_VERSION_HEADER] = version
