"""Index what the memory holds and the index lacks, right after it was told.

The record is on the disk by then, so whatever goes wrong here loses nothing: the next run or question indexes it.
"""

import math
import time
from typing import Final

from gitmem.actions.kinds import CHOICES, open_memory, records_tree
from gitmem.errors import Busy, GitmemError
from gitmem.workspace import Workspace, find_index

PATIENCE_SECONDS: Final = 5.0
"""Who else writes the index is waited for as long as this: another record takes some milliseconds, but a first index
minutes, at whose end all records are in it."""

_PAUSE: Final = 0.02


def index_records(workspace: Workspace, notes: list[str] | None) -> None:
    """Make all records searchable; where that cannot be done now, `notes` are told why. Never raises a GitmemError."""
    try:
        problem = _index_in_turn(workspace)
    except GitmemError as failed:
        problem = failed.message
    if problem and notes is not None:
        notes.append(f"kept, but not searchable yet: {problem}")


def _index_in_turn(workspace: Workspace) -> str:
    """Index after those who do so now. Raises Busy where they take too long."""
    end = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            return _index(workspace)
        except Busy:
            if time.monotonic() >= end:
                raise
            time.sleep(_PAUSE)


def _index(workspace: Workspace) -> str:
    """Why not everything is indexed now, empty where it is."""
    if find_index(workspace) is None:
        return "this repository has no index yet, run `gitmem init`"
    tree = records_tree(workspace, CHOICES)
    if tree is None:
        return ""
    from gitmem.actions.heal import heal
    from gitmem.indexing.plan import missing_blobs
    from gitmem.store.snapshot import Snapshot

    view = open_memory(workspace, tree)
    manifest = heal(workspace, view, {}, deadline=math.inf, wait=False)
    if manifest is None:
        return "the index was made with another model or other settings, run `gitmem index`"
    left = len(missing_blobs(view, Snapshot(workspace.paths, manifest), retry=True))
    return f"{left} of them could not be indexed, run `gitmem index`" if left else ""
