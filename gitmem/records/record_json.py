"""Records as JSON values, the same for the command line and the MCP server."""

from typing import Any

from gitmem.memory.conversation import Conversation, Turn
from gitmem.memory.document import Document, chunk_id
from gitmem.memory.kinds import kind_of
from gitmem.memory.note import Note
from gitmem.record import Record
from gitmem.records.documents import AddedDocument
from gitmem.records.note_states import NoteState, state_json
from gitmem.records.revisions import LogEntry, RecordDiff
from gitmem.records.similar_notes import SimilarNote


def note_json(note: Note) -> dict[str, Any]:
    """Return a note as JSON values."""
    return note._asdict()


def note_state_json(note: Note, state: NoteState) -> dict[str, Any]:
    """Return a note as JSON values, with its state."""
    return {**note_json(note), "state": state_json(state)}


def similar_note_json(similar: SimilarNote) -> dict[str, Any]:
    """Return a similar note as JSON values, with its score."""
    return {**note_json(similar.note), "score": round(similar.score, 4)}


def turn_json(turn: Turn) -> dict[str, Any]:
    """Return a turn as JSON values."""
    values = turn._asdict()
    del values["title"]  # of the conversation
    return {"conversation": values.pop("conversation"), "turn": values.pop("number"), **values}


def conversation_json(conversation: Conversation) -> dict[str, Any]:
    """Return the summary of a conversation as JSON values."""
    return conversation._asdict()


def document_json(document: Document) -> dict[str, Any]:
    """Return a document as JSON values, without its content."""
    fields = document.fields._asdict()
    return {
        "id": document.id,
        **fields,
        "participants": list(fields["participants"]),
        "metadata": dict(fields["metadata"]),
        "stored": document.stored,
        "characters": len(document.content),
        "tokens": document.tokens,
        "tokenizer": document.tokenizer,
        "chunks": len(document.chunks),
        "shared_by": document.shared_by,
    }


def chunks_json(document: Document) -> list[dict[str, Any]]:
    """Return a document's chunks as JSON values; none if it is not cut."""
    return [
        {"id": chunk_id(document, number), "start": start, "end": end, "content": document.content[start:end]}
        for number, (start, end) in enumerate(document.chunks)
    ]


def added_document_json(added: AddedDocument) -> dict[str, Any]:
    """Return a stored document as JSON values, with its status and the ids of its chunks."""
    return {"status": added.status, **document_json(added.document), "chunk_ids": added.chunk_ids}


def record_json(record: Record) -> dict[str, Any]:
    """Return a record of any kind as JSON values."""
    return {"kind": kind_of(record.kind), "id": record.id, **record.named_fields, "content": record.text}


def log_entry_json(entry: LogEntry) -> dict[str, Any]:
    """Return an entry of the log as JSON values."""
    ids = {"added": list(entry.added), "changed": list(entry.changed), "deleted": list(entry.deleted)}
    return {**entry._asdict(), **ids}


def diff_json(diff: RecordDiff) -> dict[str, Any]:
    """Return the two versions of a record as JSON values."""
    sides = {"before": diff.before, "after": diff.after}
    return {"id": diff.id, **{name: record_json(side) if side else None for name, side in sides.items()}}
