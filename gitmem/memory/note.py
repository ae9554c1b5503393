"""Notes: what is worth knowing next time, in a few sentences."""

from typing import Any, Final, NamedTuple

from gitmem.errors import UsageError
from gitmem.memory.bounds import check_choice, check_line, check_number, check_path, check_text
from gitmem.record import Record
from gitmem.types import NOTE

NOTE_TYPES: Final = ("preference", "fact", "project", "decision")
MAX_NOTE: Final = 10_000
MAX_CONVERSATION: Final = 100
MAX_NAMED: Final = 20
MAX_SYMBOL: Final = 200
LIST_DEFAULT: Final = 20
LIST_MOST: Final = 100


class Note(NamedTuple):
    """A note. `time` is when it was told; `conversation` may be empty.

    It is about the files or folders of `paths` and the `symbols` in them, or anywhere where it names no path.
    """

    id: str
    content: str
    type: str
    confidence: float
    conversation: str
    time: str
    paths: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()


def check_note(note: Note) -> Note:
    """Refuse a note that is out of bounds; paths are written as git writes them. Raises UsageError."""
    check_text("note", note.content, MAX_NOTE)
    check_choice("type", note.type, NOTE_TYPES)
    check_number("confidence", note.confidence, 0, 1)
    if note.conversation:
        check_text("conversation", note.conversation, MAX_CONVERSATION)
    for what, told in (("paths", note.paths), ("symbols", note.symbols)):
        if len(told) > MAX_NAMED:
            raise UsageError(f"there are {len(told)} {what}, at most {MAX_NAMED} are allowed")
    return note._replace(
        paths=tuple(check_path("path", path) for path in note.paths),
        symbols=tuple(check_line("symbol", symbol, MAX_SYMBOL) for symbol in note.symbols),
    )


def note_record(note: Note) -> Record:
    """A note as a record."""
    fields: dict[str, Any] = {"type": note.type, "confidence": note.confidence, "time": note.time}
    if note.conversation:
        fields["conversation"] = note.conversation
    fields |= {name: list(told) for name, told in (("paths", note.paths), ("symbols", note.symbols)) if told}
    return Record(NOTE, note.id, fields, note.content.encode())


def load_note(record: Record) -> Note:
    """A record as a note; fields that are missing have their defaults."""
    fields = record.fields
    return Note(
        id=record.id,
        content=record.text,
        type=str(fields.get("type", "fact")),
        confidence=float(fields.get("confidence", 1.0)),
        conversation=str(fields.get("conversation", "")),
        time=str(fields.get("time", "")),
        paths=_texts(fields.get("paths")),
        symbols=_texts(fields.get("symbols")),
    )


def note_paths(record: Record) -> tuple[str, ...]:
    """The paths that a record names, none where it is no note."""
    return load_note(record).paths if record.kind == NOTE else ()


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list) else ()
