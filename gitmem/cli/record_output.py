"""Format records of every kind for people, and their changes as text and JSON."""

import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from gitmem.display import count, first_line, visible, visible_code
from gitmem.memory.conversation import Conversation, Turn
from gitmem.memory.document import Document
from gitmem.memory.note import Note
from gitmem.record import Record
from gitmem.records.record_json import record_json
from gitmem.records.revisions import Change, Step, name_of
from gitmem.records.similar_notes import Alike


def write_content(content: bytes) -> None:
    """Write content to standard output byte for byte; on a terminal with control characters escaped."""
    if sys.stdout.isatty():
        print("\n".join(map(visible_code, content.decode("utf-8", "replace").splitlines())))
        return
    sys.stdout.flush()
    sys.stdout.buffer.write(content)
    sys.stdout.buffer.flush()


def format_note(note: Note) -> str:
    """Return a note as two lines: its fields, then the beginning of its text."""
    confidence = "" if note.confidence == 1 else f"  {note.confidence:g}"
    return f"{note.id}  {note.type}{confidence}  {_day(note.time)}\n    {first_line(note.content)}"


def format_alike(found: Alike) -> str:
    """A note that says the same as a new one, on a line."""
    return f"alike {found.note.id} ({found.score:.2f}): {first_line(found.note.content)}"


def format_turn(turn: Turn) -> list[str]:
    """Return a turn as lines: number and role, then its text."""
    return [f"{turn.number} {turn.role}", *("  " + visible_code(line) for line in turn.content.splitlines())]


def format_conversation(conversation: Conversation) -> str:
    """Return a conversation as one line."""
    return f"{visible(conversation.id)}  {count(conversation.turns, 'turn')}  {_day(conversation.time)}"


def format_document(document: Document) -> str:
    """Return a document as two lines: its fields, then its title or the beginning of its text."""
    fields = document.fields
    source = f"{fields.source}:{fields.source_id}" if fields.source_id else fields.source
    about = f"{document.id}  {fields.type}  {visible(source)}  {_day(fields.time or document.stored)}"
    return f"{about}  {count(document.tokens, 'token')}\n    {visible(fields.title) or first_line(document.content)}"


def format_record_head(record: Record, gone: Sequence[str] = ()) -> str:
    """Return the fields of a record, one per line, its missing paths, and an empty line."""
    lines = [f"{record.kind} {visible(name_of(record))}"]
    lines += [f"{name}: {visible(_plain(value))}" for name, value in record.named_fields.items() if name != "chunks"]
    lines += [f"missing paths: {', '.join(map(visible, gone))}"] if gone else []
    return "\n".join(lines) + "\n"


def _plain(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return ", ".join(f"{key}={one}" for key, one in value.items()) if isinstance(value, dict) else str(value)


def step_json(step: Step) -> dict[str, Any]:
    """A commit of the memory as plain values."""
    return {**step._asdict(), "added": list(step.added), "changed": list(step.changed), "deleted": list(step.deleted)}


def format_step(step: Step) -> str:
    """A commit of the memory: id and time, then what it changed."""
    time = datetime.fromtimestamp(step.seconds, UTC).strftime("%Y-%m-%d %H:%M:%S")
    lines = [f"{step.commit[:12]}  {time}  {visible(step.message)}"]
    for sign, names in (("+", step.added), ("~", step.changed), ("-", step.deleted)):
        lines += [f"  {sign} {visible(name)}" for name in names]
    if step.more:
        lines.append(f"    and {count(step.more, 'more record')}")
    return "\n".join(lines)


def change_json(change: Change) -> dict[str, Any]:
    """Return a difference as JSON values."""
    sides = {"before": change.before, "after": change.after}
    return {"id": change.id, **{name: record_json(side) if side else None for name, side in sides.items()}}


def format_change(change: Change) -> Iterator[str]:
    """Yield a difference as the lines of a unified diff."""
    from difflib import unified_diff

    before, after = _lines(change.before), _lines(change.after)
    old = f"{change.id} before" if before else "nothing"
    new = f"{change.id} after" if after else "nothing"
    for line in unified_diff(before, after, visible(old), visible(new), lineterm=""):
        yield visible_code(line)


def _lines(record: Record | None) -> list[str]:
    return [*format_record_head(record).splitlines(), *record.text.splitlines()] if record else []


def _day(time: str) -> str:
    return time[:10]
