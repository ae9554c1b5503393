"""Handlers of the tools of S3, and the form of its errors."""

import json
from typing import Final

from gitmem.actions.web_page import open_page
from gitmem.errors import Busy, GitmemError, NotARepository, UsageError
from gitmem.mcp.compat.adapter import Adapter, Served, error_text, json_answer, read_served_rows, search_named
from gitmem.mcp.compat.s3_forms import NO_RESULTS, code_query, codebase_json, results_json, statistics_json
from gitmem.mcp.tools.arguments import Arguments, InvalidArgument
from gitmem.mcp.tools.tool_answer import ToolAnswer


class _UnknownCodebase(UsageError):
    """Name that no code base has."""


def _list_knowledgebases(served: Served, _arguments: Arguments) -> ToolAnswer:
    return json_answer({"codebases": [codebase_json(row) for row in read_served_rows(served) if row.status]})


def _search_knowledgebases(served: Served, arguments: Arguments) -> ToolAnswer:
    name = arguments["codebaseName"]
    try:
        query = code_query(arguments)
    except UsageError:
        return json_answer(NO_RESULTS)
    if name and all(row.name != name for row in read_served_rows(served)):
        return json_answer(NO_RESULTS)
    return json_answer(results_json(search_named(served, query, [name or "*"])))


def _get_knowledgebase_stats(served: Served, arguments: Arguments) -> ToolAnswer:
    name = arguments["name"]
    row = next((row for row in read_served_rows(served) if row.name == name and row.status), None)
    if row is None:
        raise _UnknownCodebase(f"Codebase not found: {name}")
    return json_answer(statistics_json(row))


def _open_knowledgebase_manager(served: Served, _arguments: Arguments) -> ToolAnswer:
    link = open_page(served.table.own, served.environment)
    return json_answer({"url": link, "message": "Knowledge base manager is open. The link works once."})


_CODES: Final = (
    (InvalidArgument, "INVALID_PARAMETERS"),
    (_UnknownCodebase, "NOT_FOUND"),
    (NotARepository, "NOT_FOUND"),
    (UsageError, "INVALID_PARAMETERS"),
    (Busy, "INDEX_BUSY"),
    (GitmemError, "INTERNAL_ERROR"),
)
"""Codes by class; the first class that an error is of decides."""


def fail(_tool: str, error: GitmemError) -> ToolAnswer:
    """Return an error in the old form."""
    code = next(code for kind, code in _CODES if isinstance(error, kind))
    value = {"code": code, "message": error_text(error), **({"data": {"hint": error.hint}} if error.hint else {})}
    return ToolAnswer(json.dumps({"error": value}, separators=(",", ":")), is_error=True)


ADAPTER: Final = Adapter(
    {
        "list_knowledgebases": _list_knowledgebases,
        "search_knowledgebases": _search_knowledgebases,
        "get_knowledgebase_stats": _get_knowledgebase_stats,
        "open_knowledgebase_manager": _open_knowledgebase_manager,
    },
    fail,
)
