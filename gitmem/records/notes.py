"""Add notes, change them and list them."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from gitmem.display import visible
from gitmem.errors import UsageError
from gitmem.freshness.record_refresh import index_records
from gitmem.memory.bounds import check_choice, check_count, current_time
from gitmem.memory.note import LIST_DEFAULT, MAX_LIST, NOTE_TYPES, Note, check_note, load_note, note_record
from gitmem.memory.record_paths import NOTES, is_note_id, new_note_id, note_path
from gitmem.memory.record_store import Changes, RecordStore, Tip
from gitmem.record import format_record
from gitmem.records.abbreviated_ids import complete_id
from gitmem.records.code_notes import missing_paths
from gitmem.records.filters import RecordFilters
from gitmem.records.listing import newest_records
from gitmem.records.similar_notes import SimilarNote, find_similar
from gitmem.records.unknown_record import unknown_record
from gitmem.secrets.refusal import refuse_secrets
from gitmem.workspace import Workspace


class AddedNote(NamedTuple):
    """Note that was stored, earlier notes with its meaning, and notices for the user."""

    note: Note
    similar: list[SimilarNote]
    notices: list[str]


def add_note(
    workspace: Workspace,
    content: str,
    *,
    type_: str = "fact",
    confidence: float = 1.0,
    conversation: str = "",
    paths: Sequence[str] = (),
    symbols: Sequence[str] = (),
    allow_secrets: bool = False,
) -> AddedNote:
    """Store a note. On return it is durable, and searchable unless a notice says why not.

    Raises: UsageError, GitFailed, StorageFailed.
    """
    about = tuple(paths), tuple(symbols)
    note = check_note(Note(new_note_id(), content, type_, float(confidence), conversation, current_time(), *about))
    if not allow_secrets:
        refuse_secrets(content, "note", (conversation, about))
    path, data = note_path(note.id), format_record(note_record(note))
    with RecordStore(workspace.location) as store:

        def add(tip: Tip) -> Changes:
            # Ids have 48 random bits: among a million notes, a new one collides once in 280 million times.
            if store.find(tip, path):
                raise UsageError(f"the random id `{note.id}` is in use", hint="run the command again")
            return {path: data}

        store.change(f"note {note.id}: add", add)
        # The note is durable. From here on problems are notices: a note may be about a file that is yet to be written.
        missing = missing_paths(workspace, note.paths)
        notices = [f"no such path in this repository: `{visible(path)}`" for path in missing]
        problems, indexed = index_records(workspace)
        similar = find_similar(store, indexed, note.id) if indexed else []
    return AddedNote(note, similar, [*notices, *problems])


def replace_note(
    workspace: Workspace, identity: str, changes: Mapping[str, Any], *, allow_secrets: bool = False
) -> AddedNote:
    """Change fields of a note, or its content, under the same id. Former revisions keep the note as it was.

    `changes` are fields of Note besides its id and time. Raises: UnknownRecord, UsageError, GitFailed, StorageFailed.
    """
    note = Note("", "", "", 0, "", "")
    with RecordStore(workspace.location) as store:
        identity = complete_id(store, store.tip(), identity)

        def replace(tip: Tip) -> Changes:
            nonlocal note
            # Read again at each attempt: another writer may have changed or deleted the note meanwhile.
            record = store.find_record(tip, note_path(identity)) if is_note_id(identity) else None
            if record is None:
                raise unknown_record(identity)
            old = load_note(record)
            note = check_note(old._replace(**changes))
            if not allow_secrets:
                refuse_secrets(note.content, "note", (note.conversation, (note.paths, note.symbols)))
            if note == old:
                return {}
            note = note._replace(time=current_time())
            return {note_path(identity): format_record(note_record(note))}

        store.change(f"note {identity}: change", replace)
        missing = missing_paths(workspace, note.paths)
        notices = [f"no such path in this repository: `{visible(path)}`" for path in missing]
        problems, _ = index_records(workspace)
    return AddedNote(note, [], [*notices, *problems])


def list_notes(workspace: Workspace, *, type_: str = "", limit: int = LIST_DEFAULT) -> list[Note]:
    """Return notes, newest first, of one type or of all. Raises UsageError, DamagedFile."""
    check_count("limit", limit, 1, MAX_LIST)
    if type_:
        check_choice("type", type_, NOTE_TYPES)
    filters = RecordFilters(type=(type_,) if type_ else ())
    return [load_note(record) for record in newest_records(workspace, NOTES, filters, limit)]
