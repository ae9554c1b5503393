"""Show and delete records of every kind by id, and read, compare and restore former revisions of the memory."""

from collections.abc import Sequence
from typing import Final

from gitmem.errors import UnknownRecord, UsageError
from gitmem.freshness.record_refresh import index_records
from gitmem.git.object_format import make_object
from gitmem.git.ref_log import ALL_COMMITS, PathChange, StoredCommit, find_commit, read_ref_log
from gitmem.git.trees import diff_trees
from gitmem.memory.bounds import check_count
from gitmem.memory.document import load_document
from gitmem.memory.record_paths import CONVERSATION_PREFIX, REFERENCE, is_conversation, parse_id
from gitmem.memory.record_store import Changes, RecordStore, Tip
from gitmem.named_tuple import NamedTuple
from gitmem.record import Record
from gitmem.records.abbreviated_ids import complete_former_id, complete_id, complete_name
from gitmem.records.documents import find_named_document
from gitmem.records.unknown_record import unknown_record
from gitmem.types import DOCUMENT, TURN
from gitmem.workspace import Workspace

LOG_DEFAULT: Final = 20
MAX_LOG: Final = 1000
MAX_DELETE: Final = 100


class DeletedRecord(NamedTuple):
    """Deleted record or conversation, and the number of its chunks or turns."""

    id: str
    parts: int


class RecordDiff(NamedTuple):
    """Record that differs between two revisions; None on the side that lacks it."""

    id: str
    before: Record | None
    after: Record | None


class LogEntry(NamedTuple):
    """Commit of the memory with the ids it added, changed and deleted. `more` changed records are not listed."""

    commit: str
    seconds: int
    message: str
    added: tuple[str, ...]
    changed: tuple[str, ...]
    deleted: tuple[str, ...]
    more: int


class RestoredRecords(NamedTuple):
    """Records as restored, and notices for the user."""

    records: list[Record]
    notices: list[str]


def record_name(record: Record) -> str:
    """Return the id by which users name a record; of a turn, that of its conversation."""
    return CONVERSATION_PREFIX + record.id if record.kind == TURN else record.id


def show_records(workspace: Workspace, name: str, *, at: str = "") -> list[Record]:
    """Return the record of an id, or all turns of a conversation, now or at a former revision.

    Raises: UnknownRecord, UnknownRevision, UsageError, DamagedFile.
    """
    with RecordStore(workspace.location) as store:
        tip = store.at(find_commit(workspace.location, REFERENCE, at)) if at else store.tip()
        name = complete_name(store, tip, name)
        return _read_records(store, tip, name, parse_id(name), at)


def _read_records(store: RecordStore, tip: Tip, name: str, path: bytes, at: str = "") -> list[Record]:
    """Return the record at a path, or the turns of a conversation. Raises UnknownRecord if there is none."""
    if is_conversation(name):
        records = list(store.read_records(store.entries(tip, path)))
    else:
        record = store.find_record(tip, path)
        records = [record] if record else []
    if not records:
        raise unknown_record(name, at=at)
    return records


def delete_records(workspace: Workspace, names: Sequence[str]) -> list[DeletedRecord]:
    """Delete records, all or none, by their ids or the source ids of documents. Former revisions keep them.

    Raises UnknownRecord, UsageError, GitFailed.
    """
    if not 1 <= len(names) <= MAX_DELETE:
        raise UsageError(f"there are {len(names)} ids, it must be 1 to {MAX_DELETE}")
    deleted: list[DeletedRecord] = []
    with RecordStore(workspace.location) as store:
        tip = store.tip()
        paths = {name: parse_id(name) for name in (_find_id(store, tip, name) for name in names)}

        def delete(tip: Tip) -> Changes:
            # All records are read before any is deleted, so an unknown id deletes nothing.
            deleted[:] = [_count_parts(name, _read_records(store, tip, name, path)) for name, path in paths.items()]
            return dict.fromkeys(paths.values())

        store.change(f"delete: {len(paths)}", delete)
    return deleted


def _find_id(store: RecordStore, tip: Tip, name: str) -> str:
    """Return the id of a record, which a document's source id names too. Ids come first. Raises: as `complete_id`."""
    try:
        return complete_id(store, tip, name)
    except (UnknownRecord, UsageError):
        identity = find_named_document(store, tip, name)
        if not identity:
            raise
        return identity


def _count_parts(name: str, records: Sequence[Record]) -> DeletedRecord:
    if is_conversation(name):
        return DeletedRecord(name, len(records))
    return DeletedRecord(name, len(load_document(records[0]).chunks) if records[0].kind == DOCUMENT else 0)


