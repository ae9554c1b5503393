"""Notes: a few sentences that are worth knowing in a later session."""

from typing import Any, Final, NamedTuple

from gitmem.errors import UsageError
from gitmem.memory.bounds import check_choice, check_line, check_number, check_path, check_text
from gitmem.record import Record
from gitmem.types import NOTE

NOTE_TYPES: Final = ("preference", "fact", "project", "decision")
MAX_NOTE: Final = 10_000
MAX_CONVERSATION: Final = 100
MAX_REFERENCES: Final = 20
"""Maximum number of paths, and of symbols, of a note."""

MAX_SYMBOL: Final = 200
LIST_DEFAULT: Final = 20
MAX_LIST: Final = 100


class Note(NamedTuple):
    """Note, with the time at which it was stored. `conversation` may be empty.

    It is about the files or folders of `paths` and the `symbols` in them. Without paths it is about the symbols
    anywhere. `shared_by` is that of its record.
    """

    id: str
    content: str
    type: str
    confidence: float
    conversation: str
    time: str
    paths: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()
    shared_by: str = ""


def check_note(note: Note) -> Note:
    """Refuse a note with a field out of bounds. Return it with normalised paths. Raises UsageError."""
    check_text("note", note.content, MAX_NOTE)
    check_choice("type", note.type, NOTE_TYPES)
    check_number("confidence", note.confidence, 0, 1)
    if note.conversation:
        check_text("conversation", note.conversation, MAX_CONVERSATION)
    for field, values in (("paths", note.paths), ("symbols", note.symbols)):
        if len(values) > MAX_REFERENCES:
            raise UsageError(f"there are {len(values)} {field}, at most {MAX_REFERENCES} are allowed")
    return note._replace(
        paths=tuple(check_path("path", path) for path in note.paths),
        symbols=tuple(check_line("symbol", symbol, MAX_SYMBOL) for symbol in note.symbols),
    )


def note_record(note: Note) -> Record:
    """Convert a note to a record, without an empty conversation, empty paths or empty symbols."""
    fields: dict[str, Any] = {"type": note.type, "confidence": note.confidence, "time": note.time}
    if note.conversation:
        fields["conversation"] = note.conversation
    fields |= {name: list(values) for name, values in (("paths", note.paths), ("symbols", note.symbols)) if values}
    return Record(NOTE, note.id, fields, note.content.encode())


def load_note(record: Record) -> Note:
    """Convert a record to a note. Missing fields get their defaults."""
    fields = record.fields
    return Note(
        id=record.id,
        content=record.text,
        type=str(fields.get("type", "fact")),
        confidence=float(fields.get("confidence", 1.0)),
        conversation=str(fields.get("conversation", "")),
        time=str(fields.get("time", "")),
        paths=_load_texts(fields.get("paths")),
        symbols=_load_texts(fields.get("symbols")),
        shared_by=record.shared_by,
    )


def note_paths(record: Record) -> tuple[str, ...]:
    """Return the paths of a note, or an empty tuple for a record of another kind."""
    return load_note(record).paths if record.kind == NOTE else ()


def _load_texts(value: Any) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list) else ()
