"""Add notes and list them."""

from collections.abc import Sequence
from typing import NamedTuple

from gitmem.display import visible
from gitmem.errors import UsageError
from gitmem.freshness.record_refresh import index_records
from gitmem.memory.bounds import check_choice, check_count, current_time
from gitmem.memory.note import LIST_DEFAULT, MAX_LIST, NOTE_TYPES, Note, check_note, load_note, note_record
from gitmem.memory.record_paths import NOTES, new_note_id, note_path
from gitmem.memory.record_store import Changes, RecordStore, Tip
from gitmem.record import format_record
from gitmem.records.code_notes import missing_paths
from gitmem.records.filters import RecordFilters
from gitmem.records.listing import newest_records
from gitmem.records.similar_notes import SimilarNote, find_similar
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


def list_notes(workspace: Workspace, *, type_: str = "", limit: int = LIST_DEFAULT) -> list[Note]:
    """Return notes, newest first, of one type or of all. Raises UsageError, DamagedFile."""
    check_count("limit", limit, 1, MAX_LIST)
    if type_:
        check_choice("type", type_, NOTE_TYPES)
    filters = RecordFilters(type=(type_,) if type_ else ())
    return [load_note(record) for record in newest_records(workspace, NOTES, filters, limit)]
