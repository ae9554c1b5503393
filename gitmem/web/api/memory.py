"""Operations on the memory of a repository: notes, documents, conversations, and their former revisions."""

from typing import Any, Final

from gitmem.mcp.tools.descriptions import DOCUMENT_INGEST
from gitmem.mcp.tools.toolsets import max_message_bytes
from gitmem.memory.conversation import MAX_INDEX, MAX_TURN, ROLES
from gitmem.memory.document import DOCUMENT_TYPES, MAX_DOCUMENT, RETENTIONS, SENSITIVITIES
from gitmem.memory.note import LIST_DEFAULT, MAX_CONVERSATION, MAX_LIST, MAX_NOTE, MAX_REFERENCES, NOTE_TYPES
from gitmem.memory.visibility import DEFAULTS, VISIBILITIES
from gitmem.records.conversations import append_turn, list_conversations
from gitmem.records.documents import add_document, list_documents
from gitmem.records.note_review import review_notes
from gitmem.records.note_states import read_states
from gitmem.records.notes import AddedNote, add_note, confirm_notes, expire_notes, list_notes, replace_note
from gitmem.records.record_json import (
    added_document_json,
    conversation_json,
    diff_json,
    document_json,
    log_entry_json,
    note_json,
    note_state_json,
    record_json,
    similar_note_json,
    turn_json,
)
from gitmem.records.revisions import (
    LOG_DEFAULT,
    MAX_DELETE,
    MAX_LOG,
    delete_records,
    read_diff,
    read_log,
    restore_records,
    show_records,
)
from gitmem.resident.call import Call
from gitmem.secrets.masking import mask_value
from gitmem.types import NOTE
from gitmem.web.api.operation import (
    BOOLEAN,
    COUNT,
    GIVEN,
    INTEGER,
    NUMBER,
    TEXT,
    Arguments,
    Operation,
    Schema,
    array,
    choice,
    nullable,
    number,
    record,
    text,
    texts,
)
from gitmem.web.errors import Problem
from gitmem.web.service import Service

_ONE: Final = "/repositories/{repository}"


def notes(service: Service, arguments: Arguments, _call: Call) -> dict[str, Any]:
    """List notes, newest first."""
    workspace = service.workspace(arguments["repository"])
    records = list_notes(workspace, type_=arguments["type"], limit=arguments["limit"])
    states = read_states(workspace, records)
    return {"items": mask_value([note_state_json(*pair) for pair in zip(records, states, strict=True)])}


def stale_notes(service: Service, arguments: Arguments, _call: Call) -> dict[str, Any]:
    """List the notes whose files have changed since, newest first."""
    stale = review_notes(service.workspace(arguments["repository"]), arguments["limit"])
    return {"items": mask_value([note_state_json(*listed) for listed in stale])}


def confirm(service: Service, arguments: Arguments, _call: Call) -> dict[str, Any]:
    """Say that a note is still true."""
    changed, notices = confirm_notes(service.workspace(arguments["repository"]), [arguments["id"]])
    return {"items": mask_value([note_json(note) for note in changed]), "notices": list(notices)}


def expire(service: Service, arguments: Arguments, _call: Call) -> dict[str, Any]:
    """Say from when on a note is not true any more."""
    changed, notices = expire_notes(service.workspace(arguments["repository"]), [arguments["id"]], arguments["at"])
    return {"items": mask_value([note_json(note) for note in changed]), "notices": list(notices)}


def store_note(service: Service, arguments: Arguments, _call: Call) -> dict[str, Any]:
    """Store a note."""
    added = add_note(
        service.workspace(arguments["repository"]),
        arguments["content"],
        type_=arguments["type"],
        confidence=arguments["confidence"],
        conversation=arguments["conversation"],
        paths=arguments["paths"],
        symbols=arguments["symbols"],
        supersedes=arguments["supersedes"],
        expires=arguments["expires"],
        visibility=arguments["visibility"],
        allow_secrets=arguments["allow_secrets"],
    )
    return _added_note(added)


