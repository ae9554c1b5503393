"""Read records that an agent names: a note, a document, a conversation or one of its turns, in whole or in part."""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from gitmem.answering.excerpts import Excerpt
from gitmem.display import count, visible
from gitmem.errors import UnknownRecord, UsageError
from gitmem.locations import MAX_LINE
from gitmem.memory.conversation import load_turn
from gitmem.memory.document import chunk_id, load_document
from gitmem.memory.kinds import kind_of
from gitmem.memory.note import Note, load_note
from gitmem.memory.record_paths import CONVERSATION_PREFIX, conversation_folder, parse_id, turn_path
from gitmem.memory.record_store import RecordStore, Tip
from gitmem.memory.visibility import DEFAULTS, VISIBILITY
from gitmem.named_tuple import NamedTuple
from gitmem.record import SIGNATURE, Record
from gitmem.records.abbreviated_ids import complete_id, complete_name
from gitmem.records.note_states import NoteState, describe_state, state_json
from gitmem.records.record_json import document_json, note_json, turn_json
from gitmem.records.unknown_record import unknown_record
from gitmem.secrets.masking import mask_text, mask_value
from gitmem.types import DOCUMENT, NOTE, TURN

# A part of a record is written like a location: lines as for a path, a chunk as for a blob, which also is named by an
# id. The last form is the id of a chunk that `document_ingest` returns; it ends with a hash of the chunk's text.
_PART: Final = (
    r"(?:#L(?P<fragment_first>\d{1,9})(?:-L?(?P<fragment_last>\d{1,9}))?|:(?P<first>\d{1,9})-(?P<last>\d{1,9})"
    r"|:(?P<chunk>\d{1,9})|::chunk::(?P<hashed_chunk>\d{1,9})::[0-9a-f]{8})?"
)
_HASHED_ID: Final = re.compile(r"(?P<id>(?:mem|art)_[0-9a-f]{4,64})" + _PART)
_CONVERSATION: Final = re.compile(r"(?P<id>conversation:.+?)(?: (?P<turn>\d{1,8}))?" + _PART, re.DOTALL)
_WHOLE: Final = MAX_LINE + 1
_HINT: Final = "search for it with kind `all`"
_UNSHOWN: Final = ("id", "conversation", "turn", "tokens", "tokenizer", "blobs", "commit", "state", "chunk_spans")
"""Fields that are in the heading, or only for programs."""


class RecordName(NamedTuple):
    """Parsed name of a record: its id, for a conversation also a turn, and which lines (from 1) or chunk (from 0)."""

    id: str
    turn: int | None
    first: int
    last: int
    chunk: int | None


def is_record_name(name: str) -> bool:
    """Return whether a name is that of a record; any other is a location."""
    return name.startswith(CONVERSATION_PREFIX) or _HASHED_ID.fullmatch(name) is not None


def parse_record_name(name: str) -> RecordName:
    """Parse a name as search prints it, `mem_...:1-3` or `conversation:plan 5`, or with a chunk. Raises UsageError."""
    match = _HASHED_ID.fullmatch(name) or _CONVERSATION.fullmatch(name)
    if match is None:
        raise UsageError(f"invalid name of a record: `{name}`", hint="names: mem_..., art_..., conversation:NAME")
    parts = match.groupdict()
    first = int(parts["fragment_first"] or parts["first"] or 1)
    last = int(parts["fragment_last"] or parts["last"] or (first if parts["fragment_first"] else _WHOLE))
    if not 1 <= first <= last:
        raise UsageError(f"invalid lines in `{name}`", hint="lines are numbered from 1, the first before the last")
    chunk = parts["chunk"] or parts["hashed_chunk"]
    turn = parts.get("turn")
    return RecordName(parts["id"], int(turn) if turn else None, first, last, int(chunk) if chunk else None)


def read_records(
    store: RecordStore, tip: Tip, name: str, turns: int, state_of: Callable[[Note], NoteState]
) -> list[Excerpt]:
    """Read the record of a name with its state if it is a note, or the last `turns` of a conversation.

    Raises: UnknownRecord, UsageError, DamagedFile.
    """
    if name.startswith(CONVERSATION_PREFIX):
        return _read_conversation(store, tip, name, turns)
    parsed = parse_record_name(name)
    try:
        identity = complete_id(store, tip, parsed.id)
    except UnknownRecord:
        identity = ""
    record = store.find_record(tip, parse_id(identity)) if identity else None
    if record is None:
        raise UnknownRecord(f"no such record: `{name}`", hint=_HINT)
    excerpt = _to_excerpt(record, parsed._replace(id=record.id), name)
    if record.kind != NOTE:
        return [excerpt]
    state = state_of(load_note(record))
    lines = [*excerpt.description, *describe_state(state)]
    return [excerpt._replace(fields={**excerpt.fields, "state": state_json(state)}, description=lines)]


