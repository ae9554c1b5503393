"""Check of what another writer shares, before any of it enters the memory: text of others is data, never trusted."""

from collections.abc import Collection

from gitmem.errors import DamagedFile, UsageError
from gitmem.memory.bounds import check_time
from gitmem.memory.conversation import check_turn, load_turn
from gitmem.memory.document import check_content, check_fields, load_document
from gitmem.memory.note import check_note, load_note
from gitmem.memory.record_store import RecordStore
from gitmem.memory.union import record_path
from gitmem.memory.versions import State
from gitmem.memory.visibility import travels
from gitmem.memory.writer_tree import WriterState
from gitmem.record import Record, format_record
from gitmem.types import NOTE, TURN


def find_foreign_faults(store: RecordStore, known: State, state: WriterState, purged: Collection[str]) -> set[bytes]:
    """Return the paths of new versions that are not records such as gitmem writes, or not meant to be shared.

    Raises: NewerFormat.
    """
    faults = set()
    for path, versions in state.versions.items():
        for name, version in versions.items():
            if version.content is None or version.content in purged or name in known.get(path, {}):
                continue
            try:
                record = store.read_record(version.content, path.decode())
            except DamagedFile:
                faults.add(path)
                continue
            if not travels(record) or not _is_valid(record) or record_path(record) != path:
                faults.add(path)
    return faults


def _is_valid(record: Record) -> bool:
    """Return whether every command can show a record: its fields have the types and bounds of one written here."""
    try:
        if record.kind == NOTE:
            _check_time(check_note(load_note(record)).time)
        elif record.kind == TURN:
            _check_time(check_turn(load_turn(record)).time)
        else:
            document = load_document(record)
            check_fields(document.fields)
            check_content(document.content)
            _check_time(document.stored)
        format_record(record)  # half of a surrogate pair is valid JSON, but cannot be stored
    except (UsageError, DamagedFile, ArithmeticError, AttributeError, KeyError, RecursionError, TypeError, ValueError):
        return False
    return True


def _check_time(value: str) -> None:
    if value:
        check_time("time", value)
