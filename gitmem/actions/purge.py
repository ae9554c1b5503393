"""Forget the memory's history, so that what was deleted or replaced is nowhere any more."""

from typing import NamedTuple

from gitmem.git.forget import drop_reflog, remove_objects
from gitmem.memory.places import REFERENCE
from gitmem.memory.purge import find_purged
from gitmem.memory.store import RecordStore
from gitmem.workspace import Workspace


class Purged(NamedTuple):
    """What went: objects and the bytes in them. `left` could not be removed."""

    objects: int
    bytes: int
    left: int


def purge_memory(workspace: Workspace) -> Purged:
    """Rewrite the memory ref without history and remove what nothing reaches then. Raises GitFailed, StorageFailed."""
    location = workspace.location
    with RecordStore(location) as store, store.locked():
        store.cut_history()
        drop_reflog(location, REFERENCE)
        purged = find_purged(location, store)
        return Purged(*remove_objects(location, purged))
