"""MCP server as the SDK runs it: lists the tools, checks the arguments of calls, and handles each call in a thread.

This is also where calls are cancelled and where progress notifications are sent. Only this module and `transport`
import the SDK, which takes longer to load than everything else. Therefore the handshake is answered before, by
`transport.handshake`.
"""

import logging
from functools import partial
from typing import Any, Final

import anyio
import anyio.from_thread
import anyio.to_thread
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from gitmem import __version__
from gitmem.display import visible
from gitmem.errors import GitmemError, error_code, is_retryable
from gitmem.mcp.template_resources import TemplateResources
from gitmem.mcp.tools.descriptions import Tool
from gitmem.mcp.tools.handlers import ToolHandlers
from gitmem.mcp.tools.instructions import instructions_for
from gitmem.mcp.tools.tool_answer import ProtocolError, ToolAnswer
from gitmem.mcp.tools.tool_call import ToolCall
from gitmem.mcp.tools.toolsets import offers_resources
from gitmem.mcp.transport.handshake import NAME, TITLE
from gitmem.mcp.transport.sdk_bridge import SERVER_STOPPED, received_at
from gitmem.resident.call import CallCancelled

MAX_THREADS: Final = 16
"""Calls handled at the same time; further ones wait."""

_ROOTS_SECONDS: Final = 10.0
"""Longest wait for the open folders of a client."""

_HINT: Final = "hint: "
_MAX_ERROR_LINES: Final = 4
_MAX_ERROR_COLUMNS: Final = 500
_MAX_NAME: Final = 80

Context = ServerRequestContext[Any, Any]

_log = logging.getLogger(__name__)


def make_server(handlers: ToolHandlers, tools: dict[str, Tool], *, use_roots: bool = False) -> Server[Any]:
    """Return a server that offers some tools. With `use_roots` it asks its one client for the open folders."""
    threads = anyio.CapacityLimiter(MAX_THREADS)

    async def list_tools(_context: Context, _params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[types.Tool.model_validate(tool.to_json()) for tool in tools.values()])

    async def call_tool(context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        tool = tools.get(params.name)
        if tool is None:
            raise MCPError(types.INVALID_PARAMS, f"Unknown tool: {ascii(params.name)[:_MAX_NAME]}")
        call = ToolCall(
            partial(_report_progress, context),
            partial(_read_roots if use_roots else _read_no_roots, context),
            received_at(context),
        )
        try:
            # A cancelled request abandons the thread, which ends by itself at its next check of the call.
            answer = await anyio.to_thread.run_sync(
                handlers.answer, tool, params.arguments or {}, call, abandon_on_cancel=True, limiter=threads
            )
        except ProtocolError as error:
            raise MCPError(error.code, error.message, error.data) from error
        except Exception as error:
            return _error_result(error)
        finally:
            call.cancel()
        return _to_result(answer)

    async def forget_roots(_context: Context, _params: types.NotificationParams) -> None:
        handlers.forget_roots()

    resources = TemplateResources(handlers) if offers_resources(tools) else None
    server: Server[Any] = Server(
        NAME,
        version=__version__,
        title=TITLE,
        instructions=instructions_for(tools),
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=resources.list if resources else None,
        on_read_resource=resources.read if resources else None,
    )
    # Not as an argument: the SDK warns that a later version of the protocol has no roots. Today's clients have them.
    server.add_notification_handler("notifications/roots/list_changed", types.NotificationParams, forget_roots)
    return server


def _to_result(answer: ToolAnswer) -> types.CallToolResult:
    """Return an answer as the protocol has it; fields that are not set are not sent."""
    content: list[types.ContentBlock] = [types.TextContent(type="text", text=answer.text)]
    if answer.is_error:
        return types.CallToolResult(content=content, is_error=True)
    if answer.values is None:
        return types.CallToolResult(content=content)
    return types.CallToolResult(content=content, structured_content=dict(answer.values))


def _report_progress(context: Context, done: float, total: float | None, message: str) -> None:
    """Send a progress notification, from the thread that handles the call. Raises CallCancelled."""
    try:
        anyio.from_thread.run(context.session.report_progress, done, total, message)
    except SERVER_STOPPED as error:
        raise CallCancelled from error


def _read_roots(context: Context) -> list[str] | None:
    """Ask the client for the URIs of its open folders, from the thread that handles the call. Raises CallCancelled."""
    capabilities = context.session.client_capabilities
    if capabilities is None or capabilities.roots is None:
        return None

    async def ask() -> types.ListRootsResult:
        return await context.session.send_request(
            types.ListRootsRequest(), types.ListRootsResult, request_read_timeout_seconds=_ROOTS_SECONDS
        )

    try:
        return [str(root.uri) for root in anyio.from_thread.run(ask).roots]
    except (MCPError, ValidationError) as error:  # an error, an invalid answer, or none in time
        _log.error("the client did not name its open folders: %s", error)
        return None
    except SERVER_STOPPED as error:
        raise CallCancelled from error


def _read_no_roots(_context: Context) -> None:
    """Answer for a transport whose clients may be on other machines."""


def _error_result(error: Exception) -> types.CallToolResult:
    """Return an error as a result: as text, so that the agent reads message and hint, and as values for programs."""
    if isinstance(error, GitmemError):
        text = error.message + (f"\n{_HINT}{error.hint}" if error.hint else "")
    else:
        _log.error("a tool call failed", exc_info=error)
        text = f"gitmem failed: {type(error).__name__}: {error}\n{_HINT}gitmem doctor"
    from gitmem.secrets.masking import mask_text  # not before the handshake

    # A message may quote a file or a record.
    lines = [visible(line)[:_MAX_ERROR_COLUMNS] for line in mask_text(text).splitlines()[:_MAX_ERROR_LINES]]
    message, *rest = lines or [""]
    hint = next((line.removeprefix(_HINT) for line in rest if line.startswith(_HINT)), "")
    values = {
        "code": error_code(error),
        "message": message,
        "details": {"hint": hint} if hint else {},
        "retryable": is_retryable(error),
    }
    return types.CallToolResult(
        content=[types.TextContent(type="text", text="\n".join(lines))],
        structured_content={"error": values},
        is_error=True,
    )
