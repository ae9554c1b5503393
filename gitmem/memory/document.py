"""Documents: longer texts from elsewhere, with where they come from and who may see them.

Sensitivity, visibility and retention are kept and can be asked for; nothing enforces them, and nothing is deleted
but by command.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

from gitmem.errors import UsageError
from gitmem.memory.bounds import check_choice, check_list, check_metadata, check_text, check_time, format_time
from gitmem.record import STORED_NAMES, Record
from gitmem.types import DOCUMENT

DOCUMENT_TYPES: Final = ("email", "doc", "chat", "transcript", "note")
SENSITIVITIES: Final = ("normal", "sensitive", "highly_sensitive")
VISIBILITIES: Final = ("me", "team", "org", "custom")
RETENTIONS: Final = ("forever", "1y", "until_resolved", "custom")
MAX_DOCUMENT: Final = 10_000_000
MANUAL: Final = "manual"
_YEAR: Final = timedelta(days=365)

Span = tuple[int, int]


class DocumentFields(NamedTuple):
    """What is told of a document beside its content. `time` is its own time, empty where it is not known."""

    type: str = "doc"
    source: str = MANUAL
    source_id: str = ""
    title: str = ""
    author: str = ""
    participants: tuple[str, ...] = ()
    url: str = ""
    time: str = ""
    sensitivity: str = "normal"
    visibility: str = "me"
    retention: str = "forever"
    metadata: Mapping[str, str] = {}


class Document(NamedTuple):
    """A document. `stored` is when this content came in; `chunks` are character spans, none for one in one piece;
    `tokens` are counted by `tokenizer`."""

    id: str
    fields: DocumentFields
    content: str
    stored: str
    tokens: int
    tokenizer: str
    chunks: tuple[Span, ...]


def check_fields(fields: DocumentFields) -> DocumentFields:
    """Refuse fields out of bounds; times come back in UTC. Raises UsageError."""
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
    """Refuse content that is too long or none. Raises UsageError."""
    if not content.strip():
        raise UsageError("the document is empty")
    if "\0" in content:
        raise UsageError("the document is binary data", hint="extract its text first")
    return check_text("document", content, MAX_DOCUMENT)


def document_record(document: Document) -> Record:
    """A document as a record; what is empty is left out."""
    values = {STORED_NAMES.get(name, name): value for name, value in document.fields._asdict().items() if value}
    fields: dict[str, Any] = {**values, "stored": document.stored, "tokens": document.tokens}
    fields["tokenizer"] = document.tokenizer
    if document.chunks:
        fields["chunks"] = [list(span) for span in document.chunks]
    return Record(DOCUMENT, document.id, fields, document.content.encode())


def load_document(record: Record) -> Document:
    """A record as a document; fields that are missing have their defaults."""
    told = record.named_fields
    values = {name: told[name] for name in DocumentFields._fields if name in told}
    if "participants" in values:
        values["participants"] = tuple(values["participants"])
    return Document(
        id=record.id,
        fields=DocumentFields(**values),
        content=record.text,
        stored=str(told.get("stored", "")),
        tokens=int(told.get("tokens", 0)),
        tokenizer=str(told.get("tokenizer", "")),
        chunks=tuple((int(start), int(end)) for start, end in told.get("chunks", ())),
    )


def is_expired(retention: str, stored: str, now: datetime) -> bool:
    """Whether a retention has run out: one year after the document was stored, for `1y`; nothing else runs out."""
    return retention == "1y" and stored < format_time(now - _YEAR)


def chunk_id(document: Document, number: int) -> str:
    """The id of a document's chunk: its number and a hash of what it says."""
    import hashlib

    start, end = document.chunks[number]
    digest = hashlib.sha256(document.content[start:end].encode()).hexdigest()[:8]
    return f"{document.id}::chunk::{number:03d}::{digest}"
