"""Text output of records of every kind, and output of the memory's log and differences."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from difflib import unified_diff
from typing import Final

from gitmem.cli import console
from gitmem.cli.style import is_terminal
from gitmem.display import count, first_line, visible, visible_code
from gitmem.memory.conversation import Conversation, Turn
from gitmem.memory.document import Document
from gitmem.memory.note import Note
from gitmem.memory.visibility import DEFAULTS
from gitmem.record import SHARED_BY, Record
from gitmem.records.note_states import CURRENT, NoteState, describe_state
from gitmem.records.revisions import LogEntry, RecordDiff, record_name
from gitmem.records.similar_notes import SimilarNote
from gitmem.types import DOCUMENT, NOTE, TURN

_INTERNAL: Final = ("chunks", "blobs", "commit")
"""Fields of records that say nothing to people."""


def write_content(content: bytes) -> None:
    """Write content to standard output byte for byte; on a terminal, print control characters as escapes."""
    if is_terminal(console.environment()):
        # Stored text may come from anybody, and a terminal executes the escape sequences in it.
        console.put("\n".join(map(visible_code, content.decode("utf-8", "replace").splitlines())))
        return
    console.stdout().flush()
    console.stdout().buffer.write(content)
    console.stdout().buffer.flush()


def format_note(note: Note, state: NoteState = CURRENT) -> str:
    """Format a note as lines: id, type, confidence and date, then what makes it doubtful, then its first line."""
    confidence = "" if note.confidence == 1 else f"  {note.confidence:g}"
    heading = f"{note.id}  {note.type}{confidence}  {_date(note.time)}{_whose(note.shared_by)}"
    heading += _for_whom(note.visibility, NOTE)
    return "\n    ".join([heading, *describe_state(state), first_line(note.content)])


def format_similar_note(similar: SimilarNote) -> str:
    """Format a similar note as one line."""
    note = similar.note
    return f"similar to {note.id} ({similar.score:.2f}){_whose(note.shared_by)}: {first_line(note.content)}"


def format_turn(turn: Turn) -> list[str]:
    """Format a turn as lines: number and role, then the indented content."""
    return [
        f"{turn.number} {turn.role}{_whose(turn.shared_by)}",
        *("  " + visible_code(line) for line in turn.content.splitlines()),
    ]


def format_conversation(conversation: Conversation) -> str:
    """Format the summary of a conversation as one line, with its title at the end."""
    parts = [conversation.id, count(conversation.turns, "turn"), _date(conversation.time), conversation.title]
    return "  ".join(visible(part) for part in parts if part) + _for_whom(conversation.visibility, TURN)


def format_document(document: Document) -> str:
    """Format a document as two lines: id, type, source, date and size, then its title or first line."""
    fields = document.fields
    source = f"{fields.source}:{fields.source_id}" if fields.source_id else fields.source
    about = f"{document.id}  {fields.type}  {visible(source)}  {_date(fields.time or document.stored)}"
    about += f"  {count(document.tokens, 'token')}{_whose(document.shared_by)}{_for_whom(fields.visibility, DOCUMENT)}"
    return f"{about}\n    {visible(fields.title) or first_line(document.content)}"


def format_record_head(record: Record, missing: Sequence[str] = (), state: NoteState = CURRENT) -> str:
    """Format the fields of a record, one per line, missing paths, what makes a note doubtful, and an empty line."""
    lines = [f"{record.kind} {visible(record_name(record))}"]
    lines += [
        f"{name.replace('_', ' ') if name == SHARED_BY else name}: {visible(_plain(value))}"
        for name, value in record.named_fields.items()
        if name not in _INTERNAL
    ]
    lines += [f"missing paths: {', '.join(map(visible, missing))}"] if missing else []
    lines += describe_state(state)
    return "\n".join(lines) + "\n"


def _plain(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return ", ".join(f"{key}={item}" for key, item in value.items()) if isinstance(value, dict) else str(value)


def format_log_entry(entry: LogEntry) -> str:
    """Format an entry of the log: commit, time and message, then the ids of the changed records."""
    time = datetime.fromtimestamp(entry.seconds, UTC).strftime("%Y-%m-%d %H:%M:%S")
    lines = [f"{entry.commit[:12]}  {time}  {visible(entry.message)}"]
    for sign, names in (("+", entry.added), ("~", entry.changed), ("-", entry.deleted)):
        lines += [f"  {sign} {visible(name)}" for name in names]
    if entry.more:
        lines.append(f"    and {count(entry.more, 'more record')}")
    return "\n".join(lines)


def format_diff(diff: RecordDiff) -> Iterator[str]:
    """Yield the lines of a unified diff between the two versions of a record."""
    # Fields are part of the diff, as lines before the content: a change may be in the fields alone.
    before, after = _lines(diff.before), _lines(diff.after)
    old = f"{diff.id} before" if before else "nothing"
    new = f"{diff.id} after" if after else "nothing"
    for line in unified_diff(before, after, visible(old), visible(new), lineterm=""):
        yield visible_code(line)


def _lines(record: Record | None) -> list[str]:
    return [*format_record_head(record).splitlines(), *record.text.splitlines()] if record else []


def _whose(sharer: str) -> str:
    """Return who shared a record, after two blanks; nothing for one of this clone."""
    return f"  shared by {visible(sharer)}" if sharer else ""


def _for_whom(visibility: str, kind: str) -> str:
    """Return a visibility that is not the default of the kind, after two blanks."""
    return f"  for {visibility}" if visibility != DEFAULTS[kind] else ""


def _date(time: str) -> str:
    return time[:10]
