"""Records as JSON Lines, to move them between repositories: one object per line, its `kind` first. Pure.

Parsing is lenient about the origin of lines: notes are the default kind, ids and times may be missing, and field names
of other systems are understood. It is strict about their content: an unknown field is an error.
"""

import json
from collections.abc import Mapping
from typing import Any, Final

from gitmem.errors import UsageError
from gitmem.memory.bounds import check_time
from gitmem.memory.conversation import Turn, check_turn, load_turn
from gitmem.memory.document import Document, DocumentFields, check_content, check_fields, load_document
from gitmem.memory.kinds import kind_of
from gitmem.memory.note import Note, check_note, load_note
from gitmem.memory.visibility import DEFAULTS
from gitmem.record import Record
from gitmem.types import DOCUMENT, NOTE, RECORD_KINDS, TURN

_ALIASES: Final = {
    NOTE: {"conversation_id": "conversation", "ts": "time", "memory_type": "type"},
    TURN: {"conversation_id": "conversation", "turn_index": "turn", "ts": "time"},
    DOCUMENT: {
        "artifact_id": "id", "artifact_type": "type", "source_system": "source", "source_url": "url", "ts": "time",
        "visibility_scope": "visibility", "retention_policy": "retention",
    },
}  # fmt: skip
"""Names of fields in earlier exports and in other systems, by record."""

_FIELDS: Final[Mapping[str, Mapping[str, type]]] = {
    NOTE: {
        "id": str, "content": str, "type": str, "confidence": float, "conversation": str, "time": str, "paths": list,
        "symbols": list, "supersedes": list, "expires": str, "confirmed": str, "blobs": dict, "commit": str,
        "visibility": str,
    },
    TURN: {"conversation": str, "turn": int, "role": str, "content": str, "time": str, "title": str,
        "visibility": str,
    },
    DOCUMENT: {
        "id": str, "content": str, "type": str, "source": str, "source_id": str, "title": str, "author": str,
        "participants": list, "url": str, "time": str, "sensitivity": str, "visibility": str, "retention": str,
        "metadata": dict, "stored": str,
    },
}  # fmt: skip
_RECORDS: Final = {name: record for record in RECORD_KINDS for name in (kind_of(record), record)}
"""Record by the value of `kind`. Earlier exports have `note`, `document` and `turn`."""

_MAX_NUMBER: Final = 1e9
_REQUIRED: Final = {NOTE: ("content",), TURN: ("conversation", "turn", "role", "content"), DOCUMENT: ("content",)}

Item = Note | Turn | Document
"""Content of a line. Ids and times may be empty, and documents are not cut into chunks yet."""


def format_item(record: Record) -> str:
    """Format a record as a line, without empty fields and fields that follow from the content."""
    fields = {name: value for name, value in _record_values(record).items() if value not in ("", (), {})}
    return json.dumps({"kind": kind_of(record.kind), **fields}, ensure_ascii=False)


def _record_values(record: Record) -> dict[str, Any]:
    if record.kind == NOTE:
        return load_note(record)._asdict()
    if record.kind == TURN:
        turn = load_turn(record)._asdict()
        return {"conversation": turn.pop("conversation"), "turn": turn.pop("number"), **turn}
    document = load_document(record)
    return {"id": document.id, **document.fields._asdict(), "stored": document.stored, "content": document.content}


def parse_item(line: str) -> Item:
    """Parse and check a line. Raises UsageError."""
    try:
        values = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise UsageError("not valid JSON") from error
    if not isinstance(values, dict):
        raise UsageError("expected a JSON object")
    kind = values.pop("kind", NOTE)
    record = _RECORDS.get(kind) if isinstance(kind, str) else None
    if record is None:
        raise UsageError(f"the kind is `{kind}`, it must be one of {', '.join(map(kind_of, RECORD_KINDS))}")
    fields = _check_types(record, values)
    if record == NOTE:
        return _parse_note(fields)
    return _parse_turn(fields) if record == TURN else _parse_document(fields)


def _check_types(record: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Refuse unknown, missing and wrongly typed fields. Return them under gitmem's names, without null values."""
    fields = {_ALIASES[record].get(name, name): value for name, value in values.items() if value is not None}
    for name, value in fields.items():
        expected = _FIELDS[record].get(name)
        if expected is None:
            raise UsageError(f"unknown field of a {record}: `{name}`")
        # An integer is a valid confidence, but a bool, which Python counts as an integer, is not a valid number.
        if isinstance(value, bool) or not isinstance(value, (int, float) if expected is float else expected):
            raise UsageError(f"the field `{name}` is of the wrong type")
        if expected is float and isinstance(value, int | float) and abs(value) > _MAX_NUMBER:
            raise UsageError(f"the field `{name}` is too large a number")
    missing = [name for name in _REQUIRED[record] if name not in fields]
    if missing:
        raise UsageError(f"the field `{missing[0]}` is missing")
    return fields


def _parse_note(fields: dict[str, Any]) -> Note:
    paths, symbols, supersedes = (tuple(fields.get(name, ())) for name in ("paths", "symbols", "supersedes"))
    blobs = fields.get("blobs", {})
    if not all(isinstance(text, str) for text in (*paths, *symbols, *supersedes, *blobs.values())):
        raise UsageError("paths, symbols, superseded notes and blobs must be texts")
    return check_note(
        Note(
            id=fields.get("id", ""),
            content=fields["content"],
            type=fields.get("type", "fact"),
            confidence=float(fields.get("confidence", 1.0)),
            conversation=fields.get("conversation", ""),
            time=_parse_time(fields, "time"),
            paths=paths,
            symbols=symbols,
            supersedes=supersedes,
            expires=_parse_time(fields, "expires"),
            confirmed=_parse_time(fields, "confirmed"),
            blobs=blobs,
            commit=fields.get("commit", ""),
            visibility=fields.get("visibility", DEFAULTS[NOTE]),
        )
    )


def _parse_turn(fields: dict[str, Any]) -> Turn:
    time = _parse_time(fields, "time")
    title = fields.get("title", "")
    visibility = fields.get("visibility", DEFAULTS[TURN])
    return check_turn(
        Turn(fields["conversation"], fields["turn"], fields["role"], fields["content"], time, title, visibility)
    )


def _parse_document(fields: dict[str, Any]) -> Document:
    participants, metadata = fields.get("participants", ()), fields.get("metadata", {})
    if not all(isinstance(text, str) for text in (*participants, *metadata.values())):
        raise UsageError("participants and metadata must be texts")
    values = {name: fields[name] for name in DocumentFields._fields if name in fields}
    checked = check_fields(DocumentFields(**{**values, "participants": tuple(participants)}))
    content = check_content(fields["content"])
    return Document(fields.get("id", ""), checked, content, _parse_time(fields, "stored"), 0, "", ())


def _parse_time(fields: Mapping[str, Any], name: str) -> str:
    return check_time(name, fields[name]) if fields.get(name) else ""
