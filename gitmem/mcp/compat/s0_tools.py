"""Tools of S0, a personal knowledge server: search in indexed repositories, and their list."""

from typing import Any, Final

from gitmem.mcp.tools.descriptions import READS, Json, Tool, object_schema

_STRING: Final[Json] = {"type": "string"}
_INTEGER: Final[Json] = {"type": "integer"}
_NUMBER: Final[Json] = {"type": "number"}


def _record(**properties: Any) -> Json:
    return object_schema(properties, list(properties))


_RESULT: Final = _record(
    file_path=_STRING,
    repository=_STRING,
    content_snippet=_STRING,
    similarity_score=_NUMBER,
    chunk_index=_INTEGER,
    metadata=_record(file_extension=_STRING, file_size_bytes=_INTEGER, indexed_at=_STRING),
)
_REPOSITORY: Final = object_schema(
    {
        "name": _STRING,
        "url": _STRING,
        "file_count": _INTEGER,
        "chunk_count": _INTEGER,
        "last_indexed": _STRING,
        "status": {"type": "string", "enum": ["ready", "indexing", "error"]},
        "index_duration_ms": _INTEGER,
        "error_message": _STRING,
    },
    ["name", "url", "file_count", "chunk_count", "last_indexed", "status"],
)

TOOLS: Final = (
    Tool(
        "semantic_search",
        "Search code",
        "Search indexed code repositories using natural language queries. Returns relevant code snippets ranked by "
        "semantic similarity.",
        object_schema(
            {
                "query": {
                    "type": "string",
                    "description": "Natural language search query describing what you're looking for",
                    "minLength": 1,
                    "maxLength": 1000,
                },
                "limit": {
                    "type": "integer",
                    "description": "Maximum number of results to return",
                    "default": 10,
                    "minimum": 1,
                    "maximum": 50,
                },
                # No default: 0.7 is of the scale of another model. Without a threshold gitmem's own floor holds.
                "threshold": {
                    "type": "number",
                    "description": "Minimum similarity score (0.0 to 1.0). Higher values return more relevant but "
                    "fewer results.",
                    "minimum": 0,
                    "maximum": 1,
                },
                "repository": {
                    "type": "string",
                    "description": "Filter results to a specific repository name. If omitted, searches all indexed "
                    "repositories.",
                },
            },
            ["query"],
        ),
        READS,
        _record(
            results={"type": "array", "items": _RESULT},
            metadata=_record(
                total_matches=_INTEGER,
                query_time_ms=_NUMBER,
                repositories_searched={"type": "array", "items": _STRING},
            ),
        ),
    ),
    Tool(
        "list_indexed_repositories",
        "List repositories",
        "List all repositories currently indexed in the knowledge base. Shows repository names, file counts, and "
        "indexing status.",
        object_schema({}),
        READS,
        _record(
            repositories={"type": "array", "items": _REPOSITORY},
            summary=_record(total_repositories=_INTEGER, total_files_indexed=_INTEGER, total_chunks=_INTEGER),
        ),
    ),
)
"""Tools in the order of the old server."""
