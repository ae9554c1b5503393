"""Tools of S1, a local knowledge server: search sessions, reports from templates, the index and its manager's page."""

from typing import Any, Final

from gitmem.mcp.tools.descriptions import READS, WRITES, Json, Tool, object_schema

SEARCH_RESULTS: Final = 20
"""Results of a search, all of which are kept in its session."""

PREVIEW_RESULTS: Final = 5

_MAX_QUERY: Final = 32_000
_MAX_FILES: Final = 500
_MAX_FOLDERS: Final = 100

_STRING: Final[Json] = {"type": "string"}
_STRINGS: Final[Json] = {"type": "array", "items": _STRING}
_NONE: Final = object_schema({})
_SCOPE: Final[Json] = {
    **object_schema(
        {
            "files": {**_STRINGS, "maxItems": _MAX_FILES, "description": "File paths (exact match)."},
            "folders": {
                **_STRINGS, "maxItems": _MAX_FOLDERS,
                "description": "Directory names, paths from the root (/src/hooks) or glob patterns.",
            },
        }
    ),
    "description": "Limit search scope (files, folders).",
}  # fmt: skip
_INTEGER: Final[Json] = {"type": "integer"}
_BOOLEAN: Final[Json] = {"type": "boolean"}


def _record(**properties: Any) -> Json:
    return object_schema(properties, list(properties))


def _list(item: Json) -> Json:
    return {"type": "array", "items": item}


_PLACE: Final[Json] = {
    "file_path": _STRING, "file_uri": _STRING, "start_line": _INTEGER, "end_line": _INTEGER,
    "similarity": {"type": "number"},
}  # fmt: skip
_CONTENT: Final = object_schema({"session_id": _STRING, **_PLACE, "content": _STRING}, [*_PLACE, "content"])
_COUNTS: Final[Json] = {"query": _STRING, "total_results": _INTEGER, "returned_results": _INTEGER}
# One session is answered flat, several as a list, so only what both forms have is required.
_RESULTS: Final = object_schema(
    {**_COUNTS, "sessions": _list(_record(session_id=_STRING, **_COUNTS)), "results": _list(_CONTENT)},
    ["total_results", "results"],
)
_REPORT: Final = _record(file_path=_STRING, file_uri=_STRING, template=_STRING, preview=_STRING)
_SESSIONS: Final = _record(
    sessions=_list(_record(session_id=_STRING, query=_STRING, timestamp=_STRING, result_count=_INTEGER))
)
_RUN: Final = _record(
    status=_STRING, processed_files=_INTEGER, total_files=_INTEGER, total_chunks=_INTEGER, errors=_STRINGS,
    message=_STRING,
)  # fmt: skip
_STATUS: Final = _record(
    isInitialized=_BOOLEAN, state=_STRING, totalFiles=_INTEGER, indexedFiles=_INTEGER, lastUpdated=_STRING,
    embeddingModel=_STRING, stats=_record(rowCount=_INTEGER, dataSize=_INTEGER),
)  # fmt: skip
_MANAGER: Final = _record(
    workspaceId=_STRING, workspacePath=_STRING, pid=_INTEGER, port=_INTEGER, url=_STRING, startedAt=_STRING
)
_TARGET: Final[dict[str, Json]] = {
    "template": {**_STRING, "maxLength": 64, "description": "Template name. Omit it to use the workspace default."},
    "output_dir": {**_STRING, "maxLength": 4096, "description": "Output directory (default: ./rag-reports)."},
    "file_name": {**_STRING, "maxLength": 200, "description": "Custom filename; a timestamp is added as prefix."},
}

TOOLS: Final = (
    Tool(
        "search_knowledge", "Search", "Search and return a session ID with a preview of the top 5 results.",
        object_schema(
            {
                "query": {**_STRING, "minLength": 1, "maxLength": _MAX_QUERY, "description": "Search query string."},
                "min_similarity": {"type": "number", "minimum": 0, "maximum": 1,
                                   "description": "Minimum similarity threshold."},
                "scope": _SCOPE,
            },
            ["query"],
        ),
        READS,
        _record(session_id=_STRING, result_count=_INTEGER, results=_list(_record(**_PLACE, preview=_STRING))),
    ),
    Tool(
        "get_search_results", "Read results", "Get detailed results (full chunk content) of one or several sessions.",
        object_schema(
            {
                "session_id": {**_STRING, "description": "Single session ID."},
                "session_ids": {**_STRINGS, "maxItems": 50, "description": "Several session IDs."},
                "limit": {"type": "integer", "minimum": 1, "maximum": 50, "description": "Max chunks per session."},
            }
        ),
        READS,
        _RESULTS,
    ),
    Tool(
        "create_rag_report", "Create a report", "Generate a Markdown report from a template and its variables.",
        object_schema(
            {
                "variables": {"type": "object", "description": "Template-specific variables; see get_template_schema."},
                **_TARGET,
                "ascii_filename": {**_STRING, "maxLength": 200, "description": "Filename in English (ASCII only)."},
            },
            ["variables"],
        ),
        WRITES,
        _REPORT,
    ),
    Tool(
        "generate_report", "Create a report of a session", "Deprecated: use create_rag_report.",
        object_schema(
            {
                "session_id": _STRING,
                "overall_summary": _STRING,
                "sections": {"type": "array", "items": {"type": "object"}, "maxItems": 500},
                **_TARGET,
            },
            ["session_id", "overall_summary"],
        ),
        WRITES,
        _REPORT,
    ),
    Tool("list_search_results", "List sessions", "List all cached sessions, newest first.", _NONE, READS, _SESSIONS),
    Tool(
        "get_template_schema", "Describe a template", "Get the variables of a template.",
        object_schema({"template": {**_STRING, "maxLength": 64, "default": "basic"}}), READS,
        _record(name=_STRING),
    ),
    Tool(
        "rebuild_index", "Rebuild the index", "Rebuild or update the index.",
        object_schema({"reindex_all": {"type": "boolean", "default": False, "description": "Full rebuild."}}), WRITES,
        _RUN,
    ),
    Tool("cancel_index_generation", "Cancel indexing", "Stop the index generation that runs.", _NONE, WRITES,
         _record(cancelled=_BOOLEAN, message=_STRING)),
    Tool("index_status", "Index status", "Get index status and statistics.", _NONE, READS, _STATUS),
    Tool("reinitialize_schema", "Start the index anew", "Make the index of this workspace anew.", _NONE, WRITES,
         _RUN),
    Tool("reload_config", "Reload the configuration", "Reload the configuration without a restart.", _NONE, WRITES,
         _record(message=_STRING, updated=_STRINGS, needsRebuild=_BOOLEAN)),
    Tool("open_index_manager", "Open the manager", "Open the Index Manager in the default browser.", _NONE, WRITES,
         _record(url=_STRING, message=_STRING)),
    Tool("list_index_managers", "List managers", "List the running Index Managers.", _NONE, READS,
         _record(managers=_list(_MANAGER))),
    Tool(
        "stop_index_manager", "Stop a manager", "Stop a running Index Manager.",
        object_schema({"workspace_id": {**_STRING, "minLength": 1, "description": "Its workspace ID."}},
                      ["workspace_id"]),
        WRITES,
        _record(message=_STRING, workspaceId=_STRING),
    ),
)  # fmt: skip
"""Tools in the order of the old server."""
