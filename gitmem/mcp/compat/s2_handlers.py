"""Handlers of the tools of S2, and the form of its answers."""

import hashlib
import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import Any, Final

from gitmem.actions.health import HEALTHY, examine_health
from gitmem.answering.answer import Answer
from gitmem.answering.answer_json import hit_json
from gitmem.answering.search_query import Query, SearchFilters
from gitmem.chunking.record_passages import record_windows
from gitmem.embedding.tokens import TokenCounter
from gitmem.errors import UnknownRecord
from gitmem.mcp.compat.adapter import Adapter, Served, json_answer, search_own, text_answer
from gitmem.mcp.compat.s2_errors import fail, failed
from gitmem.mcp.tools.arguments import Arguments
from gitmem.mcp.tools.tool_answer import ToolAnswer
from gitmem.memory.document import Document, chunk_id
from gitmem.memory.note import Note
from gitmem.memory.record_paths import document_path, is_document_id, is_note_id
from gitmem.memory.record_store import RecordStore
from gitmem.named_tuple import NamedTuple
from gitmem.record import parse_record
from gitmem.records.conversations import append_turn, last_turns
from gitmem.records.documents import add_document, get_document
from gitmem.records.filters import RecordFilters, parse_filters
from gitmem.records.notes import add_note, list_notes
from gitmem.records.revisions import delete_records
from gitmem.search.hits import Hit
from gitmem.secrets.masking import mask_text, mask_value
from gitmem.types import NOTE
from gitmem.workspace import Workspace, read_dimensions

_PREVIEW: Final = 100
"""Characters of a stored memory that the answer repeats."""

_SNIPPET: Final = 200
_LEAD: Final = 60
"""Characters of a snippet before the first word of the query."""

_URL: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:\S+")
"""URL of any scheme: documents come from web pages, drives and mailboxes."""

_RRF_K: Final = 60
_DOCUMENTS: Final = "documents"
_NOTES: Final = "notes"
_FIELDS: Final = {
    "artifact_type": "type",
    "source_system": "source",
    "source_id": "source_id",
    "source_url": "url",
    "title": "title",
    "author": "author",
    "participants": "participants",
    "ts": "time",
    "sensitivity": "sensitivity",
    "visibility_scope": "visibility",
    "retention_policy": "retention",
}
"""Our names of a document's fields by the old ones."""


def _memory_store(served: Served, arguments: Arguments) -> ToolAnswer:
    content = arguments["content"]
    added = add_note(
        served.workspace, content, type_=arguments["type"], confidence=arguments["confidence"],
        conversation=arguments["conversation_id"],
    )  # fmt: skip
    preview = content if len(content) <= _PREVIEW else f"{content[:_PREVIEW]}..."
    return text_answer(f"Stored memory [{added.note.id}]: {preview}")


def _memory_search(served: Served, arguments: Arguments) -> ToolAnswer:
    filters = RecordFilters(min_confidence=arguments["min_confidence"])
    answer = _search(served, arguments, (_NOTES,), filters, "hybrid")
    lines = []
    for index, (hit, _) in enumerate(answer.hits[: arguments["limit"]]):
        values, record = hit_json(answer, index), answer.records[hit.blob]
        lines.append(_memory_line(values["path"], record["type"], record["confidence"], values["content"]))
    return text_answer("\n".join(lines) if lines else "Found 0 results:")


def _memory_list(served: Served, arguments: Arguments) -> ToolAnswer:
    notes = list_notes(served.workspace, type_=arguments["type"], limit=arguments["limit"])
    return text_answer("\n".join([f"Found {len(notes)} memories:", *map(_note_line, notes)]))


def _note_line(note: Note) -> str:
    return _memory_line(note.id, note.type, note.confidence, mask_text(note.content))


def _memory_line(identity: str, type_: str, confidence: float, content: str) -> str:
    return f"[{identity}] ({type_}, conf={float(confidence)}): {content}"


