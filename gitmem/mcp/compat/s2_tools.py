"""Tools of S2, a memory server: memories, conversation history, documents, hybrid search."""

from collections.abc import Mapping, Sequence
from typing import Final

from gitmem.mcp.tools.descriptions import DELETES, READS, REPLACES, WRITES, Json, Tool, object_schema
from gitmem.memory.conversation import GET_DEFAULT, MAX_GET, MAX_INDEX, MAX_TURN, ROLES
from gitmem.memory.document import DOCUMENT_TYPES, MAX_DOCUMENT, RETENTIONS, SENSITIVITIES
from gitmem.memory.note import LIST_DEFAULT, MAX_CONVERSATION, MAX_LIST, MAX_NOTE, NOTE_TYPES
from gitmem.memory.visibility import VISIBILITIES

MAX_QUERY: Final = 500
"""Characters of a query: the old bound, which clients may rely on."""


def _text(most: int = 0, description: str = "") -> Json:
    schema: Json = {"type": "string"}
    schema |= {"minLength": 1, "maxLength": most} if most else {}
    return schema | ({"description": description} if description else {})


def _count(least: int, most: int, default: int) -> Json:
    return {"type": "integer", "minimum": least, "maximum": most, "default": default}


def _choice(values: Sequence[str], default: str = "") -> Json:
    return {"type": "string", "enum": list(values), **({"default": default} if default else {})}


_FLAG: Final[Json] = {"type": "boolean", "default": False}
_QUERY: Final = _text(MAX_QUERY)
_SHARE: Final[Json] = {"type": "number", "minimum": 0, "maximum": 1}
_CONVERSATION: Final = _text(MAX_CONVERSATION)
_FILTERS: Final[Mapping[str, Json]] = {
    "artifact_type": _choice(DOCUMENT_TYPES),
    "source_system": _text(),
    "sensitivity": _choice(SENSITIVITIES),
    "visibility_scope": _choice(VISIBILITIES),
    "time_range_start": _text(description="ISO 8601"),
    "time_range_end": _text(description="ISO 8601"),
}
_STRING: Final[Json] = {"type": "string"}
_INTEGER: Final[Json] = {"type": "integer"}
_BOOLEAN: Final[Json] = {"type": "boolean"}


def _tool(name: str, title: str, description: str, annotations: Json, properties: Mapping[str, Json],
          required: Sequence[str] = (), output: Json | None = None) -> Tool:  # fmt: skip
    return Tool(name, title, description, object_schema(dict(properties), required), annotations, output or {})


_ARTIFACT: Final[Json] = {
    "type": "object",
    "properties": {
        "artifact_id": _STRING,
        "metadata": {"type": "object"},
        "content": _STRING,
        "chunks": {"type": "array", "items": {"type": "object"}},
    },
    "required": ["artifact_id", "metadata"],
}
_INGESTED: Final[Json] = {
    "type": "object",
    "properties": {
        "artifact_id": _STRING,
        "is_chunked": _BOOLEAN,
        "num_chunks": _INTEGER,
        "stored_ids": {"type": "array", "items": _STRING},
    },
    "required": ["artifact_id", "is_chunked", "num_chunks", "stored_ids"],
}
_HEALTH: Final[Json] = {
    "type": "object",
    "properties": {
        "provider": _STRING,
        "model": _STRING,
        "dimensions": _INTEGER,
        "api_key_configured": _BOOLEAN,
        "api_status": {"type": "string", "enum": ["healthy", "unhealthy"]},
        "test_embedding_dimensions": _INTEGER,
        "api_latency_ms": {"type": "number"},
        "error": _STRING,
    },
    "required": ["provider", "model", "api_key_configured", "api_status"],
}

TOOLS: Final = (
    _tool(
        "memory_store", "Store a memory", "Store a preference, fact, project or decision.", WRITES,
        {
            "content": _text(MAX_NOTE), "type": _choice(NOTE_TYPES), "confidence": _SHARE,
            "conversation_id": {"type": "string", "maxLength": MAX_CONVERSATION},
        },
        ["content", "type", "confidence"],
    ),
    _tool(
        "memory_search", "Search memories", "Search memories by meaning.", READS,
        {"query": _QUERY, "limit": _count(1, 20, 5), "min_confidence": {**_SHARE, "default": 0.0}}, ["query"],
    ),
    _tool(
        "memory_list", "List memories", "List memories, newest first.", READS,
        {"type": _choice(NOTE_TYPES), "limit": _count(1, MAX_LIST, LIST_DEFAULT)},
    ),
    _tool("memory_delete", "Delete a memory", "Delete a memory by its id.", DELETES,
          {"memory_id": _text(description="`mem_...`")}, ["memory_id"]),
    _tool(
        "history_append", "Append a turn", "Store a turn of a conversation.", REPLACES,
        {
            "conversation_id": _CONVERSATION, "role": _choice(ROLES), "content": _text(MAX_TURN),
            "turn_index": {"type": "integer", "minimum": 0, "maximum": MAX_INDEX},
        },
        ["conversation_id", "role", "content", "turn_index"],
    ),
    _tool("history_get", "Read a conversation", "Read the last turns of a conversation.", READS,
          {"conversation_id": _CONVERSATION, "limit": _count(1, MAX_GET, GET_DEFAULT)}, ["conversation_id"]),
    _tool(
        "artifact_ingest", "Ingest a document", "Store a document, email, chat or transcript; long ones in chunks.",
        REPLACES,
        {
            "artifact_type": _choice(DOCUMENT_TYPES), "source_system": _text(100), "content": _text(MAX_DOCUMENT),
            "source_id": _text(500), "source_url": _text(2000), "title": _text(500), "author": _text(200),
            "participants": {"type": "array", "items": _STRING, "maxItems": 100},
            "ts": _text(description="ISO 8601"), "sensitivity": _choice(SENSITIVITIES, "normal"),
            "visibility_scope": _choice(VISIBILITIES, "me"), "retention_policy": _choice(RETENTIONS, "forever"),
        },
        ["artifact_type", "source_system", "content"], _INGESTED,
    ),
    _tool(
        "artifact_search", "Search documents", "Search documents and their chunks by meaning.", READS,
        {"query": _QUERY, "limit": _count(1, 50, 5), **_FILTERS, "expand_neighbors": _FLAG}, ["query"],
    ),
    _tool(
        "artifact_get", "Read a document", "Read the metadata of a document, and its content or chunks.", READS,
        {"artifact_id": _text(description="`art_...`"), "include_content": _FLAG, "include_chunks": _FLAG},
        ["artifact_id"], _ARTIFACT,
    ),
    _tool("artifact_delete", "Delete a document", "Delete a document and its chunks.", DELETES,
          {"artifact_id": _text(description="`art_...`")}, ["artifact_id"]),
    _tool(
        "hybrid_search", "Search everything", "Search documents, chunks and on request memories.", READS,
        {
            "query": _QUERY, "limit": _count(1, 50, 5), "include_memory": _FLAG, "expand_neighbors": _FLAG,
            "filters": object_schema(dict(_FILTERS)),
        },
        ["query"],
    ),
    _tool("embedding_health", "Check the embedding", "Embed a text to see whether the model works.", READS, {},
          output=_HEALTH),
)  # fmt: skip
"""Tools in the order of the old server."""
