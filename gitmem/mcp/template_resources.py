"""Descriptions of the templates of reports as resources of the MCP server: `template://NAME/schema`.

`template://current/schema` is that of the configured template. Each request reads the files again, so that a change of
a template or of the settings counts at once.
"""

import json
import re
from typing import TYPE_CHECKING, Any, Final

import anyio.to_thread
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError

from gitmem.errors import GitmemError
from gitmem.mcp.tools.handlers import ToolHandlers

if TYPE_CHECKING:
    from gitmem.workspace import Workspace

_URI: Final = re.compile(r"template://([A-Za-z0-9_-]{1,64})/schema")
_JSON: Final = "application/json"

Context = ServerRequestContext[Any, Any]


class TemplateResources:
    """Answers the requests for resources of one server."""

    def __init__(self, handlers: ToolHandlers) -> None:
        self._handlers = handlers

    async def list(self, _context: Context, _params: types.PaginatedRequestParams | None) -> types.ListResourcesResult:
        """List the descriptions of all templates, the configured one first."""
        names = await anyio.to_thread.run_sync(self._names)
        return types.ListResourcesResult(
            resources=[
                types.Resource(uri=f"template://{name}/schema", name=f"{name} template", mime_type=_JSON)
                for name in names
            ]
        )

    async def read(self, _context: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        """Read one description. Raises MCPError for an unknown address."""
        match = _URI.fullmatch(str(params.uri))
        if match is None:
            raise MCPError(types.INVALID_PARAMS, f"Unknown resource: {ascii(str(params.uri))[:80]}")
        text = await anyio.to_thread.run_sync(self._schema, match[1])
        contents = types.TextResourceContents(uri=str(params.uri), mime_type=_JSON, text=text)
        return types.ReadResourceResult(contents=[contents])

    # In threads, like calls of tools: both read files, and the event loop must not wait for a disk.
    def _names(self) -> tuple[str, ...]:
        from gitmem.actions.report_template import CURRENT, list_templates  # not before the handshake

        return (CURRENT, *list_templates(self._workspace()))

    def _schema(self, name: str) -> str:
        from gitmem.actions.report_template import read_template

        try:
            return json.dumps(read_template(self._workspace(), name).schema, indent=2)
        except GitmemError as error:
            raise MCPError(types.INVALID_PARAMS, f"{error.message}; {error.hint}") from error

    def _workspace(self) -> "Workspace":
        try:
            return self._handlers.workspace()
        except GitmemError as error:
            raise MCPError(types.INTERNAL_ERROR, error.message) from error