def change_note(service: Service, arguments: Arguments, _call: Call) -> dict[str, Any]:
    """Change the given fields of a note."""
    # An empty list is a value as well: it removes the paths of a note.
    changes = {name: arguments[name] for name in _NOTE_FIELDS if name in arguments[GIVEN]}
    if not changes:
        raise Problem(400, "invalid_argument", "there is nothing to change", hint=f"fields: {', '.join(_NOTE_FIELDS)}")
    changed = replace_note(
        service.workspace(arguments["repository"]), arguments["id"], changes, allow_secrets=arguments["allow_secrets"]
    )
    return _added_note(changed)


def _added_note(added: AddedNote) -> dict[str, Any]:
    similar = [similar_note_json(one) for one in added.similar]
    value: dict[str, Any] = mask_value({**note_json(added.note), "similar": similar, "notices": list(added.notices)})
    return value


def documents(service: Service, arguments: Arguments, _call: Call) -> dict[str, Any]:
    """List documents, the last stored first."""
    workspace = service.workspace(arguments["repository"])
    records = list_documents(workspace, type_=arguments["type"], limit=arguments["limit"])
    return {"items": mask_value([document_json(document) for document in records])}


def store_document(service: Service, arguments: Arguments, _call: Call) -> dict[str, Any]:
    """Store a document, or replace the one from the same source. Fields that are not given stay."""
    # Only the given fields are passed: the defaults of the others must not replace those of a stored document.
    fields = {name: arguments[name] for name in _DOCUMENT_FIELDS if name in arguments[GIVEN]}
    added = add_document(
        service.workspace(arguments["repository"]),
        arguments["content"],
        fields,
        allow_secrets=arguments["allow_secrets"],
    )
    value: dict[str, Any] = mask_value({**added_document_json(added), "notices": list(added.notices)})
    return value


def conversations(service: Service, arguments: Arguments, _call: Call) -> dict[str, Any]:
    """List conversations, the one with the latest turn first."""
    records = list_conversations(service.workspace(arguments["repository"]), arguments["limit"])
    return {"items": mask_value([conversation_json(one) for one in records])}


def store_turn(service: Service, arguments: Arguments, _call: Call) -> dict[str, Any]:
    """Store a turn of a conversation; without a number it is the next one."""
    turn = arguments["turn"]  # below 0 if it is missing
    added = append_turn(
        service.workspace(arguments["repository"]),
        arguments["conversation"],
        arguments["role"],
        arguments["content"],
        None if turn < 0 else turn,
        visibility=arguments["visibility"],
        allow_secrets=arguments["allow_secrets"],
    )
    values = {**turn_json(added.turn), "replaced": added.replaced, "notices": list(added.notices)}
    value: dict[str, Any] = mask_value(values)
    return value


def show(service: Service, arguments: Arguments, _call: Call) -> dict[str, Any]:
    """Return a record, or all turns of a conversation, now or at a former revision."""
    records = show_records(service.workspace(arguments["repository"]), arguments["id"], at=arguments["at"])
    return {"items": mask_value([record_json(one) for one in records])}


def delete(service: Service, arguments: Arguments, _call: Call) -> dict[str, Any]:
    """Delete records, all or none; they can be restored."""
    deleted = delete_records(service.workspace(arguments["repository"]), arguments["id"])
    return {"deleted": [one._asdict() for one in deleted]}


def restore(service: Service, arguments: Arguments, _call: Call) -> dict[str, Any]:
    """Restore a record from a former revision."""
    restored = restore_records(service.workspace(arguments["repository"]), arguments["id"], at=arguments["at"])
    items = [record_json(one) for one in restored.records]
    return {"items": mask_value(items), "notices": list(restored.notices)}


def log(service: Service, arguments: Arguments, _call: Call) -> dict[str, Any]:
    """List the changes of all records, or of one, newest first."""
    records = read_log(service.workspace(arguments["repository"]), name=arguments["id"], limit=arguments["limit"])
    return {"entries": mask_value([log_entry_json(entry) for entry in records])}


def diff(service: Service, arguments: Arguments, _call: Call) -> dict[str, Any]:
    """Return the records that differ between two revisions of the memory."""
    records = read_diff(service.workspace(arguments["repository"]), arguments["old"], arguments["new"])
    return {"records": mask_value([diff_json(one) for one in records])}


