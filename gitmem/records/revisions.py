"""Records of every kind by their id: show, delete, history, difference, restore."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from gitmem.errors import UnknownRecord, UsageError
from gitmem.freshness.record_refresh import index_records
from gitmem.git.object_format import make_object
from gitmem.git.ref_log import PathChange, StoredCommit, find_commit, read_ref_log
from gitmem.git.trees import diff_trees
from gitmem.memory.bounds import check_count
from gitmem.memory.document import load_document
from gitmem.memory.record_paths import CONVERSATION_PREFIX, REFERENCE, is_conversation, parse_id
from gitmem.memory.record_store import Changes, RecordStore, Tip
from gitmem.record import Record
from gitmem.types import DOCUMENT, TURN
from gitmem.workspace import Workspace

LOG_DEFAULT = 20
LOG_MOST = 1000
DELETE_MOST = 100


class Deleted(NamedTuple):
    """A record, or a conversation, that is gone; `parts` are its chunks or turns."""

    id: str
    parts: int


class Change(NamedTuple):
    """A record that differs between two states; None where it was not there."""

    id: str
    before: Record | None
    after: Record | None


class Step(NamedTuple):
    """A commit of the memory with what it changed. `more` records are not named."""

    commit: str
    seconds: int
    message: str
    added: tuple[str, ...]
    changed: tuple[str, ...]
    deleted: tuple[str, ...]
    more: int


def name_of(record: Record) -> str:
    """The id a person can ask for a record with."""
    return CONVERSATION_PREFIX + record.id if record.kind == TURN else record.id


def show_records(workspace: Workspace, name: str, *, at: str = "") -> list[Record]:
    """The record of an id, or all turns of a conversation, now or at a former state.

    Raises: UnknownRecord, UnknownRevision, UsageError, DamagedFile.
    """
    place = parse_id(name)
    with RecordStore(workspace.location) as store:
        tip = store.at(find_commit(workspace.location, REFERENCE, at)) if at else store.tip()
        return _records_at(store, tip, name, place, at)


def _records_at(store: RecordStore, tip: Tip, name: str, place: bytes, at: str = "") -> list[Record]:
    if is_conversation(name):
        found = list(store.read_records(store.entries(tip, place)))
    else:
        record = store.find_record(tip, place)
        found = [record] if record else []
    if not found:
        told = f"there was no record `{name}` at `{at}`" if at else f"there is no record `{name}`"
        raise UnknownRecord(told, hint=f"gitmem memory log {name}")
    return found


def delete_records(workspace: Workspace, names: Sequence[str]) -> list[Deleted]:
    """Take records out, all of them or none; the history keeps them. Raises UnknownRecord, UsageError, GitFailed."""
    if not 1 <= len(names) <= DELETE_MOST:
        raise UsageError(f"there are {len(names)} ids, it must be 1 to {DELETE_MOST}")
    places = {name: parse_id(name) for name in names}
    deleted: list[Deleted] = []
    with RecordStore(workspace.location) as store:

        def delete(tip: Tip) -> Changes:
            deleted[:] = [_deleted(name, _records_at(store, tip, name, place)) for name, place in places.items()]
            return dict.fromkeys(places.values())

        store.change(f"delete: {len(places)}", delete)
    return deleted


def _deleted(name: str, records: Sequence[Record]) -> Deleted:
    if is_conversation(name):
        return Deleted(name, len(records))
    return Deleted(name, len(load_document(records[0]).chunks) if records[0].kind == DOCUMENT else 0)


def read_log(workspace: Workspace, *, name: str = "", limit: int = LOG_DEFAULT, names: int = 5) -> list[Step]:
    """What happened to the memory, or to one record, the newest first; each step tells at most `names` ids of a kind.

    Raises: UsageError, GitFailed.
    """
    check_count("limit", limit, 1, LOG_MOST)
    place = parse_id(name) if name else b""
    with RecordStore(workspace.location) as store:
        tip = store.tip()
        if tip.commit is None:
            return []
        commits = read_ref_log(workspace.location, tip.commit, limit, place)
        return [_step(store, commit, place, names) for commit in commits]


def _step(store: RecordStore, commit: StoredCommit, place: bytes, names: int) -> Step:
    told = [change for change in commit.changes if change.path.startswith(place)]
    kinds: dict[str, list[PathChange]] = {"added": [], "changed": [], "deleted": []}
    for change in told:
        kinds["added" if not change.before else "changed" if change.after else "deleted"].append(change)
    shown = {kind: tuple(_name(store, change) for change in changes[:names]) for kind, changes in kinds.items()}
    more = len(told) - sum(map(len, shown.values()))
    return Step(commit.oid, commit.seconds, commit.subject, **shown, more=more)


def _name(store: RecordStore, change: PathChange) -> str:
    """The id of a changed record. A turn's path does not tell its conversation, so the record is asked."""
    last = change.path.rpartition(b"/")[2].decode("utf-8", "replace")
    oid = change.after or change.before
    if not last.isdigit() or oid is None:
        return last
    record = store.read_record(oid, last)
    return f"{name_of(record)} {int(last)}"