def _memory_delete(served: Served, arguments: Arguments) -> ToolAnswer:
    identity = arguments["memory_id"]
    if not identity.startswith("mem_"):
        return failed("Invalid memory_id: must start with 'mem_'")
    # Whole ids alone: gitmem would also take the beginning of one, which the old server did not.
    if not is_note_id(identity):
        return failed(f"Memory {identity} not found")
    delete_records(served.workspace, [identity])
    return text_answer(f"Deleted memory: {identity}")


def _history_append(served: Served, arguments: Arguments) -> ToolAnswer:
    conversation, number = arguments["conversation_id"], arguments["turn_index"]
    append_turn(served.workspace, conversation, arguments["role"], arguments["content"], number)
    return text_answer(f"Appended turn {number} to {conversation}")


def _history_get(served: Served, arguments: Arguments) -> ToolAnswer:
    try:
        turns = last_turns(served.workspace, arguments["conversation_id"], arguments["limit"])
    except UnknownRecord:
        turns = []
    # The beginning of a name finds a conversation too, which the old server did not do.
    own = [turn for turn in turns if turn.conversation == arguments["conversation_id"]]
    return text_answer("\n".join(f"{turn.role}: {mask_text(turn.content)}" for turn in own))


def _artifact_ingest(served: Served, arguments: Arguments) -> ToolAnswer:
    url = arguments["source_url"]
    if url and not _URL.fullmatch(url):
        return failed(f"Invalid source_url: {url[:80]}. Must be a valid URL")
    fields = {ours: arguments[old] for old, ours in _FIELDS.items() if arguments[old] not in ("", ())}
    added = add_document(served.workspace, arguments["content"], fields)
    return json_answer(
        {
            "artifact_id": added.document.id,
            "is_chunked": bool(added.chunk_ids),
            "num_chunks": len(added.chunk_ids),
            "stored_ids": [added.document.id, *added.chunk_ids],
        }
    )


def _artifact_search(served: Served, arguments: Arguments) -> ToolAnswer:
    answer = _search(served, arguments, (_DOCUMENTS,), _filters(arguments), "semantic")
    results = _read_hits(served.workspace, answer, arguments)
    blocks = [
        "\n".join([f"[{number}] {hit.kind}: {hit.id} (score: {hit.score:.2f})", *hit.title_lines,
                   f"Type: {hit.record['type']} | Source: {hit.record.get('source', '')}", *hit.text_lines])
        for number, hit in enumerate(results, 1)
    ]  # fmt: skip
    return text_answer("\n\n".join([f"Found {len(results)} results:", *blocks]))


def _hybrid_search(served: Served, arguments: Arguments) -> ToolAnswer:
    kinds = (_DOCUMENTS, _NOTES) if arguments["include_memory"] else (_DOCUMENTS,)
    answer = _search(served, arguments, kinds, _filters(arguments["filters"]), "hybrid")
    results = _read_hits(served.workspace, answer, arguments)
    searched = ", ".join(["artifacts", "artifact_chunks", *(["memory"] if arguments["include_memory"] else [])])
    blocks = [_hybrid_block(number, hit) for number, hit in enumerate(results, 1)]
    return text_answer("\n\n".join([f"Found {len(results)} results (searched: {searched}):", *blocks]))


def _hybrid_block(number: int, hit: "_Found") -> str:
    # Reciprocal rank fusion (Cormack et al., 2009) of one list: gitmem's ranking has fused words and meaning before.
    head = [f"[{number}] RRF score: {1 / (_RRF_K + number):.4f} (from: {hit.collection})",
            f"Type: {hit.kind} | ID: {hit.id}"]  # fmt: skip
    if hit.kind == "memory":
        return "\n".join([*head, f"Content: {hit.content}", f"Confidence: {float(hit.record['confidence'])}"])
    source = f"Source: {hit.record.get('source', '')} | Sensitivity: {hit.record.get('sensitivity', 'normal')}"
    return "\n".join([*head, *hit.title_lines, source, *hit.text_lines])


