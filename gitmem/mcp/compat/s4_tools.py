"""Tools of S4, a knowledge store: search, read and add documents, and ingest a repository."""

from collections.abc import Mapping
from typing import Final

from gitmem.mcp.tools.descriptions import READS, REPLACES, Json, Tool, object_schema
from gitmem.memory.document import MAX_DOCUMENT

MAX_ID: Final = 500
_STRING: Final[Json] = {"type": "string"}
_INTEGER: Final[Json] = {"type": "integer"}
_NUMBER: Final[Json] = {"type": "number"}
_OBJECT: Final[Json] = {"type": "object"}
_TEXT: Final[Json] = {"type": "string", "minLength": 1}
_DOCUMENT_ID: Final[Json] = {"type": "string", "minLength": 1, "maxLength": MAX_ID}


def _success(**properties: Json) -> Json:
    """Return the schema of an answer; one to a call that failed has `success` false and `error`."""
    return object_schema({"success": {"type": "boolean"}, **properties}, ["success", *properties])


_DOCUMENT: Final[Mapping[str, Json]] = {"doc_id": _STRING, "content": _STRING, "metadata": _OBJECT}

TOOLS: Final = (
    Tool(
        "ks_search", "Search documents", "Search for documents similar to the query.",
        object_schema(
            {
                "query": {**_TEXT, "description": "Natural language search query."},
                "top_k": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 10,
                          "description": "Maximum number of results."},
                "file_type": {**_STRING, "description": "Optional filter by file extension."},
                "file_path_prefix": {**_STRING, "description": "Optional filter by path prefix."},
            },
            ["query"],
        ),
        READS,
        _success(count=_INTEGER, results={
            "type": "array",
            "items": object_schema({**_DOCUMENT, "score": _NUMBER}, [*_DOCUMENT, "score"]),
        }),
    ),
    Tool(
        "ks_get", "Read a document", "Retrieve a document by its ID.",
        object_schema({"doc_id": {**_TEXT, "description": "The document ID (format: path/to/file.py:0)"}}, ["doc_id"]),
        READS, _success(**_DOCUMENT),
    ),
    Tool(
        "ks_index", "Index a document", "Index a document in the KnowledgeStore.",
        object_schema(
            {
                "doc_id": {**_DOCUMENT_ID, "description": "Unique document identifier."},
                "content": {"type": "string", "minLength": 1, "maxLength": MAX_DOCUMENT,
                            "description": "Document content text."},
                "file_path": {**_STRING, "maxLength": 1000, "description": "Optional file path metadata."},
                "file_type": {**_STRING, "maxLength": 100, "description": "Optional file type metadata."},
            },
            ["doc_id", "content"],
        ),
        REPLACES, _success(doc_id=_STRING),
    ),
    Tool("ks_health", "Check the health", "Check KnowledgeStore health status.", object_schema({}), READS,
         _success(status=_STRING, backend=_STRING, cluster=_OBJECT)),
    Tool(
        "ks_ingest_repo", "Ingest a repository", "Ingest all matching files from a repository.",
        object_schema(
            {
                "repo_path": {**_TEXT, "description": "Absolute path to the repository root."},
                "force_reindex": {"type": "boolean", "default": False,
                                  "description": "If true, re-index even if a document exists."},
            },
            ["repo_path"],
        ),
        REPLACES,
        _success(files_processed=_INTEGER, documents_created=_INTEGER, files_skipped=_INTEGER,
                 errors={"type": "array", "items": {"type": "array", "items": _STRING}}, duration_seconds=_NUMBER),
    ),
)  # fmt: skip
"""Tools in the order of the old server."""
