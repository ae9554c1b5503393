"""The errors of S2 in the words of the old server."""

import re
from typing import Final

from gitmem.errors import GitmemError, UnknownRecord
from gitmem.mcp.compat.adapter import error_text
from gitmem.mcp.tools.arguments import InvalidArgument
from gitmem.mcp.tools.tool_answer import ToolAnswer

_ACTIONS: Final = {
    "memory_store": "store memory",
    "memory_search": "search memories",
    "memory_list": "list memories",
    "memory_delete": "delete memory",
    "history_append": "append turn",
    "history_get": "get history",
    "artifact_ingest": "ingest artifact",
    "artifact_search": "search artifacts",
    "artifact_get": "get artifact",
    "artifact_delete": "delete artifact",
    "hybrid_search": "search",
    "embedding_health": "check embedding health",
}
"""End of the message `Failed to ...` by tool."""


def fail(tool: str, error: GitmemError) -> ToolAnswer:
    """Return an error in the old form."""
    if isinstance(error, InvalidArgument):
        return failed(_describe(tool, error))
    if isinstance(error, UnknownRecord):
        kind = "Memory" if tool == "memory_delete" else "Artifact"
        match = re.search("`(.*?)`", error.message)
        return failed(f"{kind} {match[1]} not found" if match else error_text(error))
    return failed(f"Failed to {_ACTIONS[tool]}: {error_text(error)}")


def failed(text: str) -> ToolAnswer:
    """Return a failure with a text."""
    return ToolAnswer(text, is_error=True)


def _describe(tool: str, error: InvalidArgument) -> str:
    """Describe an argument that the schema refuses, in the words of the old server."""
    name, schema, value = error.name, error.schema, error.value
    if "filters" in (name, error.parent):
        return f"Invalid filter: {error.message}"
    if schema is None:
        return f"Unexpected argument: {name}"
    if value is None or (isinstance(value, str) and not value.strip()):
        return f"Missing required field: {name}"
    if "enum" in schema:
        return f"Invalid {name}: {value}. Must be one of: {', '.join(schema['enum'])}"
    label = name.replace("_", " ").capitalize()
    if isinstance(value, str) and len(value) > schema.get("maxLength", len(value)):
        if (tool, name) == ("artifact_ingest", "content"):
            return "Content exceeds maximum size of 10MB"
        return f"{label} exceeds maximum length of {schema['maxLength']} characters"
    if "maximum" in schema and isinstance(value, int | float):
        return f"{label} must be between {schema['minimum']} and {schema['maximum']}"
    return f"Invalid {name}: {error.message}"
