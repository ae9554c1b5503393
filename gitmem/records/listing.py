"""The newest records of a kind, and those whose time is over, found by what is known of them: no others are read."""

from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING

from gitmem.freshness.memory_view import open_memory
from gitmem.git.trees import FILE, TreeEntry
from gitmem.memory.document import is_expired
from gitmem.memory.record_paths import DOCUMENTS
from gitmem.memory.record_store import RecordStore, Tip
from gitmem.record import Record
from gitmem.records.filters import RecordFilters, matching_records
from gitmem.workspace import Workspace

if TYPE_CHECKING:
    from gitmem.indexing.record_views import Records


def open_listed(workspace: Workspace, tip: Tip) -> "Records | None":
    """The records of a commit of the memory, None before the first."""
    return open_memory(workspace, tip.tree, check=True) if tip.tree else None


def read_expired(workspace: Workspace, store: RecordStore, tip: Tip, now: datetime) -> list[Record]:
    """The documents of a commit whose retention has run out. Raises GitFailed, DamagedFile."""
    records = open_listed(workspace, tip)
    if records is None:
        return []
    retention, stored = records.column("retention"), records.column("stored")
    below = records.folder(DOCUMENTS)
    expired = [entry for entry in below if is_expired(retention.text(entry), stored.text(entry), now)]
    return list(store.read_records(_entries(records, expired)))


def _entries(records: "Records", entries: Iterable[int]) -> list[TreeEntry]:
    return [TreeEntry(records.path(entry), FILE, records.oid(entry)) for entry in entries]


def newest_records(workspace: Workspace, folder: bytes, limits: RecordFilters, limit: int) -> list[Record]:
    """Records below a folder, those that came in last first; of one moment, the higher id first.

    Raises: GitFailed, DamagedFile.
    """
    import numpy as np

    with RecordStore(workspace.location) as store:
        records = open_listed(workspace, store.tip())
        if records is None:
            return []
        below = np.arange(len(records))[records.folder(folder).start : records.folder(folder).stop]
        chosen = below[matching_records(records, limits)[below]]
        newest = chosen[np.argsort(records.column("stored").ranks()[chosen], kind="stable")[::-1][:limit]]
        return list(store.read_records(_entries(records, newest.tolist())))