def read_difference(workspace: Workspace, old: str = "", new: str = "") -> list[Change]:
    """The records that differ between two states of the memory; an empty `new` is now, an empty `old` the one before.

    Raises: UnknownRevision, DamagedFile, GitFailed.
    """
    with RecordStore(workspace.location) as store:
        after = store.at(find_commit(workspace.location, REFERENCE, new)) if new else store.tip()
        before = store.at(find_commit(workspace.location, REFERENCE, old)) if old else store.parent(after)
        empty = make_object("tree", b"", workspace.location.object_format).oid
        changes = diff_trees(workspace.location, before.tree or empty, after.tree or empty)
        return [_change(store, before, after, change.path) for change in changes]


def _change(store: RecordStore, before: Tip, after: Tip, path: bytes) -> Change:
    old, new = store.find_record(before, path), store.find_record(after, path)
    told = new or old
    assert told is not None, "a path that differs is in one of the trees"
    last = f" {told.fields.get('turn')}" if told.kind == TURN else ""
    return Change(name_of(told) + last, old, new)


def restore_records(workspace: Workspace, name: str, *, at: str = "", notes: list[str] | None = None) -> list[Record]:
    """Put a record back as it was at a former state, by default the last one in which it was there and different.

    Raises: UnknownRecord, UnknownRevision, UsageError, GitFailed.
    """
    place = parse_id(name)
    with RecordStore(workspace.location) as store:
        past = store.at(find_commit(workspace.location, REFERENCE, at)) if at else _past(store, workspace, name)
        records = _records_at(store, past, name, place, at)
        blobs = {entry.path: store.read_blob(entry.oid) for entry in store.entries_at(past, place)}

        def restore(tip: Tip) -> Changes:
            gone = {entry.path: None for entry in store.entries_at(tip, place)}
            return {**gone, **blobs}

        store.change(f"restore: {name if not is_conversation(name) else 'conversation'}", restore)
    index_records(workspace, notes)
    return records


def _past(store: RecordStore, workspace: Workspace, name: str) -> Tip:
    """The last state in which a record was there and was not what it is now."""
    tip, place = store.tip(), parse_id(name)
    present = store.entries_at(tip, place)
    commits: list[StoredCommit] = []
    for most in (_FEW, _ALL):
        commits = read_ref_log(workspace.location, tip.commit, most, place) if tip.commit else []
        for commit in commits:
            past = store.at(commit.oid)
            if store.entries_at(past, place) not in ([], present):
                return past
        if len(commits) < most:
            break
    if not commits:
        raise UnknownRecord(f"the memory's history does not know `{name}`", hint="gitmem memory log")
    raise UnknownRecord(f"the memory's history has no other state of `{name}`", hint=f"gitmem memory log {name}")


_FEW: Final = 10
"""Nearly always the state that is looked for is among the latest few of a record."""

_ALL: Final = (1 << 31) - 1
"""More than git counts to."""
