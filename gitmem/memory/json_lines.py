"""Records as JSON Lines, for moving them from one place to another: one object a line, its `kind` first. Pure.

Reading is forgiving about where lines come from: notes are the default kind, ids and times may be missing, and the
names that other systems use for the same fields are known. It is strict about what a line says: an unknown field is
an error.
"""

import json
from collections.abc import Mapping
from typing import Any, Final

from gitmem.errors import UsageError
from gitmem.memory.bounds import check_text, check_time
from gitmem.memory.conversation import Turn, check_turn, load_turn
from gitmem.memory.document import Document, DocumentFields, check_content, check_fields, load_document
from gitmem.memory.kinds import kind_of
from gitmem.memory.note import Note, check_note, load_note
from gitmem.record import Record
from gitmem.types import DOCUMENT, NOTE, RECORD_KINDS, TURN

ALIASES: Final = {
    NOTE: {"conversation_id": "conversation", "ts": "time", "memory_type": "type"},
    TURN: {"conversation_id": "conversation", "turn_index": "turn", "ts": "time"},
    DOCUMENT: {
        "artifact_id": "id", "artifact_type": "type", "source_system": "source", "source_url": "url", "ts": "time",
        "visibility_scope": "visibility", "retention_policy": "retention",
    },
}  # fmt: skip
"""Other names of fields, by kind."""

_FIELDS: Final[Mapping[str, Mapping[str, type]]] = {
    NOTE: {
        "id": str, "content": str, "type": str, "confidence": float, "conversation": str, "time": str, "paths": list,
        "symbols": list,
    },
    TURN: {"conversation": str, "turn": int, "role": str, "content": str, "time": str},
    DOCUMENT: {
        "id": str, "content": str, "type": str, "source": str, "source_id": str, "title": str, "author": str,
        "participants": list, "url": str, "time": str, "sensitivity": str, "visibility": str, "retention": str,
        "metadata": dict, "stored": str,
    },
}  # fmt: skip
_KINDS: Final = {name: kind for kind in RECORD_KINDS for name in (kind_of(kind), kind)}
"""Kinds of records by the names a line may use. Earlier exports name the stored kind."""

_LARGEST: Final = 1e9
_NEEDED: Final = {NOTE: ("content",), TURN: ("conversation", "turn", "role", "content"), DOCUMENT: ("content",)}

Item = Note | Turn | Document
"""What a line stands for. Ids and times may be empty, documents are not cut into chunks."""


def format_item(record: Record) -> str:
    """A record as a line; what is empty or follows from the content is left out."""
    fields = {name: value for name, value in _values(record).items() if value not in ("", (), {})}
    return json.dumps({"kind": kind_of(record.kind), **fields}, ensure_ascii=False)


def _values(record: Record) -> dict[str, Any]:
    if record.kind == NOTE:
        return load_note(record)._asdict()
    if record.kind == TURN:
        turn = load_turn(record)._asdict()
        return {"conversation": turn.pop("conversation"), "turn": turn.pop("number"), **turn}
    document = load_document(record)
    return {"id": document.id, **document.fields._asdict(), "stored": document.stored, "content": document.content}


def parse_item(line: str) -> Item:
    """What a line stands for. Raises UsageError."""
    try:
        told = json.loads(line)
    except (ValueError, RecursionError) as problem:
        raise UsageError("it is no JSON") from problem
    if not isinstance(told, dict):
        raise UsageError("it is no JSON object")
    named = told.pop("kind", NOTE)
    kind = _KINDS.get(named) if isinstance(named, str) else None
    if kind is None:
        raise UsageError(f"the kind is `{named}`, it must be one of {', '.join(map(kind_of, RECORD_KINDS))}")
    values = _checked(kind, told)
    if kind == NOTE:
        return _note(values)
    return _turn(values) if kind == TURN else _document(values)


def _checked(kind: str, told: Mapping[str, Any]) -> dict[str, Any]:
    """Fields under their own names and of their types; null is as good as missing."""
    named = {ALIASES[kind].get(name, name): value for name, value in told.items() if value is not None}
    for name, value in named.items():
        wanted = _FIELDS[kind].get(name)
        if wanted is None:
            raise UsageError(f"a {kind} has no field `{name}`")
        if isinstance(value, bool) or not isinstance(value, (int, float) if wanted is float else wanted):
            raise UsageError(f"the field `{name}` is of the wrong type")
        if wanted is float and isinstance(value, int | float) and abs(value) > _LARGEST:
            raise UsageError(f"the field `{name}` is too large a number")
    lacking = [name for name in _NEEDED[kind] if name not in named]
    if lacking:
        raise UsageError(f"the field `{lacking[0]}` is missing")
    return named


def _note(values: dict[str, Any]) -> Note:
    paths, symbols = values.get("paths", ()), values.get("symbols", ())
    if not all(isinstance(text, str) for text in (*paths, *symbols)):
        raise UsageError("paths and symbols must be texts")
    return check_note(
        Note(
            id=values.get("id", ""),
            content=values["content"],
            type=values.get("type", "fact"),
            confidence=float(values.get("confidence", 1.0)),
            conversation=values.get("conversation", ""),
            time=_time(values, "time"),
            paths=tuple(paths),
            symbols=tuple(symbols),
        )
    )


def _turn(values: dict[str, Any]) -> Turn:
    time = _time(values, "time")
    return check_turn(Turn(values["conversation"], values["turn"], values["role"], values["content"], time))


def _document(values: dict[str, Any]) -> Document:
    people, pairs = values.get("participants", ()), values.get("metadata", {})
    if not all(isinstance(text, str) for text in (*people, *pairs.values())):
        raise UsageError("participants and metadata must be texts")
    fields = {name: values[name] for name in DocumentFields._fields if name in values}
    told = check_fields(DocumentFields(**{**fields, "participants": tuple(people)}))
    content = check_content(check_text("document", values["content"], len(values["content"])))
    return Document(values.get("id", ""), told, content, _time(values, "stored"), 0, "", ())


def _time(values: Mapping[str, Any], name: str) -> str:
    return check_time(name, values[name]) if values.get(name) else ""