_NOTE_FIELDS: Final[dict[str, Schema]] = {
    "content": text("The note.", most=MAX_NOTE, least=1),
    "type": choice("Type of the note.", NOTE_TYPES, "fact"),
    "confidence": {"type": "number", "minimum": 0, "maximum": 1, "default": 1, "description": "How certain it is."},
    "conversation": text("Conversation that it is from.", most=MAX_CONVERSATION),
    "paths": texts("Files and folders that it is about.", most=MAX_REFERENCES),
    "symbols": texts("Symbols that it is about.", most=MAX_REFERENCES),
    "supersedes": texts("Ids of the notes that it replaces.", most=MAX_REFERENCES),
    "expires": text("Date or time from which on it is not true any more.", most=100),
    "visibility": choice("Who may read it; only `team` and `org` are shared.", VISIBILITIES, DEFAULTS[NOTE]),
}
_DOCUMENT_FIELDS: Final[dict[str, Schema]] = {
    "type": choice("Type of the document.", DOCUMENT_TYPES),
    "source": text("Where it comes from.", most=100),
    "source_id": text("Its id there; a document with the same one is replaced.", most=500),
    "title": text("Title.", most=500),
    "author": text("Author.", most=200),
    "participants": texts("Participants."),
    "url": text("Address.", most=2000),
    "time": text("Time of the document itself.", most=100),
    "sensitivity": choice("How sensitive it is.", SENSITIVITIES),
    "visibility": choice("Who may read it.", VISIBILITIES),
    "retention": choice("How long it is kept.", RETENTIONS),
}
_SECRETS: Final = {"allow_secrets": {**BOOLEAN, "description": "Store it although it looks as if it holds a secret."}}
_LIST: Final = number("Number of records.", 1, MAX_LIST, LIST_DEFAULT)
_NOTE: Final = record(
    id=TEXT, content=TEXT, type=TEXT, confidence=NUMBER, conversation=TEXT, time=TEXT, paths=array(TEXT),
    symbols=array(TEXT), supersedes=array(TEXT), expires=TEXT, confirmed=TEXT, visibility=TEXT,
)  # fmt: skip
_STATE: Final = record(
    superseded_by=array(TEXT), expired=BOOLEAN, changed_paths=array(TEXT), missing_paths=array(TEXT),
    commits=nullable(INTEGER), marks=array(TEXT),
)  # fmt: skip
_LISTED_NOTE: Final = {**_NOTE, "properties": {**_NOTE["properties"], "state": _STATE}}
_ADDED_NOTE: Final = {**_NOTE, "properties": {**_NOTE["properties"], "similar": array(_NOTE), "notices": array(TEXT)}}
_DOCUMENT: Final = record(id=TEXT, type=TEXT, source=TEXT, title=TEXT, stored=TEXT, tokens=COUNT, chunks=COUNT)
_RECORD: Final = record(kind=TEXT, id=TEXT, content=TEXT)
_ENTRY: Final = record(
    commit=TEXT, seconds=INTEGER, message=TEXT, added=array(TEXT), changed=array(TEXT), deleted=array(TEXT), more=COUNT
)
_ID: Final = text("Id of a record, or `conversation:NAME`.", most=500, least=1)