def read_log(workspace: Workspace, *, name: str = "", limit: int = LOG_DEFAULT, max_ids: int = 5) -> list[LogEntry]:
    """Return the changes of the memory, or of one record, newest first.

    Each entry has at most `max_ids` added, changed and deleted ids. Raises UnknownRecord, UsageError, GitFailed.
    """
    check_count("limit", limit, 1, MAX_LOG)
    with RecordStore(workspace.location) as store:
        tip = store.tip()
        path = parse_id(complete_former_id(workspace.location, store, tip, name)) if name else b""
        commits = read_ref_log(workspace.location, tip.commit, limit, path) if tip.commit else []
        if name and not commits:
            raise unknown_record(name, hint="gitmem memory log")
        return [_log_entry(store, commit, path, max_ids) for commit in commits]


def _log_entry(store: RecordStore, commit: StoredCommit, path: bytes, max_ids: int) -> LogEntry:
    # A commit of an import or a purge changes other records too.
    changes = [change for change in commit.changes if change.path.startswith(path)]
    groups: dict[str, list[PathChange]] = {"added": [], "changed": [], "deleted": []}
    for change in changes:
        groups["added" if not change.before else "changed" if change.after else "deleted"].append(change)
    ids = {group: tuple(_change_name(store, change) for change in part[:max_ids]) for group, part in groups.items()}
    more = len(changes) - sum(map(len, ids.values()))
    return LogEntry(commit.oid, commit.seconds, commit.subject, **ids, more=more)


def _change_name(store: RecordStore, change: PathChange) -> str:
    """Return the id of a changed record; of a turn, the id of its conversation and its number."""
    last = change.path.rpartition(b"/")[2].decode("utf-8", "replace")
    oid = change.after or change.before
    if not last.isdigit() or oid is None:
        return last
    # The path of a turn has only a hash of the conversation, so its name is read from the record.
    record = store.read_record(oid, last)
    return f"{record_name(record)} {int(last)}"


def read_diff(workspace: Workspace, old: str = "", new: str = "") -> list[RecordDiff]:
    """Return the records that differ between two revisions.

    An empty `new` is the current revision, an empty `old` the parent of `new`. Raises UnknownRevision, DamagedFile,
    GitFailed.
    """
    with RecordStore(workspace.location) as store:
        after = store.at(find_commit(workspace.location, REFERENCE, new)) if new else store.tip()
        before = store.at(find_commit(workspace.location, REFERENCE, old)) if old else store.parent(after)
        # Before the first record there is no tree to compare with, but git knows the empty tree by its id.
        empty = make_object("tree", b"", workspace.location.object_format).oid
        changes = diff_trees(workspace.location, before.tree or empty, after.tree or empty)
        return [_read_diff(store, before, after, change.path) for change in changes]


def _read_diff(store: RecordStore, before: Tip, after: Tip, path: bytes) -> RecordDiff:
    old, new = store.find_record(before, path), store.find_record(after, path)
    record = new or old
    assert record is not None, "a path that differs is in one of the trees"
    turn = f" {record.fields.get('turn')}" if record.kind == TURN else ""
    return RecordDiff(record_name(record) + turn, old, new)


def restore_records(workspace: Workspace, name: str, *, at: str = "") -> RestoredRecords:
    """Restore a record from a revision, by default from the latest one in which it exists and differs from now.

    Raises: UnknownRecord, UnknownRevision, UsageError, GitFailed.
    """
    with RecordStore(workspace.location) as store:
        name = complete_former_id(workspace.location, store, store.tip(), name)
        path = parse_id(name)
        past = store.at(find_commit(workspace.location, REFERENCE, at)) if at else _find_other(store, workspace, name)
        records = _read_records(store, past, name, path, at)
        blobs = {entry.path: store.read_blob(entry.oid) for entry in store.entries_at(past, path)}

        def restore(tip: Tip) -> Changes:
            # Turns that the conversation got since are deleted: it becomes as it was.
            current = {entry.path: None for entry in store.entries_at(tip, path)}
            return {**current, **blobs}

        store.change(f"restore: {name if not is_conversation(name) else 'conversation'}", restore)
    notices, _ = index_records(workspace)
    return RestoredRecords(records, notices)


def _find_other(store: RecordStore, workspace: Workspace, name: str) -> Tip:
    """Return the latest revision in which a record exists and differs from the current one."""
    tip, path = store.tip(), parse_id(name)
    present = store.entries_at(tip, path)
    commits: list[StoredCommit] = []
    # Nearly always it is among the latest few commits of the record, so these are read first.
    for limit in (_FEW_COMMITS, ALL_COMMITS):
        commits = read_ref_log(workspace.location, tip.commit, limit, path) if tip.commit else []
        for commit in commits:
            past = store.at(commit.oid)
            if store.entries_at(past, path) not in ([], present):
                return past
        if len(commits) < limit:
            break
    if not commits:
        raise unknown_record(name, hint="gitmem memory log")
    raise UnknownRecord(f"the memory has no other revision of `{name}`", hint=f"gitmem memory log {name}")


_FEW_COMMITS: Final = 10
