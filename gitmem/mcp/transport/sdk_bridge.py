"""Bridge between the thread that reads messages and the SDK's server, which runs in an event loop.

Messages from the client go through one memory stream, answers through another. Both are short, so a side that is too
fast waits for the other.
"""

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import CancelledError
from contextlib import suppress
from typing import Any, Final

import anyio
import anyio.from_thread
import anyio.lowlevel
import anyio.to_thread
import mcp_types as types
from anyio.streams.memory import MemoryObjectReceiveStream
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.message import ServerMessageMetadata, SessionMessage
from pydantic import ValidationError

from gitmem.mcp.transport.jsonrpc import INVALID_REQUEST, InvalidMessage
from gitmem.mcp.transport.shutdown import Shutdown
from gitmem.mcp.transport.stdin_reader import StdinReader
from gitmem.named_tuple import NamedTuple

Json = dict[str, Any]
Send = Callable[[SessionMessage], Awaitable[None]]

_MAX_QUEUED: Final = 16
"""Messages in each of the two streams."""

SERVER_STOPPED: Final = (
    CancelledError,
    asyncio.CancelledError,
    RuntimeError,
    anyio.ClosedResourceError,
    anyio.BrokenResourceError,
)
"""Errors that a thread gets from the event loop after the server has stopped."""


class _Origin(NamedTuple):
    """Origin of a message, which the SDK passes on to the handler of the request."""

    received: float


def run_server(server: Server[Any], reader: StdinReader, shutdown: Shutdown) -> None:
    """Let a server serve one client until either of them ends. Call from the main thread."""
    anyio.run(_serve, server, reader, shutdown)


async def _serve(server: Server[Any], reader: StdinReader, shutdown: Shutdown) -> None:
    token = anyio.lowlevel.current_token()
    to_server, from_client = anyio.create_memory_object_stream[SessionMessage | Exception](_MAX_QUEUED)
    to_client, from_server = anyio.create_memory_object_stream[SessionMessage](_MAX_QUEUED)

    def forward(message: Json, received: float) -> None:
        """Pass a message to the server, from the reading thread; waits while the stream is full."""
        checked = _check(message, received)
        if isinstance(checked, InvalidMessage):
            reader.stream.write(checked.to_json(_readable_id(message)))
        else:
            anyio.from_thread.run(to_server.send, checked, token=token)

    def attach() -> None:
        with suppress(*SERVER_STOPPED):
            reader.attach(forward)

    def stop() -> None:
        """Stop the server, from any thread."""
        with suppress(*SERVER_STOPPED):
            anyio.from_thread.run_sync(group.cancel_scope.cancel, token=token)

    async with anyio.create_task_group() as group:
        shutdown.add_callback(stop)
        group.start_soon(_write_answers, from_server, reader, shutdown)
        group.start_soon(anyio.to_thread.run_sync, attach)
        await server.run(from_client, to_client, server.create_initialization_options())
        group.cancel_scope.cancel()


def received_at(context: ServerRequestContext[Any, Any]) -> float | None:
    """Return when the message of a request was read, by `time.monotonic`; None if its transport does not say."""
    return context.request.received if isinstance(context.request, _Origin) else None


def _check(message: Json, received: float) -> SessionMessage | InvalidMessage:
    try:
        checked = types.jsonrpc_message_adapter.validate_python(message, by_name=False)
    except (ValidationError, RecursionError):
        return InvalidMessage(INVALID_REQUEST, "Invalid request")
    return SessionMessage(checked, ServerMessageMetadata(request_context=_Origin(received)))


def _readable_id(message: Json) -> str | int | None:
    """Return the id of an invalid message, None if it has none."""
    request_id = message.get("id")
    return request_id if isinstance(request_id, str | int) and not isinstance(request_id, bool) else None


async def _write_answers(
    messages: MemoryObjectReceiveStream[SessionMessage], reader: StdinReader, shutdown: Shutdown
) -> None:
    """Send the server's messages, except its answer to an `initialize` that `Handshake` has already answered."""
    already_answered = reader.handshake.initialize_id
    async for message in messages:
        value = message.message.model_dump(by_alias=True, exclude_unset=True, mode="json")
        # The method distinguishes a request of the server, whose id may be the same, from an answer.
        if already_answered is not None and value.get("id") == already_answered and "method" not in value:
            already_answered = None
            continue
        try:
            # In a thread: a client that does not read its pipe must not block the event loop.
            await anyio.to_thread.run_sync(reader.stream.write, value, abandon_on_cancel=True)
        except OSError:  # the client has closed its end
            shutdown.request()
            return