OPERATIONS: Final = (
    Operation(
        "GET", f"{_ONE}/notes", "listNotes", "List notes, newest first.", notes, record(items=array(_LISTED_NOTE)),
        query={"type": choice("Only notes of this type.", NOTE_TYPES), "limit": _LIST},
    ),
    Operation(
        "POST", f"{_ONE}/notes", "addNote", "Store a note.", store_note, _ADDED_NOTE,
        body={**_NOTE_FIELDS, **_SECRETS}, required=("content",), status=201,
    ),
    Operation(
        "PATCH", f"{_ONE}/notes", "changeNote", "Change fields of a note; former revisions stay.", change_note,
        _ADDED_NOTE, query={"id": _ID}, required=("id",),
        body={
            **{name: {key: value for key, value in schema.items() if key != "default"}
               for name, schema in _NOTE_FIELDS.items()},
            **_SECRETS,
        },
    ),
    Operation(
        "GET", f"{_ONE}/notes/stale", "listStaleNotes", "List the notes whose files have changed since, newest first.",
        stale_notes, record(items=array(_LISTED_NOTE)), query={"limit": _LIST},
    ),
    Operation(
        "POST", f"{_ONE}/notes/confirm", "confirmNote", "Say that a note is still true.", confirm,
        record(items=array(_NOTE), notices=array(TEXT)), body={"id": _ID}, required=("id",),
    ),
    Operation(
        "POST", f"{_ONE}/notes/expire", "expireNote", "Say from when on a note is not true any more.", expire,
        record(items=array(_NOTE), notices=array(TEXT)), required=("id",),
        body={"id": _ID, "at": text("Date or time; empty is now.", most=100)},
    ),
    Operation(
        "GET", f"{_ONE}/documents", "listDocuments", "List documents, the last stored first.", documents,
        record(items=array(_DOCUMENT)),
        query={"type": choice("Only documents of this type.", DOCUMENT_TYPES), "limit": _LIST},
    ),
    Operation(
        "POST", f"{_ONE}/documents", "addDocument", "Store a document, or replace the one from the same source.",
        store_document, _DOCUMENT,
        body={"content": text("The document.", most=MAX_DOCUMENT, least=1), **_DOCUMENT_FIELDS, **_SECRETS},
        required=("content",), status=201, max_body=max_message_bytes({DOCUMENT_INGEST.name: DOCUMENT_INGEST}),
    ),
    Operation(
        "GET", f"{_ONE}/conversations", "listConversations", "List conversations, the latest first.", conversations,
        record(items=array(record(id=TEXT, turns=COUNT, time=TEXT, title=TEXT, visibility=TEXT))),
        query={"limit": _LIST},
    ),
    Operation(
        "POST", f"{_ONE}/conversations", "appendTurn", "Store a turn of a conversation.", store_turn,
        record(conversation=TEXT, turn=COUNT, role=TEXT, content=TEXT, time=TEXT, visibility=TEXT, shared_by=TEXT),
        body={
            "conversation": text("Name of the conversation.", most=MAX_CONVERSATION, least=1),
            "role": {**choice("Who speaks.", ROLES, "user")},
            "content": text("The turn.", most=MAX_TURN, least=1),
            "turn": {"type": "integer", "minimum": 0, "maximum": MAX_INDEX, "description": "Number of the turn."},
            "visibility": choice("Who may read the conversation; by default as before, at first `me`.", VISIBILITIES),
            **_SECRETS,
        },
        required=("conversation", "content"), status=201,
    ),
    Operation(
        "GET", f"{_ONE}/records", "showRecord", "Show a record, now or at a former revision.", show,
        record(items=array(_RECORD)), query={"id": _ID, "at": text("Former revision of the memory.")}, required=("id",),
    ),
    Operation(
        "DELETE", f"{_ONE}/records", "deleteRecords", "Delete records, all or none; they can be restored.", delete,
        record(deleted=array(record(id=TEXT, parts=COUNT))),
        query={"id": {**texts("Ids of records.", most=MAX_DELETE), "minItems": 1}}, required=("id",),
    ),
    Operation(
        "POST", f"{_ONE}/records/restore", "restoreRecord", "Restore a record from a former revision.", restore,
        record(items=array(_RECORD), notices=array(TEXT)),
        body={"id": _ID, "at": text("Revision to restore; empty is the latest that differs.")}, required=("id",),
    ),
    Operation(
        "GET", f"{_ONE}/records/log", "logRecords", "List the changes of all records, or of one, newest first.", log,
        record(entries=array(_ENTRY)),
        query={"id": text("Id of a record; empty is all.", most=500),
               "limit": number("Number of changes.", 1, MAX_LOG, LOG_DEFAULT)},
    ),
    Operation(
        "GET", f"{_ONE}/records/diff", "diffRecords", "Show the records that differ between two revisions.", diff,
        record(records=array(record(id=TEXT, before=nullable(_RECORD), after=nullable(_RECORD)))),
        query={"old": text("Older revision; empty is the parent of the newer."),
               "new": text("Newer revision; empty is the present.")},
    ),
)  # fmt: skip
"""Operations of this module."""
