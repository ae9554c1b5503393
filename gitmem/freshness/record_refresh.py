"""Index the memory's new records right after they were written.

The records are durable in git by then. A failure here loses nothing: the next run or query indexes them.
"""

import math
import time
from typing import TYPE_CHECKING, Final

from gitmem.errors import Busy, GitmemError
from gitmem.freshness.index_model import with_model_of
from gitmem.freshness.memory_view import open_memory, records_tree
from gitmem.named_tuple import NamedTuple
from gitmem.workspace import Workspace, find_index

if TYPE_CHECKING:
    from gitmem.indexing.record_views import Records
    from gitmem.store.snapshot import Snapshot

MAX_WAIT_SECONDS: Final = 5.0
"""How long to wait for another writer. A record takes milliseconds. A first index takes minutes, but includes all
records at its end, so waiting longer gains nothing."""

_POLL_SECONDS: Final = 0.02


class Indexed(NamedTuple):
    """Records of the memory and the index, opened after the records were indexed."""

    view: "Records"
    snapshot: "Snapshot"


def index_records(workspace: Workspace) -> tuple[list[str], Indexed | None]:
    """Make all records searchable. Return a notice if that fails, and the opened records and index if there are any.

    Never raises a GitmemError.
    """
    try:
        problem, indexed = _index_after_others(workspace)
    except GitmemError as error:
        problem, indexed = error.message, None
    return [f"stored, but not searchable yet: {problem}"] if problem else [], indexed


def _index_after_others(workspace: Workspace) -> tuple[str, Indexed | None]:
    """Wait for other writers, then index. Raises Busy if they take too long."""
    # Poll instead of waiting for the lock: a wait cannot be given up after a time.
    end = time.monotonic() + MAX_WAIT_SECONDS
    while True:
        try:
            return _index(workspace)
        except Busy:
            if time.monotonic() >= end:
                raise
            time.sleep(_POLL_SECONDS)


def _index(workspace: Workspace) -> tuple[str, Indexed | None]:
    """Index all records. Return the reason why some are missing, "" if none is, and the opened records and index."""
    index = find_index(workspace)
    if index is None:
        return "this repository has no index yet, run `gitmem init`", None
    tree = records_tree(workspace)
    if tree is None:
        return "", None
    from gitmem.freshness.heal import heal
    from gitmem.indexing.missing_blobs import find_missing_blobs
    from gitmem.store.snapshot import Snapshot

    workspace = with_model_of(workspace, index)
    view = open_memory(workspace, tree)
    manifest = heal(workspace, view, {}, deadline=math.inf, wait=False)
    if manifest is None:
        return "the index was made by another version, with another model or other settings, run `gitmem index`", None
    indexed = Indexed(view, Snapshot(workspace.paths, manifest))
    missing = len(find_missing_blobs(*indexed, retry=True))
    return f"{missing} of them could not be indexed, run `gitmem index`" if missing else "", indexed
