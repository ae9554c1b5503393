"""Records as plain values, alike for every front door."""

from typing import Any

from gitmem.memory.conversation import Conversation, Turn
from gitmem.memory.document import Document, chunk_id
from gitmem.memory.kinds import kind_of
from gitmem.memory.note import Note
from gitmem.record import Record
from gitmem.records.documents import Ingested
from gitmem.records.similar_notes import Alike


def note_json(note: Note) -> dict[str, Any]:
    """A note as plain values."""
    return note._asdict()


def alike_json(found: Alike) -> dict[str, Any]:
    """A note that says the same as another, as plain values, with how alike they are."""
    return {**note_json(found.note), "score": round(found.score, 4)}


def turn_json(turn: Turn) -> dict[str, Any]:
    """A turn as plain values."""
    values = turn._asdict()
    return {"conversation": values.pop("conversation"), "turn": values.pop("number"), **values}


def conversation_json(found: Conversation) -> dict[str, Any]:
    """A conversation in short as plain values."""
    return found._asdict()


def document_json(document: Document) -> dict[str, Any]:
    """What is known of a document, as plain values, without its content."""
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
    }


def chunks_json(document: Document) -> list[dict[str, Any]]:
    """A document's chunks as plain values; none where it is in one piece."""
    return [
        {"id": chunk_id(document, number), "start": start, "end": end, "content": document.content[start:end]}
        for number, (start, end) in enumerate(document.chunks)
    ]


def ingested_json(made: Ingested) -> dict[str, Any]:
    """What became of a document, as plain values."""
    return {"status": made.status, **document_json(made.document), "chunk_ids": made.chunk_ids}


def record_json(record: Record) -> dict[str, Any]:
    """Any record as plain values."""
    return {"kind": kind_of(record.kind), "id": record.id, **record.named_fields, "content": record.text}
