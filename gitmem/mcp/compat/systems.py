"""Older systems by the name of their toolset, and the one function that answers a call of any of their tools.

Each system has two modules. The first is a table that is loaded before the handshake, so it imports nothing heavy:

    sN_tools.py     TOOLS: names, texts, JSON schemas with bounds and defaults, as the system's document has them
    sN_handlers.py  ADAPTER: a handler for each tool, and `fail`, the form of the system's error messages

To add a system, write both and enter it in SYSTEMS. A handler gets what it may use (`adapter.Served`) and the checked
arguments, complete with defaults. It translates them, calls the functions behind gitmem's own tools, and returns
`text_answer` or `json_answer`. It has no logic of its own. A tool with an output schema must answer with JSON. Errors
go to `fail`: an InvalidArgument for what the schema refuses, with the name, schema and value of the argument, any other
GitmemError for what failed. `fail` returns an answer, or raises a ProtocolError.

`tests/mcp/compat/` has a recorded session of each system, and GOOD in `tests/properties/test_older_systems.py` a valid
call of each tool.
"""

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from gitmem.errors import GitmemError
from gitmem.mcp.tools.arguments import check_arguments

if TYPE_CHECKING:
    from gitmem.mcp.compat.adapter import Adapter, Served
    from gitmem.mcp.tools.descriptions import Tool
    from gitmem.mcp.tools.tool_answer import ToolAnswer

PREFIX: Final = "compat-"

SYSTEMS: Final = ("s0", "s1", "s2", "s3", "s4")
"""Names of the systems; those of their toolsets have the prefix."""


def load_tools(toolset: str) -> "Sequence[Tool]":
    """Return the tools of a toolset of SYSTEMS."""
    name = toolset.removeprefix(PREFIX)
    tools: Sequence[Tool] = import_module(f"gitmem.mcp.compat.{name}_tools").TOOLS
    return tuple(tool._replace(system=name) for tool in tools)


def answer_call(tool: "Tool", arguments: Mapping[str, Any], served: "Served") -> "ToolAnswer":
    """Answer a call of an old tool, in the old form also if it fails. Raises: CallCancelled, ProtocolError."""
    adapter: Adapter = import_module(f"gitmem.mcp.compat.{tool.system}_handlers").ADAPTER
    try:
        return adapter.handlers[tool.name](served, check_arguments(tool.schema, arguments))
    except GitmemError as error:
        return adapter.fail(tool.name, error)
