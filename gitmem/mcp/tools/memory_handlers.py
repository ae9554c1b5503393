"""Handlers of the tools of toolsets `memory` and `documents`: they change or list the records of one repository."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from gitmem.actions.report_template import Template, list_templates, read_template
from gitmem.answering.sessions import Session, list_sessions, session_json, session_time
from gitmem.display import count, visible
from gitmem.errors import UsageError
from gitmem.mcp.tools.arguments import Arguments
from gitmem.mcp.tools.json_output import dump, fit_values
from gitmem.mcp.tools.text_output import Block, fence, render_blocks
from gitmem.memory.conversation import Conversation
from gitmem.memory.document import Document
from gitmem.memory.last_tip import find_lost_records
from gitmem.memory.record_paths import is_conversation, is_note_id
from gitmem.memory.visibility import DEFAULTS
from gitmem.named_tuple import NamedTuple
from gitmem.records.conversations import append_turn, list_conversations
from gitmem.records.documents import add_document, list_documents
from gitmem.records.note_review import NoteWithState, review_notes
from gitmem.records.note_states import describe_state, read_states
from gitmem.records.notes import add_note, list_notes, replace_note
from gitmem.records.record_json import added_document_json, conversation_json, document_json, note_state_json
from gitmem.records.revisions import DeletedRecord, delete_records
from gitmem.secrets.masking import mask_text, mask_value
from gitmem.types import DOCUMENT, NOTE
from gitmem.workspace import Workspace

_MAX_COLUMNS: Final = 200
"""Length of the first line of a record in a list."""

_MAX_CHUNK_IDS: Final = 200
_DAY: Final = len("2026-01-31")


def store_note(workspace: Workspace, arguments: Arguments) -> str:
    """Store a note, and list the stored notes that mean the same; with an id, rewrite or confirm that note."""
    if arguments["id"]:
        return _rewrite_note(workspace, arguments)
    added = add_note(
        workspace,
        arguments["content"],
        type_=arguments["type"],
        confidence=arguments["confidence"],
        conversation=arguments["conversation"],
        paths=arguments["paths"],
        symbols=arguments["symbols"],
        supersedes=arguments["supersedes"],
        expires=arguments["expires"],
        visibility=arguments["visibility"] or DEFAULTS[NOTE],
    )
    text = _with_notes(f"stored {added.note.id}", added.notices)
    if not added.similar:
        return text
    others = [f"{other.note.id} {_first_line(other.note.content)}" for other in added.similar]
    advice = f"note: similar notes; if one is outdated, store this one again with `id` {added.note.id} and `supersedes`"
    return "\n".join([text, advice, *fence("\n".join(others))])


def _rewrite_note(workspace: Workspace, arguments: Arguments) -> str:
    """Change the given fields of a note; defaults do not count as given, for an agent need not repeat them."""
    names = ("content", "paths", "symbols", "supersedes", "expires", "conversation", "visibility")
    changes = {name: arguments[name] for name in names if arguments[name]}
    changes |= {
        name: arguments[name] for name, usual in (("type", "fact"), ("confidence", 1)) if arguments[name] != usual
    }
    changed = replace_note(workspace, arguments["id"], changes)
    return _with_notes(f"{'confirmed' if changed.confirmed else 'changed'} {changed.note.id}", changed.notices)


def append_conversation(workspace: Workspace, arguments: Arguments) -> str:
    """Store a turn of a conversation; without a number it is the next one."""
    conversation, number = arguments["conversation"], None if arguments["turn"] < 0 else arguments["turn"]
    role, content, visibility = arguments["role"], arguments["content"], arguments["visibility"]
    result = append_turn(workspace, conversation, role, content, number, visibility=visibility)
    verb = "replaced" if result.replaced else "stored"
    return _with_notes(f"{verb} turn {result.turn.number} of conversation:{visible(conversation)}", result.notices)


def ingest_document(workspace: Workspace, arguments: Arguments) -> str:
    """Store a document with the given fields; fields that are not given keep their stored values."""
    fields = {
        name: value
        for name, value in arguments.items()
        if name not in ("content", "format") and value not in ("", (), {})
    }
    result = add_document(workspace, arguments["content"], fields)
    document = result.document
    if arguments["format"] == "json":
        notes = list(result.notices)
        if len(document.chunks) > _MAX_CHUNK_IDS:
            notes.append(f"`chunk_ids` has the first {_MAX_CHUNK_IDS}; read any chunk as `{document.id}:NUMBER`")
        shown = mask_value(added_document_json(result))
        return dump({**shown, "chunk_ids": result.chunk_ids[:_MAX_CHUNK_IDS], "notes": notes})
    text = f"{result.status} {document.id}: {count(document.tokens, 'token')}"
    if document.chunks:
        text += f" in {count(len(document.chunks), 'chunk')}, `{document.id}:0` to `:{len(document.chunks) - 1}`"
    return _with_notes(text, result.notices)


def delete(workspace: Workspace, arguments: Arguments) -> str:
    """Delete records, all or none."""
    return "\n".join(map(_describe_deleted, delete_records(workspace, arguments["ids"])))


def _describe_deleted(deleted: DeletedRecord) -> str:
    if is_note_id(deleted.id):
        return f"deleted {deleted.id}"
    parts = count(deleted.parts, "turn" if is_conversation(deleted.id) else "chunk")
    return f"deleted {visible(deleted.id)} and {parts}"


class _RecordList(NamedTuple):
    """How records of one kind are listed: `read` takes the workspace, a type and a limit. `place` has the records."""

    read: Callable[[Workspace, str, int], Sequence[Any]]
    to_block: Callable[[Any], Block]
    to_json: Callable[[Any], Mapping[str, Any]]
    place: str = "memory"


def list_records(workspace: Workspace, arguments: Arguments) -> str:
    """List the records of a kind, the newest first."""
    kind = _LISTS[arguments["what"]]
    records = kind.read(workspace, arguments["type"], arguments["limit"])
    if arguments["format"] == "json":
        items, omitted = fit_values([mask_value(kind.to_json(record)) for record in records])
        return dump({"what": arguments["what"], "items": items, "omitted": omitted})
    notes = [] if records else [f"no {arguments['what']} are stored"]
    return render_blocks(list(map(kind.to_block, records)), kind.place, notes, advice="lower the limit")


def _list_notes(workspace: Workspace, type_: str, limit: int) -> list[NoteWithState]:
    notes = list_notes(workspace, type_=type_, limit=limit)
    return [NoteWithState(*pair) for pair in zip(notes, read_states(workspace, notes), strict=True)]


def _list_stale_notes(workspace: Workspace, type_: str, limit: int) -> list[NoteWithState]:
    if type_:
        raise UsageError("stale notes are listed whatever their type", hint="leave out `type`")
    return review_notes(workspace, limit)


def _list_documents(workspace: Workspace, type_: str, limit: int) -> list[Document]:
    return list_documents(workspace, type_=type_, limit=limit)


def _list_conversations(workspace: Workspace, type_: str, limit: int) -> list[Conversation]:
    if type_:
        raise UsageError("conversations have no type", hint="leave out `type`")
    return list_conversations(workspace, limit)


def _list_sessions(workspace: Workspace, type_: str, limit: int) -> list[Session]:
    if type_:
        raise UsageError("sessions have no type", hint="leave out `type`")
    return list_sessions(workspace)[:limit]


def _note_block(listed: NoteWithState) -> Block:
    note, state = listed
    confidence = f" {note.confidence:g}" if note.confidence != 1 else ""
    heading = f"{note.id} {note.type}{confidence} {note.time[:_DAY]}{_whose(note.shared_by, note.visibility, NOTE)}"
    return Block(heading, [*describe_state(state), _first_line(note.content)])


def _document_block(document: Document) -> Block:
    fields = document.fields
    source = f"{fields.source}:{fields.source_id}" if fields.source_id else fields.source
    day = (fields.time or document.stored)[:_DAY]
    heading = f"{document.id} {fields.type} {visible(source)} {day} {count(document.tokens, 'token')}"
    heading += _whose(document.shared_by, fields.visibility, DOCUMENT)
    return Block(heading, [visible(mask_text(fields.title)) or _first_line(document.content)])


def _conversation_block(conversation: Conversation) -> Block:
    turns = count(conversation.turns, "turn")
    parts = [f"conversation:{visible(conversation.id)}", turns, conversation.time[:_DAY], visible(conversation.title)]
    return Block(" ".join(part for part in parts if part), [])


def _list_templates(workspace: Workspace, type_: str, limit: int) -> list[Template]:
    if type_:
        raise UsageError("templates have no type", hint="leave out `type`")
    return [read_template(workspace, name) for name in list_templates(workspace)[:limit]]


def _template_block(template: Template) -> Block:
    variables = [f"{name}: {_describe_variable(about)}" for name, about in template.variables.items()]
    return Block(f"{template.name} {visible(str(template.schema.get('description', '')))}".rstrip(), variables)


def _describe_variable(about: object) -> str:
    """Return what a template says of a variable, and the names of the fields of a list."""
    described = about if isinstance(about, dict) else {}
    text = str(described.get("description", ""))
    fields = described.get("items")
    return _first_line(f"{text} Fields: {', '.join(map(str, fields))}." if isinstance(fields, dict) else text)


def _session_block(session: Session) -> Block:
    return Block(f"{session.id} {session_time(session)} {count(len(session.results), 'result')}",
                 [_first_line(session.query), session.tree])  # fmt: skip


def _whose(sharer: str, visibility: str, kind: str) -> str:
    """Return who shared a record, unless it is this clone's, and a visibility other than the kind's default."""
    readers = f" for {visibility}" if visibility != DEFAULTS[kind] else ""
    return f"{f' shared by {visible(sharer)}' if sharer else ''}{readers}"


def _first_line(content: str) -> str:
    """Return the first line that is not blank, shortened."""
    line = next((line.strip() for line in content.splitlines() if line.strip()), "")
    line = mask_text(line)
    return visible(line if len(line) <= _MAX_COLUMNS else line[: _MAX_COLUMNS - 1] + "…")


_LISTS: Final = {
    "notes": _RecordList(_list_notes, _note_block, lambda listed: note_state_json(*listed)),
    "stale notes": _RecordList(_list_stale_notes, _note_block, lambda listed: note_state_json(*listed)),
    "documents": _RecordList(_list_documents, _document_block, document_json),
    "conversations": _RecordList(_list_conversations, _conversation_block, conversation_json),
    "sessions": _RecordList(_list_sessions, _session_block, session_json, "search sessions"),
    "templates": _RecordList(_list_templates, _template_block, lambda template: template.schema, "templates"),
}


def _with_notes(text: str, notes: Sequence[str]) -> str:
    return "\n".join([text, *(f"note: {visible(note)}" for note in notes)])


def _with_losses(handle: "Handler") -> "Handler":
    """Add a note to the text of an answer if something removed records from the memory. JSON stays as it is."""

    def handle_and_check(workspace: Workspace, arguments: Arguments) -> str:
        text = handle(workspace, arguments)
        lost = find_lost_records(workspace.location)
        if lost is None or arguments.get("format") == "json":
            return text
        return _with_notes(text, [f"{lost.problem}; ask the user to run `{lost.remedy}`"])

    return handle_and_check


Handler = Callable[[Workspace, Arguments], str]

HANDLERS: Final[Mapping[str, Handler]] = {
    "memory_store": _with_losses(store_note),
    "conversation_append": _with_losses(append_conversation),
    "document_ingest": _with_losses(ingest_document),
    "delete": _with_losses(delete),
    "list": _with_losses(list_records),
}
"""Handlers by the name of the tool."""
