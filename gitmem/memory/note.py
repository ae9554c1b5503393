"""Notes: a few sentences that are worth knowing in a later session."""

from collections.abc import Mapping
from typing import Any, Final

from gitmem.errors import UsageError
from gitmem.lazy_pattern import lazy_pattern
from gitmem.memory.bounds import check_choice, check_line, check_number, check_path, check_text, check_time
from gitmem.memory.record_paths import is_note_id
from gitmem.memory.visibility import DEFAULTS, VISIBILITIES, VISIBILITY, visibility_of
from gitmem.named_tuple import NamedTuple
from gitmem.record import Record
from gitmem.types import NOTE

NOTE_TYPES: Final = ("preference", "fact", "project", "decision")
MAX_NOTE: Final = 10_000
MAX_CONVERSATION: Final = 100
MAX_REFERENCES: Final = 20
"""Maximum number of paths, and of symbols, of a note."""

MAX_SYMBOL: Final = 200
MAX_BLOBS: Final = 2 * MAX_REFERENCES
"""Maximum number of files whose content a note was written about: those of its paths, and those of its symbols."""

_BLOB: Final = lazy_pattern(r"(?:[0-9a-f]{40}|[0-9a-f]{64})?\Z")
LIST_DEFAULT: Final = 20
MAX_LIST: Final = 100


class Note(NamedTuple):
    """Note, with the time at which it was stored. `conversation` may be empty.

    It is about the files or folders of `paths` and the `symbols` in them. Without paths it is about the symbols
    anywhere. `shared_by` is that of its record.

    It replaces the notes with the ids `supersedes`. It is outdated after the time `expires`, and was true at the time
    `confirmed`; both may be empty. `blobs` maps the files that it was written about to the ids of their blobs, folders
    to "", and `commit` was HEAD then. `visibility` decides whether the note is shared.
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
    supersedes: tuple[str, ...] = ()
    expires: str = ""
    confirmed: str = ""
    blobs: Mapping[str, str] = {}
    commit: str = ""
    visibility: str = DEFAULTS[NOTE]


def check_note(note: Note) -> Note:
    """Refuse a note with a field out of bounds. Return it with normalised paths. Raises UsageError."""
    check_text("note", note.content, MAX_NOTE)
    check_choice("type", note.type, NOTE_TYPES)
    check_number("confidence", note.confidence, 0, 1)
    check_choice(VISIBILITY, note.visibility, VISIBILITIES)
    if note.conversation:
        check_text("conversation", note.conversation, MAX_CONVERSATION)
    for field, values in (("paths", note.paths), ("symbols", note.symbols), ("superseded notes", note.supersedes)):
        if len(values) > MAX_REFERENCES:
            raise UsageError(f"there are {len(values)} {field}, at most {MAX_REFERENCES} are allowed")
    for identity in note.supersedes:
        if not is_note_id(identity) or identity == note.id:
            raise UsageError(f"`{identity[:40]}` is not the id of another note", hint="gitmem memory list")
    _check_blobs(note)
    return note._replace(
        paths=tuple(check_path("path", path) for path in note.paths),
        symbols=tuple(check_line("symbol", symbol, MAX_SYMBOL) for symbol in note.symbols),
        supersedes=tuple(dict.fromkeys(note.supersedes)),
        expires=check_time("time `expires`", note.expires) if note.expires else "",
        confirmed=check_time("time `confirmed`", note.confirmed) if note.confirmed else "",
    )


def _check_blobs(note: Note) -> None:
    """Refuse ids that git would not give: other people's notes have them too, and they reach git's arguments."""
    if len(note.blobs) > MAX_BLOBS or not all(map(_BLOB.match, (note.commit, *note.blobs.values()))):
        raise UsageError("the blobs or the commit of the note are not ids of git")
    for path in note.blobs:
        check_path("path", path)


def note_record(note: Note) -> Record:
    """Convert a note to a record, without fields that are empty."""
    fields: dict[str, Any] = {"type": note.type, "confidence": note.confidence, "time": note.time}
    if note.conversation:
        fields["conversation"] = note.conversation
    lists = {"paths": note.paths, "symbols": note.symbols, "supersedes": note.supersedes}
    fields |= {name: list(values) for name, values in lists.items() if values}
    # An older gitmem ignores fields that it does not know, so the version of the encoding stays.
    texts = {"expires": note.expires, "confirmed": note.confirmed, "commit": note.commit}
    fields |= {name: value for name, value in texts.items() if value}
    fields |= {"blobs": dict(note.blobs)} if note.blobs else {}
    fields |= {VISIBILITY: note.visibility} if note.visibility != DEFAULTS[NOTE] else {}
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
        supersedes=_load_texts(fields.get("supersedes")),
        expires=str(fields.get("expires", "")),
        confirmed=str(fields.get("confirmed", "")),
        blobs=_load_blobs(fields.get("blobs")),
        commit=str(fields.get("commit", "")),
        visibility=visibility_of(record),
    )


def note_paths(record: Record) -> tuple[str, ...]:
    """Return the paths of a note, or an empty tuple for a record of another kind."""
    return load_note(record).paths if record.kind == NOTE else ()


def _load_blobs(value: Any) -> dict[str, str]:
    return {str(path): str(oid) for path, oid in value.items()} if isinstance(value, dict) else {}


def _load_texts(value: Any) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list) else ()
