"""`gc`: give back the space of what no ref, reflog or working tree reaches any more."""

from dataclasses import dataclass

from gitmem.errors import Busy
from gitmem.fsio import LEFTOVER_SECONDS, remove_tree, sweep_leftovers
from gitmem.git.locate import worktree_ids
from gitmem.git.reachability import reachable_blobs
from gitmem.indexing.fingerprint import view_key
from gitmem.indexing.garbage import (
    GRACE_SECONDS,
    Removed,
    remove_old_records,
    remove_unnamed,
    retire_segments,
    shrink,
    used_blobs,
)
from gitmem.locks import writer_lock
from gitmem.paths import IndexPaths
from gitmem.store.graph import graph_files
from gitmem.store.manifest import Manifest, write_manifest
from gitmem.store.uncommitted_ids import KEEP_DAYS
from gitmem.workspace import Workspace, require_index


@dataclass(frozen=True, slots=True)
class CollectReport:
    """What went, or would go. `waiting_bytes` are freed by a later run, when no reader can need them any more; `recent`
    blobs that nothing reaches were used lately and stay."""

    blobs: int
    chunks: int
    segments: int
    trees: int
    files: int
    leftovers: int
    bytes: int
    waiting_bytes: int
    chunks_left: int
    recent: int
    dry_run: bool


def collect(workspace: Workspace, *, now: bool = False, dry_run: bool = False, wait: bool = True) -> CollectReport:
    """Drop what nothing reaches and nothing has used for a while, or with `now` what nothing reaches or uses.

    Raises: NoIndex, Busy, GitFailed, DamagedFile, StorageFailed.
    """
    require_index(workspace)
    if dry_run:
        return _collect(workspace, now=now, dry_run=True)
    with writer_lock(workspace.paths.lock, wait=wait):
        return _collect(workspace, now=now, dry_run=False)


def _collect(workspace: Workspace, *, now: bool, dry_run: bool) -> CollectReport:
    paths = workspace.paths
    manifest = require_index(workspace)
    leftovers = 0 if dry_run else _sweep(paths)
    days = 0 if now else KEEP_DAYS
    if not dry_run:
        remove_old_records(paths, worktree_ids(workspace.location), days)
    recent = used_blobs(paths, days)
    made = shrink(paths, manifest, reachable_blobs(workspace.location), recent, write=not dry_run)
    if made.manifest is not manifest and not dry_run:
        write_manifest(paths.manifest, made.manifest)
    removed = _remove_files(workspace, manifest, made.manifest, dry_run=dry_run)
    return CollectReport(
        blobs=made.blobs,
        chunks=made.chunks,
        segments=made.segments,
        trees=made.views,
        files=removed.files,
        leftovers=leftovers,
        bytes=removed.bytes,
        waiting_bytes=removed.waiting_bytes,
        chunks_left=manifest.rows - made.chunks,
        recent=made.recent,
        dry_run=dry_run,
    )


def _sweep(paths: IndexPaths) -> int:
    """Remove what processes that were killed left unfinished; returns how many files."""
    swept = sum(map(sweep_leftovers, (paths.root, paths.segments)))
    shared = (paths.views, paths.graphs, paths.state)  # written to without this lock
    swept += sum(sweep_leftovers(folder, grace=LEFTOVER_SECONDS) for folder in shared)
    return swept + _sweep_scratch(paths)


def _sweep_scratch(paths: IndexPaths) -> int:
    """Remove the index of an evaluation, unless one is running."""
    files = sum(path.is_file() for path in paths.scratch.rglob("*"))
    if files:
        try:
            with writer_lock(paths.scratch_lock, wait=False):
                remove_tree(paths.scratch)
        except Busy:
            return 0
    return files


def _remove_files(workspace: Workspace, old: Manifest, new: Manifest, *, dry_run: bool) -> Removed:
    paths = workspace.paths
    named = {entry.name for entry in new.segments}
    views = {*new.views, *([view_key(workspace.location.head_tree)] if workspace.location.head_tree else [])}
    removed = remove_unnamed(paths.views, views, GRACE_SECONDS, dry=dry_run)
    removed += remove_unnamed(paths.graphs, graph_files(new.graph), GRACE_SECONDS, dry=dry_run)
    if dry_run:
        return removed + remove_unnamed(paths.segments, named, GRACE_SECONDS, dry=True)
    retired = [entry.name for entry in old.segments if entry.name not in named]
    return removed + retire_segments(paths, named, retired)
