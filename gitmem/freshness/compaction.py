"""Merge segments in the background, while others read and write the index.

The merged segment is written without the writer lock; only the manifest that names it is published under the lock. If
another process has replaced one of its sources meanwhile, the merged segment is removed again.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

from gitmem.errors import Busy
from gitmem.fsio import remove_file
from gitmem.indexing.compact import find_group, merge, replace_group
from gitmem.indexing.fingerprint import is_made_with
from gitmem.indexing.index_writer import open_index_writer
from gitmem.leftover_files import sweep_leftovers
from gitmem.locks import writer_lock
from gitmem.paths import IndexPaths
from gitmem.store.manifest import Manifest, SegmentEntry
from gitmem.store.segment_writer import TEMPORARY
from gitmem.workspace import Workspace, require_index


def is_due(manifest: Manifest) -> bool:
    """Return whether a merge was too large for the run that published this manifest."""
    return bool(find_group(manifest.segments))


def compact_in_background(workspace: Workspace, check_stop: Callable[[], None] = lambda: None) -> int:
    """Merge the segments of all full tiers; return the number of merges. One process at a time does so.

    `check_stop` is called often and may raise to end the merge without a trace.

    Raises: NoIndex, DamagedFile, StorageFailed.
    """
    manifest = require_index(workspace)
    if not is_due(manifest):  # the common case takes no lock
        return 0
    try:
        with writer_lock(_lock(workspace.paths), wait=False):
            # Merges of killed processes: nobody else writes such files into this folder.
            sweep_leftovers(workspace.paths.state, prefix=TEMPORARY)
            return _merge_all(workspace, check_stop)
    except Busy:
        return 0


def _lock(paths: IndexPaths) -> Path:
    return paths.state / "compaction-lock"


def _merge_all(workspace: Workspace, check_stop: Callable[[], None]) -> int:
    merges = 0
    # A merge may fill the next tier, and other processes may add segments meanwhile.
    while (manifest := _current_manifest(workspace)) and (group := find_group(manifest.segments)):
        merged = merge(workspace.paths, group, workspace.paths.state, check_stop)
        if not _publish(workspace, manifest, group, merged):
            break
        merges += 1
    return merges


def _current_manifest(workspace: Workspace) -> Manifest | None:
    """Return the manifest; None if its segments must be rebuilt anyway."""
    manifest = require_index(workspace)
    is_current = is_made_with(manifest.fingerprint, workspace.settings)
    return manifest if is_current else None


def _publish(workspace: Workspace, old: Manifest, group: Sequence[SegmentEntry], merged: SegmentEntry) -> bool:
    """Publish a manifest with the merged segment; return False if its sources are no longer current."""
    with open_index_writer(workspace.paths, wait=True) as writer:
        newest = writer.manifest
        names = {entry.name for entry in newest.segments} if newest is not None else set()
        if newest is None or newest.fingerprint != old.fingerprint or not names >= {entry.name for entry in group}:
            # Removed at once: a purge may be the reason, and the segment may hold what was purged.
            if merged.name not in names:
                remove_file(workspace.paths.segment(merged.name))
            return False
        writer.publish(replace_group(newest, group, merged))
    return True
