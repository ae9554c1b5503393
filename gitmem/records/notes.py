"""Add notes, change them and list them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gitmem.display import visible
from gitmem.errors import UsageError
from gitmem.freshness.record_refresh import Indexed, index_records
from gitmem.memory.bounds import check_choice, check_count, check_time, current_time
from gitmem.memory.note import LIST_DEFAULT, MAX_LIST, NOTE_TYPES, Note, check_note, load_note, note_record
from gitmem.memory.record_paths import NOTES, is_note_id, new_note_id, note_path
from gitmem.memory.record_store import Changes, RecordStore, Tip
from gitmem.memory.union import VARIANT_OF
from gitmem.memory.visibility import DEFAULTS
from gitmem.named_tuple import NamedTuple
from gitmem.record import Record, format_record
from gitmem.records.abbreviated_ids import complete_id
from gitmem.records.code_notes import missing_paths
from gitmem.records.filters import RecordFilters
from gitmem.records.listing import newest_records
from gitmem.records.note_states import is_expired
from gitmem.records.similar_notes import SimilarNote, find_similar
from gitmem.records.unknown_record import unknown_record
from gitmem.records.written_about import read_written_about
from gitmem.secrets.refusal import refuse_secrets
from gitmem.types import NOTE
from gitmem.workspace import Workspace


class AddedNote(NamedTuple):
    """Note that was stored, earlier notes with its meaning, and notices for the user.

    `confirmed` says that an existing note was stored again without a change.
    """

    note: Note
    similar: list[SimilarNote]
    notices: list[str]
    confirmed: bool = False


def add_note(
    workspace: Workspace,
    content: str,
    *,
    type_: str = "fact",
    confidence: float = 1.0,
    conversation: str = "",
    paths: Sequence[str] = (),
    symbols: Sequence[str] = (),
    supersedes: Sequence[str] = (),
    expires: str = "",
    visibility: str = DEFAULTS[NOTE],
    allow_secrets: bool = False,
) -> AddedNote:
    """Store a note. On return it is durable, and searchable unless a notice says why not.

    Raises: UsageError, UnknownRecord, GitFailed, StorageFailed.
    """
    about = tuple(paths), tuple(symbols)
    note = check_note(
        Note(
            new_note_id(),
            content,
            type_,
            float(confidence),
            conversation,
            current_time(),
            *about,
            expires=expires,
            visibility=visibility,
        )
    )
    if not allow_secrets:
        refuse_secrets(content, "note", (conversation, about))
    note = _with_blobs(workspace, note)
    path = note_path(note.id)
    with RecordStore(workspace.location) as store:

        def add(tip: Tip) -> Changes:
            nonlocal note
            # Ids have 48 random bits: among a million notes, a new one collides once in 280 million times.
            if store.find(tip, path):
                raise UsageError(f"the random id `{note.id}` is in use", hint="run the command again")
            note = check_note(note._replace(supersedes=_complete_notes(store, tip, supersedes)))
            return {path: format_record(note_record(note))}

        store.change(f"note {note.id}: add", add)
        # The note is durable. From here on problems are notices: a note may be about a file that is yet to be written.
        notices, indexed = _index_note(workspace, note)
        similar = find_similar(store, indexed, note) if indexed else []
    return AddedNote(note, similar, notices)


def replace_note(
    workspace: Workspace, identity: str, changes: Mapping[str, Any], *, allow_secrets: bool = False
) -> AddedNote:
    """Change fields of a note, or its content, under the same id. Former revisions keep the note as it was.

    `changes` are fields of Note besides its id and time. Who changes a note has read it, so from now on it is about the
    present files; if nothing changes, it is confirmed. Raises: UnknownRecord, UsageError, GitFailed, StorageFailed.
    """

    confirmed = False

    def replace(store: RecordStore, tip: Tip, old: Note) -> Note:
        nonlocal confirmed
        named = changes.get("supersedes")
        links = {} if named is None else {"supersedes": _complete_notes(store, tip, named)}
        note = check_note(old._replace(**{**changes, **links}))
        if not allow_secrets:
            refuse_secrets(note.content, "note", (note.conversation, (note.paths, note.symbols)))
        now, confirmed = current_time(), note == old
        return _with_blobs(workspace, note._replace(confirmed=now) if confirmed else note._replace(time=now))

    [note], problems = _change_notes(workspace, [identity], "change", replace)
    return AddedNote(note, [], [*_missing_path_notices(workspace, note), *problems], confirmed)


def confirm_notes(workspace: Workspace, identities: Sequence[str]) -> tuple[list[Note], list[str]]:
    """Say that notes are still true: they are about the present files, and do not expire if they had. All or none.

    Return them, and notices for the user. Raises: as `replace_note`.
    """
    now = current_time()

    def confirm(_store: RecordStore, _tip: Tip, note: Note) -> Note:
        expires = "" if is_expired(note.expires, now) else note.expires
        return _with_blobs(workspace, note._replace(confirmed=now, expires=expires))

    return _change_notes(workspace, identities, "confirm", confirm)


def expire_notes(workspace: Workspace, identities: Sequence[str], at: str = "") -> tuple[list[Note], list[str]]:
    """Say from when on notes are not true any more, by default now. All or none.

    Return them, and notices for the user. Raises: as `replace_note`.
    """
    moment = check_time("time", at) if at else current_time()
    return _change_notes(workspace, identities, "expire", lambda _store, _tip, note: note._replace(expires=moment))


def _change_notes(
    workspace: Workspace,
    identities: Sequence[str],
    action: str,
    edit: Callable[[RecordStore, Tip, Note], Note],
) -> tuple[list[Note], list[str]]:
    """Change notes in one commit; return them, and notices for the user."""
    if not 1 <= len(identities) <= MAX_LIST:
        raise UsageError(f"there are {len(identities)} notes to change, it must be 1 to {MAX_LIST}")
    notes: list[Note] = []
    with RecordStore(workspace.location) as store:
        names = [complete_id(store, store.tip(), identity) for identity in identities]

        def change(tip: Tip) -> Changes:
            nonlocal notes
            # Read again at each attempt: another writer may have changed or deleted a note meanwhile.
            records = [_find_note(store, tip, name) for name in names]
            notes = [edit(store, tip, load_note(record)) for record in records]
            return {
                note_path(note.id): format_record(_keep_unknown(record, note_record(note)))
                for record, note in zip(records, notes, strict=True)
            }

        store.change(f"note {' '.join(names)}: {action}", change)
    return notes, index_records(workspace)[0]


def _find_note(store: RecordStore, tip: Tip, name: str) -> Record:
    record = store.find_record(tip, note_path(name)) if is_note_id(name) else None
    if record is None:
        raise unknown_record(name)
    return record


def _keep_unknown(old: Record, new: Record) -> Record:
    """Return a changed record with the fields that only a newer gitmem knows."""
    known = {*Note._fields, VARIANT_OF}
    return new._replace(fields={**{name: old.fields[name] for name in old.fields if name not in known}, **new.fields})


def _complete_notes(store: RecordStore, tip: Tip, names: Sequence[str]) -> tuple[str, ...]:
    """Return the ids of the notes that a new one supersedes; ids may be abbreviated. Raises UnknownRecord."""
    return tuple(_find_note(store, tip, complete_id(store, tip, name)).id for name in names)


def _with_blobs(workspace: Workspace, note: Note) -> Note:
    """Return a note that is about the present files."""
    blobs = read_written_about(workspace, note.paths, note.symbols)
    return note._replace(blobs=blobs, commit=(workspace.location.head_commit or "") if blobs else "")


def _index_note(workspace: Workspace, note: Note) -> tuple[list[str], Indexed | None]:
    problems, indexed = index_records(workspace)
    return [*_missing_path_notices(workspace, note), *problems], indexed


def _missing_path_notices(workspace: Workspace, note: Note) -> list[str]:
    missing = missing_paths(workspace, note.paths)
    return [f"no such path in this repository: `{visible(path)}`" for path in missing]


def list_notes(workspace: Workspace, *, type_: str = "", limit: int = LIST_DEFAULT) -> list[Note]:
    """Return notes, newest first, of one type or of all. Raises UsageError, DamagedFile."""
    check_count("limit", limit, 1, MAX_LIST)
    if type_:
        check_choice("type", type_, NOTE_TYPES)
    filters = RecordFilters(type=(type_,) if type_ else ())
    return [load_note(record) for record in newest_records(workspace, NOTES, filters, limit)]
