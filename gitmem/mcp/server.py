"""The server as the protocol's SDK runs it: tools are listed, calls checked, served in threads, and cancelled.

Only this module and the transports import the SDK, which costs more than all the rest: whoever starts a server answers
the client's greeting first (`greeting.py`).
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

from gitmem import __version__
from gitmem.display import visible
from gitmem.errors import GitmemError
from gitmem.mcp.tools.arguments import check_arguments
from gitmem.mcp.tools.descriptions import Tool
from gitmem.mcp.tools.handlers import ToolHandlers
from gitmem.mcp.tools.instructions import instructions_for
from gitmem.mcp.tools.progress_and_cancellation import Call, Cancelled
from gitmem.mcp.transport.handshake import NAME, TITLE
from gitmem.mcp.transport.sdk_bridge import SERVER_STOPPED

THREADS: Final = 16
"""Calls served at once; further ones wait."""

Context = ServerRequestContext[Any, Any]

_log = logging.getLogger(__name__)


def make_server(desk: ToolHandlers, tools: dict[str, Tool]) -> Server[Any]:
    """A server of some tools."""
    threads = anyio.CapacityLimiter(THREADS)

    async def list_tools(_context: Context, _params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[types.Tool.model_validate(tool.to_json()) for tool in tools.values()])

    async def call_tool(context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        tool = tools.get(params.name)
        if tool is None:
            raise MCPError(types.INVALID_PARAMS, f"Unknown tool: {ascii(params.name)[:80]}")
        call = Call(partial(_report, context))
        try:
            arguments = check_arguments(tool.schema, params.arguments or {})
            text = await anyio.to_thread.run_sync(
                desk.serve, tool.name, arguments, call, abandon_on_cancel=True, limiter=threads
            )
        except Exception as problem:
            return _failed(problem)
        finally:
            call.cancel()
        return types.CallToolResult(content=[types.TextContent(type="text", text=text)])

    return Server(
        NAME,
        version=__version__,
        title=TITLE,
        instructions=instructions_for(tools),
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def _report(context: Context, done: float, total: float | None, message: str) -> None:
    """Tell the client how far its call is, from the thread that serves it. Raises Cancelled."""
    try:
        anyio.from_thread.run(context.session.report_progress, done, total, message)
    except SERVER_STOPPED as problem:
        raise Cancelled from problem


def _failed(problem: Exception) -> types.CallToolResult:
    """An error that an agent can act on: what happened, and what to do about it."""
    if isinstance(problem, GitmemError):
        told = problem.message + (f"\nhint: {problem.hint}" if problem.hint else "")
    else:
        _log.error("a call failed", exc_info=problem)
        told = f"gitmem failed: {type(problem).__name__}: {problem}\nhint: gitmem doctor"
    lines = [visible(line)[:_MAX_LINE] for line in told.splitlines()[:_MAX_LINES]]
    return types.CallToolResult(content=[types.TextContent(type="text", text="\n".join(lines))], is_error=True)


_MAX_LINE: Final = 500
_MAX_LINES: Final = 4
