"""Index what the memory holds and the index lacks, right after it was told.

The record is on the disk by then, so whatever goes wrong here loses nothing: the next run or question indexes it.
"""

import math
import time
from typing import TYPE_CHECKING, Final, NamedTuple

from gitmem.errors import Busy, GitmemError
from gitmem.freshness.memory_view import open_memory, records_tree
from gitmem.workspace import Workspace, find_index

if TYPE_CHECKING:
    from gitmem.indexing.record_views import Records
    from gitmem.store.snapshot import Snapshot

PATIENCE_SECONDS: Final = 5.0
"""Who else writes the index is waited for as long as this: another record takes some milliseconds, but a first index
minutes, at whose end all records are in it."""

_PAUSE: Final = 0.02


class Indexed(NamedTuple):
    """The records of the memory and the index, opened after all were indexed."""

    view: "Records"
    snapshot: "Snapshot"


def index_records(workspace: Workspace, notes: list[str] | None) -> Indexed | None:
    """Make all records searchable; where that cannot be done now, `notes` are told why. Never raises a GitmemError."""
    try:
        problem, indexed = _index_in_turn(workspace)
    except GitmemError as failed:
        problem, indexed = failed.message, None
    if problem and notes is not None:
        notes.append(f"kept, but not searchable yet: {problem}")
    return indexed


def _index_in_turn(workspace: Workspace) -> tuple[str, Indexed | None]:
    """Index after those who do so now. Raises Busy where they take too long."""
    end = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            return _index(workspace)
        except Busy:
            if time.monotonic() >= end:
                raise
            time.sleep(_PAUSE)


def _index(workspace: Workspace) -> tuple[str, Indexed | None]:
    """Why not everything is indexed now, empty where it is, and what is."""
    if find_index(workspace) is None:
        return "this repository has no index yet, run `gitmem init`", None
    tree = records_tree(workspace)
    if tree is None:
        return "", None
    from gitmem.freshness.heal import heal
    from gitmem.indexing.plan import missing_blobs
    from gitmem.store.snapshot import Snapshot

    view = open_memory(workspace, tree)
    manifest = heal(workspace, view, {}, deadline=math.inf, wait=False)
    if manifest is None:
        return "the index was made with another model or other settings, run `gitmem index`", None
    indexed = Indexed(view, Snapshot(workspace.paths, manifest))
    left = len(missing_blobs(*indexed, retry=True))
    return f"{left} of them could not be indexed, run `gitmem index`" if left else "", indexed
