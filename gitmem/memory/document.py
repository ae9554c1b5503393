"""Documents: longer texts from elsewhere, with their origin and their intended readers.

Sensitivity and retention are stored, and searches can filter by them. Nothing enforces them, and no document is
deleted except by command.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from gitmem.errors import UsageError
from gitmem.memory.bounds import check_choice, check_list, check_metadata, check_text, check_time, format_time
from gitmem.memory.visibility import DEFAULTS, VISIBILITIES
from gitmem.named_tuple import NamedTuple
from gitmem.record import STORED_NAMES, Record
from gitmem.types import DOCUMENT

DOCUMENT_TYPES: Final = ("email", "doc", "chat", "transcript", "note")
SENSITIVITIES: Final = ("normal", "sensitive", "highly_sensitive")
RETENTIONS: Final = ("forever", "1y", "until_resolved", "custom")
MAX_DOCUMENT: Final = 10_000_000
MANUAL: Final = "manual"
_YEAR: Final = timedelta(days=365)

Span = tuple[int, int]
"""Start and end of a chunk, in characters of the document, half-open."""


class DocumentFields(NamedTuple):
    """Fields of a document besides its content. `time` is that of the document itself, empty if unknown."""

    type: str = "doc"
    source: str = MANUAL
    source_id: str = ""
    title: str = ""
    author: str = ""
    participants: tuple[str, ...] = ()
    url: str = ""
    time: str = ""
    sensitivity: str = "normal"
    visibility: str = DEFAULTS[DOCUMENT]
    retention: str = "forever"
    metadata: Mapping[str, str] = {}


class Document(NamedTuple):
    """Document with its content.

    `stored` is the time at which this content was stored. `chunks` are empty for a document that is not cut. `tokens`
    are counted by `tokenizer`. `shared_by` is that of its record.
    """

    id: str
    fields: DocumentFields
    content: str
    stored: str
    tokens: int
    tokenizer: str
    chunks: tuple[Span, ...]
    shared_by: str = ""


def check_fields(fields: DocumentFields) -> DocumentFields:
    """Refuse fields out of bounds. Return them with the time in UTC. Raises UsageError."""
    check_choice("type", fields.type, DOCUMENT_TYPES)
    check_text("source", fields.source, 100)
    check_text("source id", fields.source_id, 500, 0)
    check_text("title", fields.title, 500, 0)
    check_text("author", fields.author, 200, 0)
    check_text("url", fields.url, 2000, 0)
    check_choice("sensitivity", fields.sensitivity, SENSITIVITIES)
    check_choice("visibility", fields.visibility, VISIBILITIES)
    check_choice("retention", fields.retention, RETENTIONS)
    return fields._replace(
        participants=check_list("participants", fields.participants, 100, 200),
        metadata=check_metadata(fields.metadata),
        time=check_time("time", fields.time) if fields.time else "",
    )


def check_content(content: str) -> str:
    """Refuse content that is empty, binary or too long. Raises UsageError."""
    if not content.strip():
        raise UsageError("the document is empty")
    if "\0" in content:
        raise UsageError("the document is binary data", hint="extract its text first")
    return check_text("document", content, MAX_DOCUMENT)


def document_record(document: Document) -> Record:
    """Convert a document to a record, without empty fields."""
    values = {STORED_NAMES.get(name, name): value for name, value in document.fields._asdict().items() if value}
    fields: dict[str, Any] = {**values, "stored": document.stored, "tokens": document.tokens}
    fields["tokenizer"] = document.tokenizer
    if document.chunks:
        fields["chunks"] = [list(span) for span in document.chunks]
    return Record(DOCUMENT, document.id, fields, document.content.encode())


def load_document(record: Record) -> Document:
    """Convert a record to a document. Missing fields get their defaults."""
    named = record.named_fields
    values = {name: named[name] for name in DocumentFields._fields if name in named}
    if "participants" in values:
        values["participants"] = tuple(values["participants"])
    return Document(
        id=record.id,
        fields=DocumentFields(**values),
        content=record.text,
        stored=str(named.get("stored", "")),
        tokens=int(named.get("tokens", 0)),
        tokenizer=str(named.get("tokenizer", "")),
        chunks=tuple((int(start), int(end)) for start, end in named.get("chunks", ())),
        shared_by=record.shared_by,
    )


def is_expired(retention: str, stored: str, now: datetime) -> bool:
    """Return whether a retention has ended: `1y` ends one year after the document was stored, the others never."""
    return retention == "1y" and stored < format_time(now - _YEAR)


def chunk_id(document: Document, number: int) -> str:
    """Return the id of a document's chunk, made of its number and a hash of its text."""
    import hashlib  # 5 ms, which the handshake of the MCP server would pay: it imports this module for its constants

    # The hash lets a reader notice that the document has been replaced since the id was handed out.
    start, end = document.chunks[number]
    digest = hashlib.sha256(document.content[start:end].encode()).hexdigest()[:8]
    return f"{document.id}::chunk::{number:03d}::{digest}"
