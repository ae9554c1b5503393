"""The newest records of a kind, found by what is known of them: only those that are shown are read."""

from typing import TYPE_CHECKING

from gitmem.actions.kinds import open_memory
from gitmem.actions.limits import RecordLimits, within_limits
from gitmem.git.trees import TreeEntry
from gitmem.memory.store import RecordStore, Tip
from gitmem.record import Record
from gitmem.workspace import Workspace

if TYPE_CHECKING:
    from gitmem.indexing.records import Records


def open_listed(workspace: Workspace, tip: Tip) -> "Records | None":
    """The records of a commit of the memory, None before the first."""
    return open_memory(workspace, tip.tree, check=True) if tip.tree else None


def newest_records(workspace: Workspace, folder: bytes, limits: RecordLimits, limit: int) -> list[Record]:
    """Records below a folder, those that came in last first; of one moment, the higher id first.

    Raises: GitFailed, DamagedFile.
    """
    import numpy as np

    with RecordStore(workspace.location) as store:
        records = open_listed(workspace, store.tip())
        if records is None:
            return []
        below = np.arange(len(records))[records.folder(folder).start : records.folder(folder).stop]
        chosen = below[within_limits(records, limits)[below]]
        newest = chosen[np.argsort(records.fact("stored").ranks()[chosen], kind="stable")[::-1][:limit]]
        entries = [TreeEntry(records.path(entry), 0o100644, records.oid(entry)) for entry in newest.tolist()]
        return list(store.read_records(entries))
