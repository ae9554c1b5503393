"""List the newest records of a kind, and expired documents. Columns of the index select them; no others are read."""

from collections.abc import Iterable
from datetime import datetime

import numpy as np

from gitmem.freshness.memory_view import open_memory
from gitmem.git.trees import FILE, TreeEntry
from gitmem.indexing.record_views import Records
from gitmem.memory.document import is_expired
from gitmem.memory.record_paths import DOCUMENTS
from gitmem.memory.record_store import RecordStore, Tip
from gitmem.record import Record
from gitmem.records.filters import RecordFilters, matching_records
from gitmem.workspace import Workspace


def open_at(workspace: Workspace, tip: Tip) -> Records | None:
    """Return the records of a state of the memory, or None before the first record."""
    return open_memory(workspace, tip.tree, check=True) if tip.tree else None


def read_expired(workspace: Workspace, store: RecordStore, tip: Tip, now: datetime) -> list[Record]:
    """Return the documents whose retention has ended. Raises GitFailed, DamagedFile."""
    records = open_at(workspace, tip)
    if records is None:
        return []
    # No document is parsed to find out whether it has expired.
    retention, stored = records.column("retention"), records.column("stored")
    documents = records.folder(DOCUMENTS)
    expired = [entry for entry in documents if is_expired(retention.text(entry), stored.text(entry), now)]
    return list(store.read_records(tree_entries(records, expired)))


def tree_entries(records: Records, entries: Iterable[int]) -> list[TreeEntry]:
    """Return the records of some entries, to be read from git."""
    return [TreeEntry(records.path(entry), FILE, records.oid(entry)) for entry in entries]


def newest_records(workspace: Workspace, folder: bytes, filters: RecordFilters, limit: int) -> list[Record]:
    """Return records below a folder, the last stored first; records of the same time by descending id.

    Raises: GitFailed, DamagedFile.
    """
    with RecordStore(workspace.location) as store:
        records = open_at(workspace, store.tip())
        if records is None:
            return []
        below = records.folder(folder)
        entries = np.arange(below.start, below.stop)
        entries = entries[matching_records(records, filters)[entries]]
        # Entries are sorted by path, so a stable sort that is reversed has the higher id first among equal times.
        newest = entries[np.argsort(records.column("stored").ranks()[entries], kind="stable")[::-1][:limit]]
        return list(store.read_records(tree_entries(records, newest.tolist())))
