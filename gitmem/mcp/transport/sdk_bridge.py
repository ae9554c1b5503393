"""Between the reading thread and the SDK's server: messages in, messages out, and the end of both."""

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import CancelledError
from typing import Any, Final

import anyio
import anyio.from_thread
import anyio.lowlevel
import anyio.to_thread
import mcp_types as types
from anyio.streams.memory import MemoryObjectReceiveStream
from mcp.server.lowlevel import Server
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from gitmem.mcp.transport.jsonrpc import INVALID_REQUEST, InvalidMessage
from gitmem.mcp.transport.shutdown import Shutdown
from gitmem.mcp.transport.stdin_reader import StdinReader

Json = dict[str, Any]
Send = Callable[[SessionMessage], Awaitable[None]]

_WAITING: Final = 16
"""Messages on the way to the server, or to the client, before the other side has to wait."""


def run_server(server: Server[Any], inbox: StdinReader, life: Shutdown) -> None:
    """Let a server serve one client until either has enough. Call from the main thread."""
    anyio.run(_serve, server, inbox, life)


async def _serve(server: Server[Any], inbox: StdinReader, life: Shutdown) -> None:
    token = anyio.lowlevel.current_token()
    to_server, from_client = anyio.create_memory_object_stream[SessionMessage | Exception](_WAITING)
    to_client, from_server = anyio.create_memory_object_stream[SessionMessage](_WAITING)

    def forward(message: Json) -> None:
        """Hand a message on, from the thread that reads."""
        checked = _check(message)
        if isinstance(checked, InvalidMessage):
            inbox.wire.write(checked.answer(_id_of(message)))
        else:
            anyio.from_thread.run(to_server.send, checked, token=token)

    async with anyio.create_task_group() as group:
        life.on_end(lambda: _from_any_thread(group.cancel_scope.cancel, token))
        group.start_soon(_write, from_server, inbox, life)
        group.start_soon(anyio.to_thread.run_sync, _quietly(inbox.connect), forward)
        await server.run(from_client, to_client, server.create_initialization_options())
        group.cancel_scope.cancel()


def _check(message: Json) -> SessionMessage | InvalidMessage:
    try:
        return SessionMessage(types.jsonrpc_message_adapter.validate_python(message, by_name=False))
    except (ValidationError, RecursionError):
        return InvalidMessage(INVALID_REQUEST, "Invalid request")


def _id_of(message: Json) -> str | int | None:
    """The id of a message that is none, where it has one."""
    found = message.get("id")
    return found if isinstance(found, str | int) and not isinstance(found, bool) else None


async def _write(messages: MemoryObjectReceiveStream[SessionMessage], inbox: StdinReader, life: Shutdown) -> None:
    """Send what the server says. Its answer to a greeting that was answered is dropped."""
    greeted = inbox.greeter.initialized
    async for message in messages:
        value = message.message.model_dump(by_alias=True, exclude_unset=True, mode="json")
        if greeted is not None and value.get("id") == greeted and "method" not in value:
            greeted = None
            continue
        try:
            await anyio.to_thread.run_sync(inbox.wire.write, value, abandon_on_cancel=True)
        except OSError:  # nobody reads any more
            life.end()
            return


def _quietly(connect: Callable[[Callable[[Json], None]], None]) -> Callable[[Callable[[Json], None]], None]:
    """Connecting that may find the server at its end already."""

    def run(forward: Callable[[Json], None]) -> None:
        try:
            connect(forward)
        except SERVER_STOPPED:
            return

    return run


def _from_any_thread(action: Callable[[], object], token: Any) -> None:
    try:
        anyio.from_thread.run_sync(action, token=token)
    except SERVER_STOPPED:
        return


SERVER_STOPPED: Final = (CancelledError, asyncio.CancelledError, RuntimeError, anyio.ClosedResourceError,
               anyio.BrokenResourceError)  # fmt: skip
"""What a thread meets when the server has ended."""
