"""Toolsets: groups of tools that are switched on together with `gitmem mcp --toolsets`."""

from collections.abc import Mapping, Sequence
from typing import Final

from gitmem.errors import UsageError
from gitmem.mcp.compat.systems import PREFIX, SYSTEMS, load_tools
from gitmem.mcp.tools.admin_tools import TOOLS as ADMIN_TOOLS
from gitmem.mcp.tools.descriptions import (
    BISECT_HINT,
    CHANGES,
    CONVERSATION_APPEND,
    DELETE,
    DOCUMENT_INGEST,
    GET,
    IMPACT,
    LIST,
    MAP,
    MEMORY_STORE,
    RELATED,
    REPORT_CREATE,
    SEARCH,
    SEARCH_HISTORY,
    STATUS,
    USAGES,
    WHEN,
    Json,
    Tool,
)
from gitmem.memory.conversation import MAX_TURN

TOOLSETS: Final[Mapping[str, Sequence[Tool]]] = {
    "search": (SEARCH, RELATED, USAGES, GET, STATUS),
    "memory": (MEMORY_STORE, CONVERSATION_APPEND, DELETE),
    "documents": (DOCUMENT_INGEST, LIST, DELETE),
    "history": (WHEN, CHANGES, SEARCH_HISTORY, BISECT_HINT),
    "structure": (MAP, IMPACT, USAGES),
    "repositories": (LIST,),
    "admin": ADMIN_TOOLS,
    "reports": (REPORT_CREATE, LIST, GET),
}
"""Tools by the name of their toolset. A tool may be in several."""

DEFAULT: Final = "search,memory"

_ESCAPED_BYTES: Final = 6
"""Longest form of one character in JSON: an escape such as `\\u00e4`."""

_ENVELOPE_BYTES: Final = 1 << 20
"""Allowance for everything but the longest argument."""

COMPAT: Final = tuple(f"{PREFIX}{system}" for system in SYSTEMS)
"""Toolsets of older systems, which are loaded only if they are named."""

_HINT: Final = "toolsets: " + ", ".join([*TOOLSETS, *COMPAT])


def parse_toolsets(text: str) -> dict[str, Tool]:
    """Return the tools of toolsets separated by commas, by name. Raises UsageError."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise UsageError("empty list of toolsets", hint=_HINT)
    tools: dict[str, Tool] = {}
    for tool in (tool for name in names for tool in _tools_of(name)):
        # An agent cannot tell two tools of one name apart, and each expects other arguments.
        if tools.setdefault(tool.name, tool) != tool:
            raise UsageError(f"two of these toolsets have a tool `{tool.name}`", hint="leave out one of them")
    return tools


_REPORTING: Final = frozenset({REPORT_CREATE.name, "create_rag_report"})
"""Tools that render templates, gitmem's own and that of an older system."""


def offers_resources(tools: Mapping[str, object]) -> bool:
    """Return whether a server with these tools offers the descriptions of templates as resources."""
    return not _REPORTING.isdisjoint(tools)


def max_message_bytes(tools: Mapping[str, Tool]) -> int:
    """Return the size of the longest valid message to these tools: one with the longest document or turn."""
    longest = max((_longest_text(tool.schema) for tool in tools.values()), default=0)
    return _ESCAPED_BYTES * max(longest, MAX_TURN) + _ENVELOPE_BYTES


def _longest_text(schema: Json) -> int:
    """Return the maximum length of the longest argument."""
    return max((about.get("maxLength", 0) for about in schema["properties"].values()), default=0)


def _tools_of(name: str) -> Sequence[Tool]:
    if name in COMPAT:
        return load_tools(name)
    if name not in TOOLSETS:
        raise UsageError(f"unknown toolset `{name}`", hint=_HINT)
    return TOOLSETS[name]