def _read_conversation(store: RecordStore, tip: Tip, name: str, turns: int) -> list[Excerpt]:
    """Read the end of a conversation, or one turn of it.

    Its name may look like a turn of another one. Taken literally it has precedence, and a turn has precedence over an
    abbreviated name.
    """
    excerpts = _read_last_turns(store, tip, name, turns)
    if excerpts:
        return excerpts
    parsed = parse_record_name(name)
    excerpts = _read_turn(store, tip, parsed, name)
    full = complete_name(store, tip, name) if not excerpts else name
    if full != name:
        return _read_last_turns(store, tip, full, turns)
    if not excerpts and parsed.turn is not None:
        parsed = parsed._replace(id=complete_name(store, tip, parsed.id))
        excerpts = _read_turn(store, tip, parsed, name)
    if excerpts:
        return excerpts
    if parsed.turn is None or not store.entries(tip, conversation_folder(_conversation(parsed.id))):
        raise unknown_record(name if parsed.turn is None else parsed.id, hint=_HINT)
    raise UnknownRecord(f"no such record: `{name}`", hint=_HINT)


def _read_turn(store: RecordStore, tip: Tip, parsed: RecordName, name: str) -> list[Excerpt]:
    """Read the turn of a parsed name; empty if there is none."""
    if parsed.turn is None:
        return []
    record = store.find_record(tip, turn_path(_conversation(parsed.id), parsed.turn))
    return [_to_excerpt(record, parsed, name)] if record else []


def _read_last_turns(store: RecordStore, tip: Tip, name: str, turns: int) -> list[Excerpt]:
    """Read the end of the conversation with exactly this name; empty if there is none."""
    entries = store.entries(tip, conversation_folder(_conversation(name)))
    whole = RecordName(name, None, 1, _WHOLE, None)
    return [_to_excerpt(record, whole, name) for record in store.read_records(entries[-turns:])]


def _conversation(name: str) -> str:
    return name.removeprefix(CONVERSATION_PREFIX)


def _to_excerpt(record: Record, parsed: RecordName, name: str) -> Excerpt:
    fields = mask_value(_read_fields(record))
    if parsed.chunk is None:
        start, end = _line_span(record.text, parsed, name)
    else:
        start, end = _chunk_span(record, parsed, parsed.chunk, name)
    # The whole text is masked, since a secret may begin before the part; its length stays.
    content = mask_text(record.text)[start:end]
    lines = content.removesuffix("\n").split("\n")
    first = 1 + record.text.count("\n", 0, start)
    last = first + len(lines) - 1
    shown_name = f"{parsed.id} {fields['turn']}" if record.kind not in (NOTE, DOCUMENT) else record.id
    span = {"start": start, "end": end, "start_line": first, "end_line": last}
    return Excerpt(
        f"{visible(shown_name)}:{first}-{last}",
        lines,
        first,
        content,
        {**fields, **span},
        _describe(fields),
        shown_name,
    )


def _line_span(text: str, parsed: RecordName, name: str) -> tuple[int, int]:
    """Return the characters of the named lines; all if no lines are named. Raises UsageError."""
    if parsed.last == _WHOLE:
        return 0, len(text)
    lines = text.split("\n", parsed.last)
    start = sum(len(line) + 1 for line in lines[: parsed.first - 1])
    if parsed.first > len(lines) or (parsed.first > 1 and start >= len(text)):
        lines_in_text = count(len(text.splitlines()), "line")
        raise UsageError(f"`{parsed.id}` has {lines_in_text}, line {parsed.first} of `{name}` does not exist")
    end = start + sum(len(line) + 1 for line in lines[parsed.first - 1 : parsed.last])
    return start, min(end, len(text))


def _chunk_span(record: Record, parsed: RecordName, chunk: int, name: str) -> tuple[int, int]:
    """Return the characters of a chunk; a record that was not split is one chunk. Raises UsageError."""
    document = load_document(record) if record.kind == DOCUMENT else None
    chunks = document.chunks if document else ()
    spans = chunks or ((0, len(record.text)),)
    if chunk >= len(spans):
        raise UsageError(f"`{parsed.id}` has {len(spans)} chunks, chunk {chunk} of `{name}` does not exist")
    if "::" in name and (document is None or not chunks or chunk_id(document, chunk) != name):
        raise UsageError(f"`{name}` belongs to an earlier version of `{parsed.id}`", hint="search again")
    return spans[chunk]


def _read_fields(record: Record) -> dict[str, Any]:
    if record.kind == NOTE:
        values = note_json(load_note(record))
    elif record.kind == DOCUMENT:
        document = load_document(record)
        values = {**document_json(document), "chunk_spans": list(document.chunks)}
    else:
        values = turn_json(load_turn(record))
        if values[VISIBILITY] == DEFAULTS[TURN]:
            del values[VISIBILITY]  # of every turn, so it costs much and says little
    values.pop("content", None)
    return {"kind": kind_of(record.kind), **values, **({SIGNATURE: record.signature} if record.signature else {})}


def _describe(fields: Mapping[str, Any]) -> list[str]:
    """Return the fields of a record as lines, without empty ones and those in the heading."""
    shown = {name: value for name, value in fields.items() if name not in _UNSHOWN}
    if fields["kind"] == kind_of(NOTE) and fields["conversation"]:
        shown["conversation"] = fields["conversation"]
    return [f"{name}: {visible(_plain(value))}" for name, value in shown.items() if value not in ("", [], (), {})]


def _plain(value: object) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return ", ".join(f"{key}={item}" for key, item in value.items()) if isinstance(value, dict) else str(value)
