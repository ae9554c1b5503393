"""Free the space of former code that no history reaches any more, in the index of the past."""

import numpy as np

from gitmem.freshness.history_run import sweep
from gitmem.freshness.past_index import find_past
from gitmem.git.reachability import reachable_blobs
from gitmem.indexing.garbage import ShrinkResult, shrink
from gitmem.indexing.index_writer import open_index_writer
from gitmem.indexing.lifetimes import PastView, find_past_view
from gitmem.indexing.mark_records import RecordReader
from gitmem.store.manifest import Manifest
from gitmem.store.snapshot import Snapshot
from gitmem.workspace import Workspace


def collect_past(workspace: Workspace, *, dry_run: bool, wait: bool) -> ShrinkResult | None:
    """Remove versions of files that nothing reaches, or with `dry_run` only count them; None without an index.

    Raises: Busy, GitFailed, DamagedFile, StorageFailed.
    """
    paths = workspace.paths.past
    view = find_past_view(paths.lifetimes)
    if find_past(workspace) is None or view is None:
        return None
    if dry_run:
        manifest = find_past(workspace)
        return None if manifest is None else _shrink(workspace, manifest, view, write=False)
    with open_index_writer(paths, wait=wait) as writer:
        if writer.manifest is None:
            return None
        sweep(paths)
        made = _shrink(workspace, writer.manifest, view, write=True)
        writer.publish(made.manifest)
        return made


def _shrink(workspace: Workspace, manifest: Manifest, view: PastView, *, write: bool) -> ShrinkResult:
    """Remove the blobs that are neither in the history nor reachable, nor hold a row that a version in it needs."""
    paths = workspace.paths.past
    snapshot = Snapshot(paths, manifest)
    # A chunk has its row in one blob, which may be of another branch than those that have the chunk now.
    rows = np.flatnonzero(view.lives(snapshot).group >= 0)
    holders = np.unique(np.searchsorted(snapshot.blob_first, rows, side="right") - 1)
    needed = {view.oid(entry) for entry in range(len(view))} | reachable_blobs(workspace.location)
    for number in holders.tolist():
        segment, own = snapshot.blob(number)
        needed.add(segment.oids[own].tobytes().hex())
    return shrink(paths, manifest, _with_bases(snapshot, needed), (), write=write)


def _with_bases(snapshot: Snapshot, needed: set[str]) -> set[str]:
    """Return some blobs, and those from which their records differ. Raises DamagedFile."""
    oids = [oid.tobytes().hex() for segment in snapshot.segments for oid in segment.oids]
    keys = snapshot.blob_keys.tolist()
    kept = RecordReader(snapshot).with_bases(key for key, oid in zip(keys, oids, strict=True) if oid in needed)
    return needed | {oid for key, oid in zip(keys, oids, strict=True) if key in kept}
