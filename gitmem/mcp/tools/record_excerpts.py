"""Records that an agent names: a note, a document, a conversation or one of its turns, whole or in part."""

import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from gitmem.display import count, visible
from gitmem.errors import UnknownRecord, UsageError
from gitmem.mcp.tools.excerpts import Excerpt
from gitmem.memory.conversation import load_turn
from gitmem.memory.document import chunk_id, load_document
from gitmem.memory.kinds import kind_of
from gitmem.memory.note import load_note
from gitmem.memory.record_paths import CONVERSATION_PREFIX, conversation_folder, parse_id, turn_path
from gitmem.memory.record_store import RecordStore, Tip
from gitmem.record import Record
from gitmem.records.record_json import document_json, note_json, turn_json
from gitmem.types import DOCUMENT, NOTE

_PART: Final = (
    r"(?:#L(?P<a>\d{1,9})(?:-L?(?P<b>\d{1,9}))?|:(?P<c>\d{1,9})-(?P<d>\d{1,9})"
    r"|:(?P<chunk>\d{1,9})|::chunk::(?P<number>\d{1,9})::[0-9a-f]{8})?"
)
_KEPT: Final = re.compile(r"(?P<id>(?:mem|art)_[0-9a-f]{8,64})" + _PART)
_SAID: Final = re.compile(r"(?P<id>conversation:.+?)(?: (?P<turn>\d{1,8}))?" + _PART, re.DOTALL)
_WHOLE: Final = 10**9
_HINT: Final = "search for it with kind `all`"


class Named(NamedTuple):
    """A record or a conversation, and which of its lines (from 1) or which chunk (from 0) is meant."""

    id: str
    turn: int | None
    first: int
    last: int
    chunk: int | None


def is_record_name(name: str) -> bool:
    """Whether this names a record and no file."""
    return name.startswith(CONVERSATION_PREFIX) or _KEPT.fullmatch(name) is not None


def parse_record_name(name: str) -> Named:
    """A record as search prints it, `mem_...:1-3` or `conversation:plan 5`, or with a chunk. Raises UsageError."""
    found = _KEPT.fullmatch(name) or _SAID.fullmatch(name)
    if found is None:
        raise UsageError(f"`{name}` names no record", hint="ids: mem_..., art_..., conversation:NAME")
    told = found.groupdict()
    first = int(told["a"] or told["c"] or 1)
    last = int(told["b"] or told["d"] or (first if told["a"] else _WHOLE))
    if not 1 <= first <= last:
        raise UsageError(f"`{name}` names no lines", hint="lines count from 1, the first stands before the last")
    chunk = told["chunk"] or told["number"]
    turn = told.get("turn")
    return Named(told["id"], int(turn) if turn else None, first, last, int(chunk) if chunk else None)


def read_records(store: RecordStore, tip: Tip, name: str, turns: int) -> list[Excerpt]:
    """The record of a name, or the last `turns` of a conversation. Raises UnknownRecord, UsageError, DamagedFile."""
    if name.startswith(CONVERSATION_PREFIX):
        said = _last_turns(store, tip, name, turns)
        if said:
            return said
    named = parse_record_name(name)
    if named.turn is None and named.id.startswith(CONVERSATION_PREFIX):
        raise UnknownRecord(f"there is no conversation `{name}`", hint=_HINT)
    place = parse_id(named.id) if named.turn is None else turn_path(_conversation(named.id), named.turn)
    record = store.find_record(tip, place)
    if record is None:
        raise UnknownRecord(f"there is no record `{name}`", hint=_HINT)
    return [_passage(record, named, name)]


def _last_turns(store: RecordStore, tip: Tip, name: str, turns: int) -> list[Excerpt]:
    """The end of a conversation of exactly this name, whatever the name looks like."""
    entries = store.entries(tip, conversation_folder(_conversation(name)))
    whole = Named(name, None, 1, _WHOLE, None)
    return [_passage(record, whole, name) for record in store.read_records(entries[-turns:])]


def _conversation(name: str) -> str:
    return name.removeprefix(CONVERSATION_PREFIX)


def _passage(record: Record, named: Named, name: str) -> Excerpt:
    known = _known(record)
    start, end = _chunk_span(record, named, name) if named.chunk is not None else _line_span(record.text, named, name)
    content = record.text[start:end]
    first = 1 + record.text.count("\n", 0, start)
    lines = content.removesuffix("\n").split("\n")
    place = f"{named.id} {known['turn']}" if record.kind not in (NOTE, DOCUMENT) else record.id
    part = {"start": start, "end": end, "start_line": first, "end_line": first + len(lines) - 1}
    heading = f"{visible(place)}:{first}-{first + len(lines) - 1}"
    return Excerpt(heading, lines, first, content, {**known, **part}, _about(known))


def _line_span(text: str, named: Named, name: str) -> tuple[int, int]:
    """The characters of the lines that are meant; all of them without any."""
    if named.last == _WHOLE:
        return 0, len(text)
    lines = text.split("\n", named.last)
    start = sum(len(line) + 1 for line in lines[: named.first - 1])
    if named.first > len(lines) or (named.first > 1 and start >= len(text)):
        told = count(len(text.splitlines()), "line")
        raise UsageError(f"`{named.id}` has {told}, there is no line {named.first} as in `{name}`")
    end = start + sum(len(line) + 1 for line in lines[named.first - 1 : named.last])
    return start, min(end, len(text))


def _chunk_span(record: Record, named: Named, name: str) -> tuple[int, int]:
    """The characters of a chunk; what was not cut is one."""
    document = load_document(record) if record.kind == DOCUMENT else None
    chunks = document.chunks if document else ()
    spans = chunks or ((0, len(record.text)),)
    assert named.chunk is not None
    if named.chunk >= len(spans):
        raise UsageError(f"`{named.id}` has {len(spans)} chunks, there is no chunk {named.chunk} as in `{name}`")
    if "::" in name and (document is None or not chunks or chunk_id(document, named.chunk) != name):
        raise UsageError(f"`{name}` is a chunk of what `{named.id}` was before", hint="search again")
    return spans[named.chunk]


def _known(record: Record) -> dict[str, Any]:
    if record.kind == NOTE:
        values = note_json(load_note(record))
    elif record.kind == DOCUMENT:
        values = document_json(load_document(record))
    else:
        values = turn_json(load_turn(record))
    values.pop("content", None)
    return {"kind": kind_of(record.kind), **values}


_UNTOLD: Final = ("id", "conversation", "turn", "tokens", "tokenizer")


def _about(known: Mapping[str, Any]) -> list[str]:
    """What is known of a record, one a line, without what is empty or stands in the heading."""
    told = {name: value for name, value in known.items() if name not in _UNTOLD}
    if known["kind"] == NOTE and known["conversation"]:
        told["conversation"] = known["conversation"]
    return [f"{name}: {visible(_plain(value))}" for name, value in told.items() if value not in ("", [], (), {})]


def _plain(value: object) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return ", ".join(f"{key}={one}" for key, one in value.items()) if isinstance(value, dict) else str(value)
