"""Toolsets: groups of tools that are switched on together with `gitmem mcp --toolsets`."""

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from gitmem.errors import UsageError
from gitmem.mcp.tools.descriptions import (
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
    SEARCH,
    STATUS,
    USAGES,
    WHEN,
    Tool,
)
from gitmem.memory.conversation import MAX_TURN
from gitmem.memory.document import MAX_DOCUMENT

TOOLSETS: Final[Mapping[str, Sequence[Tool]]] = {
    "search": (SEARCH, RELATED, USAGES, GET, STATUS),
    "memory": (MEMORY_STORE, CONVERSATION_APPEND, DELETE),
    "documents": (DOCUMENT_INGEST, LIST, DELETE),
    "history": (WHEN, CHANGES),
    "structure": (MAP, IMPACT, USAGES),
    "repositories": (LIST,),
}
"""Tools by the name of their toolset. A tool may be in several."""

PLANNED: Final = ("reports", "admin", "compat")
"""Names reserved for toolsets of later versions."""

DEFAULT: Final = "search,memory"

_ESCAPED_BYTES: Final = 6
"""Longest form of one character in JSON: an escape such as `\\u00e4`."""

_ENVELOPE_BYTES: Final = 1 << 20
"""Allowance for everything but the longest argument."""

_HINT: Final = "toolsets: " + ", ".join(TOOLSETS)


def parse_toolsets(text: str) -> dict[str, Tool]:
    """Return the tools of toolsets separated by commas, by name. Raises UsageError."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise UsageError("empty list of toolsets", hint=_HINT)
    return {tool.name: tool for name in names for tool in _tools_of(name)}


def max_message_bytes(tools: Collection[str]) -> int:
    """Return the size of the longest valid message to these tools: one with the longest document or turn."""
    return _ESCAPED_BYTES * (MAX_DOCUMENT if DOCUMENT_INGEST.name in tools else MAX_TURN) + _ENVELOPE_BYTES


def _tools_of(name: str) -> Sequence[Tool]:
    if name in PLANNED:
        raise UsageError(f"toolset `{name}` is not available in this version", hint=_HINT)
    if name not in TOOLSETS:
        raise UsageError(f"unknown toolset `{name}`", hint=_HINT)
    return TOOLSETS[name]