class _Found(NamedTuple):
    """Hit of a record: the id and kind of the old server, and what an answer shows of it."""

    id: str
    kind: str
    score: float
    record: Mapping[str, Any]
    content: str
    text_lines: Sequence[str]

    @property
    def collection(self) -> str:
        """Name of the old collection that the hit would be in."""
        return {"artifact": "artifacts", "chunk": "artifact_chunks"}.get(self.kind, self.kind)

    @property
    def title_lines(self) -> list[str]:
        """Line of the title, if there is one."""
        return [f"Title: {self.record['title']}"] if self.record.get("title") else []


def _search(served: Served, arguments: Arguments, kinds: tuple[str, ...], filters: RecordFilters, mode: str) -> Answer:
    """Search records. Some more are asked for than wanted, since several may be of one document."""
    limit = arguments["limit"]
    most = served.get("").current_workspace().settings.search_max_limit
    query = Query(
        arguments["query"], limit=max(limit, min(2 * limit, most)), mode=mode,
        filters=SearchFilters(kinds=kinds, records=filters), neighbors=arguments.get("expand_neighbors", False),
    )  # fmt: skip
    return search_own(served, query)


def _filters(arguments: Arguments) -> RecordFilters:
    """Convert the old filters. Raises: UsageError."""

    def given(name: str) -> tuple[str, ...]:
        return (arguments[name],) if arguments[name] else ()

    return parse_filters(
        type_=given("artifact_type"), source=given("source_system"), sensitivity=given("sensitivity"),
        visibility=given("visibility_scope"), since=arguments["time_range_start"], until=arguments["time_range_end"],
    )  # fmt: skip


def _read_hits(workspace: Workspace, answer: Answer, arguments: Arguments) -> list[_Found]:
    """Return the best hit of each record, as many as were asked for."""
    first: dict[str, _Found] = {}
    with RecordStore(workspace.location) as store:
        for index, (hit, lines) in enumerate(answer.hits):
            values = hit_json(answer, index)
            if values["path"] in first or len(first) == arguments["limit"]:
                continue
            record = answer.records[hit.blob]
            identity, kind = values["path"], "memory"
            if hit.chunk_type != NOTE:
                identity, kind = _name_chunk(store, hit, identity)
            text = _text_lines(record, values["content"], lines, arguments)
            first[values["path"]] = _Found(identity, kind, hit.score, record, values["content"], text)
    return list(first.values())


def _name_chunk(store: RecordStore, hit: Hit, identity: str) -> tuple[str, str]:
    """Return the id and kind of a document's hit: the document itself, or one of its chunks."""
    data = store.find_data(store.tip(), document_path(identity)) or b""
    spans = record_windows(data, parse_record(data, identity))
    number = spans.index((hit.start, hit.end)) if len(spans) > 1 else -1
    return (identity, "artifact") if number < 0 else (f"{identity}::chunk::{number:03d}", "chunk")


def _text_lines(record: Mapping[str, Any], content: str, lines: Sequence[str], arguments: Arguments) -> list[str]:
    """Return the lines about the text of a hit, and where it is from."""
    evidence = record.get("url") or record.get("source_id")
    text = f'Snippet: "{_snippet(" ".join(lines), arguments["query"])}"'
    if arguments["expand_neighbors"]:
        text = f"Content with neighbors:\n{content}"
    return [text, *([f"Evidence: {evidence}"] if evidence else [])]


def _snippet(text: str, query: str) -> str:
    """Return the part of a text that begins shortly before the first word of the query in it."""
    text = " ".join(text.split())
    words = [re.escape(word) for word in query.split() if len(word) > 3]  # shorter ones are mostly stop words
    match = re.search("|".join(words), text, re.IGNORECASE) if words else None
    start = max(0, match.start() - _LEAD) if match else 0
    end = start + _SNIPPET
    return f"{'...' if start else ''}{text[start:end]}{'...' if end < len(text) else ''}"


