"""What the tools do that change the memory, or list it. Each takes checked arguments and returns text."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from gitmem.display import count, visible
from gitmem.errors import UsageError
from gitmem.mcp.tools.arguments import Arguments
from gitmem.mcp.tools.json_output import dump, fitting
from gitmem.mcp.tools.text_output import Block, fence, render_blocks
from gitmem.memory.conversation import Conversation
from gitmem.memory.document import Document
from gitmem.memory.note import Note
from gitmem.memory.record_paths import is_conversation, is_note_id
from gitmem.records.conversations import append_turn, list_conversations
from gitmem.records.documents import add_document, list_documents
from gitmem.records.notes import add_note, list_notes
from gitmem.records.record_json import conversation_json, document_json, ingested_json, note_json
from gitmem.records.revisions import Deleted, delete_records
from gitmem.records.similar_notes import Alike
from gitmem.workspace import Workspace


def store_note(workspace: Workspace, arguments: Arguments) -> str:
    """Keep a note, and tell those that mean the same."""
    notes: list[str] = []
    alike: list[Alike] = []
    made = add_note(
        workspace,
        arguments["content"],
        type_=arguments["type"],
        confidence=arguments["confidence"],
        conversation=arguments["conversation"],
        paths=arguments["paths"],
        symbols=arguments["symbols"],
        notes=notes,
        alike=alike,
    )
    told = _told(f"kept {made.id}", notes)
    if not alike:
        return told
    same = [f"{found.note.id} {_beginning(found.note.content)}" for found in alike]
    return "\n".join([told, "note: these say the same; delete what is outdated", *fence("\n".join(same))])


def append_conversation(workspace: Workspace, arguments: Arguments) -> str:
    """Keep a turn."""
    notes: list[str] = []
    conversation, number = arguments["conversation"], arguments["turn"]
    made = append_turn(
        workspace, conversation, arguments["role"], arguments["content"], None if number < 0 else number, notes=notes
    )
    what = "replaced" if made.replaced else "kept"
    return _told(f"{what} turn {made.turn.number} of conversation:{visible(conversation)}", notes)


def ingest_document(workspace: Workspace, arguments: Arguments) -> str:
    """Take a document in, with the fields that were given."""
    given = {
        name: value
        for name, value in arguments.items()
        if name not in ("content", "format") and value not in ("", (), {})
    }
    notes: list[str] = []
    made = add_document(workspace, arguments["content"], given, notes=notes)
    document = made.document
    if arguments["format"] == "json":
        if len(document.chunks) > _MOST_IDS:
            notes.append(f"the first {_MOST_IDS} ids of chunks are told; `{document.id}:NUMBER` names any")
        return dump({**ingested_json(made), "chunk_ids": made.chunk_ids[:_MOST_IDS], "notes": notes})
    told = f"{made.status} {document.id}: {count(document.tokens, 'token')}"
    if document.chunks:
        told += f" in {count(len(document.chunks), 'chunk')}, `{document.id}:0` to `:{len(document.chunks) - 1}`"
    return _told(told, notes)


def delete(workspace: Workspace, arguments: Arguments) -> str:
    """Delete records."""
    return "\n".join(_deleted(gone) for gone in delete_records(workspace, arguments["ids"]))


def _deleted(gone: Deleted) -> str:
    if is_note_id(gone.id):
        return f"deleted {gone.id}"
    parts = count(gone.parts, "turn" if is_conversation(gone.id) else "chunk")
    return f"deleted {visible(gone.id)} and {parts}"


class _Kind(NamedTuple):
    """How records of a kind are listed and told."""

    find: Callable[[Workspace, str, int], Sequence[Any]]
    told: Callable[[Any], Block]
    values: Callable[[Any], Mapping[str, Any]]


def list_records(workspace: Workspace, arguments: Arguments) -> str:
    """List what is kept."""
    kind = _KINDS[arguments["kind"]]
    found = kind.find(workspace, arguments["type"], arguments["limit"])
    if arguments["format"] == "json":
        items, omitted = fitting([kind.values(one) for one in found])
        return dump({"kind": arguments["kind"], "items": items, "omitted": omitted})
    notes = [] if found else ["nothing is kept"]
    return render_blocks([kind.told(one) for one in found], "memory", notes, advice="list fewer")


def _find_conversations(workspace: Workspace, type_: str, limit: int) -> list[Conversation]:
    if type_:
        raise UsageError("conversations have no type")
    return list_conversations(workspace, limit)


def _note_block(note: Note) -> Block:
    sure = f" {note.confidence:g}" if note.confidence != 1 else ""
    return Block(f"{note.id} {note.type}{sure} {note.time[:_DAY]}", [_beginning(note.content)])


def _document_block(document: Document) -> Block:
    fields = document.fields
    source = f"{fields.source}:{fields.source_id}" if fields.source_id else fields.source
    day = (fields.time or document.stored)[:_DAY]
    heading = f"{document.id} {fields.type} {visible(source)} {day} {count(document.tokens, 'token')}"
    return Block(heading, [visible(fields.title) or _beginning(document.content)])


def _conversation_block(found: Conversation) -> Block:
    return Block(f"conversation:{visible(found.id)} {count(found.turns, 'turn')} {found.time[:_DAY]}", [])


def _beginning(content: str) -> str:
    """The first line that says something, cut."""
    line = next((line.strip() for line in content.splitlines() if line.strip()), "")
    return visible(line if len(line) <= _COLUMNS else line[: _COLUMNS - 1] + "…")


_COLUMNS: Final = 200
_MOST_IDS: Final = 200
_DAY: Final = len("2026-01-31")
_KINDS: Final = {
    "notes": _Kind(lambda place, type_, limit: list_notes(place, type_=type_, limit=limit), _note_block, note_json),
    "documents": _Kind(
        lambda place, type_, limit: list_documents(place, type_=type_, limit=limit), _document_block, document_json
    ),
    "conversations": _Kind(_find_conversations, _conversation_block, conversation_json),
}


def _told(what: str, notes: Sequence[str]) -> str:
    return "\n".join([what, *(f"note: {visible(note)}" for note in notes)])


CHANGES: Final[Mapping[str, Callable[[Workspace, Arguments], str]]] = {
    "memory_store": store_note,
    "conversation_append": append_conversation,
    "document_ingest": ingest_document,
    "delete": delete,
}
"""By the names of the tools."""
