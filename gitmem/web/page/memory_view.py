"""Pages of the memory: the records of a repository, and one record with its history."""

from datetime import UTC, datetime
from difflib import unified_diff
from typing import Any, Final

from gitmem.display import first_line, visible_code
from gitmem.errors import GitmemError, UnknownRecord
from gitmem.memory.conversation import ROLES, load_turn
from gitmem.memory.document import DOCUMENT_TYPES
from gitmem.memory.note import MAX_LIST, NOTE_TYPES, load_note
from gitmem.memory.record_paths import is_note_id
from gitmem.record import Record
from gitmem.records.note_states import describe_state, read_state
from gitmem.records.record_json import turn_json
from gitmem.records.revisions import LogEntry, read_log, show_records
from gitmem.registry import read_registry
from gitmem.resident.call import Call
from gitmem.secrets.masking import mask_text, mask_value
from gitmem.types import DOCUMENT, NOTE, TURN
from gitmem.web.api import memory, reports
from gitmem.web.api.operation import Handler
from gitmem.web.page.search_view import results
from gitmem.web.page.view import Page, Query, first
from gitmem.web.service import Service
from gitmem.workspace import Workspace

KINDS: Final = ("notes", "documents", "conversations", "review", "history", "searches", "reports")
_STORED: Final = ("notes", "documents", "conversations")
_LOG: Final = 50
_MAX_DIFF: Final = 400
"""Lines of one difference on the page."""


def memory_page(service: Service, query: Query, call: Call) -> Page:
    """Show the records of a kind, or those that a search finds."""
    names = [one.name for one in read_registry(service.environment)]
    name = first(query, "repository") or (names[0] if names else "")
    kind = first(query, "kind", KINDS[0])
    kind = kind if kind in KINDS else KINDS[0]
    values: dict[str, Any] = {
        "repositories": names,
        "repository": name,
        "kind": kind,
        "kinds": KINDS,
        "searched": kind if kind in _STORED else KINDS[0],
        "note_types": NOTE_TYPES,
        "document_types": DOCUMENT_TYPES,
        "roles": ROLES,
        "query": first(query, "query"),
        "adds": bool(first(query, "add")),
        "path": first(query, "path"),
        "supersedes": first(query, "supersedes"),
        "items": [],
        "entries": [],
        "hits": None,
        "problem": None,
        "keep": None,
    }
    if name:
        values |= _records(service, query, call, name, kind)
    return Page("memory", values)


def _records(service: Service, query: Query, call: Call, name: str, kind: str) -> dict[str, Any]:
    if kind == "history":
        entries = read_log(service.workspace(name), limit=_LOG)
        return {"entries": [_entry(entry) for entry in entries]}
    if first(query, "query").strip() and kind in _STORED:
        values = {"query": query["query"], "repository": [name], "kind": [kind], "limit": ["50"]}
        return {**results(service, values, call), "keep": None}
    listing = _LISTS[kind](service, {"repository": name, "type": "", "folder": "", "limit": MAX_LIST}, call)
    return {"items": [{**item, "first_line": first_line(item.get("content", ""))} for item in listing["items"]]}


_LISTS: Final[dict[str, Handler]] = {
    "notes": memory.notes,
    "documents": memory.documents,
    "conversations": memory.conversations,
    "review": memory.stale_notes,
    "searches": reports.sessions,
    "reports": reports.reports,
}
"""Operation that lists each kind."""


def _entry(entry: LogEntry) -> dict[str, Any]:
    time = datetime.fromtimestamp(entry.seconds, UTC).strftime("%Y-%m-%d %H:%M")
    groups = [(sign, list(getattr(entry, sign))) for sign in ("added", "changed", "deleted")]
    return {"commit": entry.commit, "time": time, "message": mask_text(entry.message), "groups": groups}


def record_page(service: Service, query: Query, _call: Call) -> Page:
    """Show a record, or a conversation, with its former revisions."""
    name, identity = first(query, "repository"), first(query, "id")
    workspace = service.workspace(name)
    at = first(query, "at")
    try:
        records = show_records(workspace, identity, at=at)
    except UnknownRecord:
        # A deleted record has a history, from which it can be restored; one that never existed has none.
        read_log(workspace, name=identity, limit=1)
        records = []
    values_of = [_show(record.named_fields, record.id, record.kind, record.text) for record in records]
    # A former revision is compared with nothing: only the present note is doubtful or not.
    doubts = [read_state(workspace, load_note(one)) for one in records if one.kind == NOTE and not at]
    values: dict[str, Any] = {
        "repository": name,
        "id": identity,
        "at": at,
        "records": mask_value(values_of),
        "is_note": is_note_id(identity),
        "marks": mask_value([mark for state in doubts for mark in describe_state(state)]),
        "superseded_by": [name for state in doubts for name in state.superseded_by],
        "note_types": NOTE_TYPES,
        "roles": ROLES,
        "document": mask_value(_document_fields(records[0])) if records and records[0].kind == DOCUMENT else None,
        "turns": mask_value([turn_json(load_turn(one)) for one in records if one.kind == TURN]),
        **_history(workspace, identity),
    }
    return Page("record", values)


def _document_fields(record: Record) -> dict[str, str]:
    """Return the values of the form that edits a document: the same source replaces it."""
    fields = {name: str(record.named_fields.get(name, "")) for name in ("source", "source_id", "title")}
    return {**fields, "content": record.text}


def _show(fields: dict[str, Any], identity: str, kind: str, text: str) -> dict[str, Any]:
    hidden = ("chunks", "tokenizer", "blobs", "commit")
    visible_fields = {name: value for name, value in fields.items() if name not in hidden and value not in ("", [], {})}
    return {"id": identity, "kind": kind, "fields": visible_fields, "content": text}


def _history(workspace: Workspace, identity: str) -> dict[str, Any]:
    """Return the revisions of a record, newest first, each with the lines that differ from the one before.

    If they cannot be read, the reason is returned instead: the record itself is shown nevertheless.
    """
    try:
        entries = read_log(workspace, name=identity, limit=_LOG)
        # Each revision is read once, and compared with the one before it.
        texts = [_text_at(workspace, identity, entry.commit) for entry in entries]
    except GitmemError as problem:
        return {"history": [], "history_problem": mask_text(problem.message)}
    history = []
    for place, entry in enumerate(entries):
        older = texts[place + 1] if place + 1 < len(texts) else ""
        # The first two lines of a difference are the names of the files.
        lines = list(unified_diff(older.splitlines(), texts[place].splitlines(), lineterm="", n=2))[2:]
        history.append({**_entry(entry), "diff": [visible_code(mask_text(line)) for line in lines[:_MAX_DIFF]]})
    return {"history": history, "history_problem": ""}


def _text_at(workspace: Workspace, identity: str, commit: str) -> str:
    """Return the text of a record at a revision of the memory, empty if it did not exist."""
    try:
        records = show_records(workspace, identity, at=commit)
    except UnknownRecord:
        return ""
    return "\n".join(record.text for record in records)