def _artifact_get(served: Served, arguments: Arguments) -> ToolAnswer:
    identity = arguments["artifact_id"]
    if not identity.startswith("art_"):
        return failed("Invalid artifact_id: must start with 'art_'")
    if not is_document_id(identity):
        return failed(f"Artifact {identity} not found")
    workspace = served.workspace
    document = get_document(workspace, identity)
    value: dict[str, Any] = {"artifact_id": document.id, "metadata": _metadata(workspace, document)}
    if arguments["include_content"]:
        value["content"] = mask_text(document.content)
    if arguments["include_chunks"] and document.chunks:
        value["chunks"] = _chunks(document)
    return json_answer(value)


def _metadata(workspace: Workspace, document: Document) -> dict[str, Any]:
    """Return the old metadata of a document, without fields that were never given."""
    fields = mask_value(document.fields._asdict())
    values = {old: fields[ours] for old, ours in _FIELDS.items() if fields[ours]}
    facts = examine_health(workspace, probe=False, embedding_only=True)[0].facts
    return {
        **values,
        # A time is stored with microseconds; the old server returned it as it was given.
        "ts": (document.fields.time or document.stored).replace(".000000Z", "Z"),
        "ingested_at": document.stored,
        "content_hash": hashlib.sha256(document.content.encode()).hexdigest(),
        "token_count": document.tokens,
        "is_chunked": bool(document.chunks),
        "num_chunks": len(document.chunks),
        "embedding_provider": facts["provider"],
        "embedding_model": facts["model"],
        "embedding_dimensions": read_dimensions(workspace) or facts["dimensions"] or 0,
    }


def _chunks(document: Document) -> list[dict[str, Any]]:
    starts = list(TokenCounter().starts(document.content))
    return [
        {
            "chunk_id": chunk_id(document, number),
            "chunk_index": number,
            "start_char": start,
            "end_char": end,
            "token_count": bisect_left(starts, end) - bisect_left(starts, start),
        }
        for number, (start, end) in enumerate(document.chunks)
    ]


def _artifact_delete(served: Served, arguments: Arguments) -> ToolAnswer:
    identity = arguments["artifact_id"]
    if not identity.startswith("art_"):
        return failed("Invalid artifact_id: must start with 'art_'")
    if not is_document_id(identity):
        return failed(f"Artifact {identity} not found")
    deleted = delete_records(served.workspace, [identity])[0]
    return text_answer(f"Deleted artifact {identity} and {deleted.parts} chunks")


def _embedding_health(served: Served, _arguments: Arguments) -> ToolAnswer:
    component = examine_health(served.workspace, probe=True, embedding_only=True)[0]
    facts = component.facts
    value = {
        "provider": facts["provider"],
        "model": facts["model"],
        "dimensions": facts["dimensions"] or 0,
        "api_key_configured": bool(facts["key_configured"]),
    }
    if component.status != HEALTHY:
        return json_answer({**value, "api_status": "unhealthy", "error": mask_text(component.message)})
    probe = {"test_embedding_dimensions": facts["dimensions"], "api_latency_ms": component.latency_ms}
    return json_answer({**value, "api_status": "healthy", **probe})


ADAPTER: Final = Adapter(
    {
        "memory_store": _memory_store,
        "memory_search": _memory_search,
        "memory_list": _memory_list,
        "memory_delete": _memory_delete,
        "history_append": _history_append,
        "history_get": _history_get,
        "artifact_ingest": _artifact_ingest,
        "artifact_search": _artifact_search,
        "artifact_get": _artifact_get,
        "artifact_delete": _artifact_delete,
        "hybrid_search": _hybrid_search,
        "embedding_health": _embedding_health,
    },
    fail,
)
