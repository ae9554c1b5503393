"""`gitmem gc`: free the space of blobs that no ref, reflog or working tree reaches any more."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from gitmem.actions.past_gc import collect_past
from gitmem.embedding.provider import selected_provider
from gitmem.errors import Busy
from gitmem.fsio import remove_tree
from gitmem.git.locate import worktree_ids
from gitmem.git.reachability import reachable_blobs
from gitmem.indexing.fingerprint import model_of, view_key
from gitmem.indexing.garbage import (
    ShrinkResult,
    remove_old_uncommitted,
    shrink,
    used_blobs,
)
from gitmem.indexing.index_writer import IndexWriter, open_index_writer, unfinished_segments
from gitmem.indexing.retention import GRACE_SECONDS, Removed, remove_unnamed, remove_views
from gitmem.indexing.vector_retention import remove_unused_vectors
from gitmem.leftover_files import LEFTOVER_SECONDS, sweep_leftovers
from gitmem.locks import writer_lock
from gitmem.paths import IndexPaths
from gitmem.permissions import restrict_access
from gitmem.store.graph import graph_files
from gitmem.store.manifest import Manifest
from gitmem.store.uncommitted_ids import KEEP_DAYS
from gitmem.store.vector_files import iter_model_folders
from gitmem.workspace import Workspace, create_index, require_index


@dataclass(frozen=True, slots=True)
class CollectReport:
    """Removed items, or with `dry_run` those that would be removed.

    `waiting_bytes` are freed by a later run, when no reader can have the files open any more. `recent` unreachable
    blobs were used recently and stay.
    """

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
    """Remove what nothing reaches and nothing has used for two weeks, or with `now` regardless of recent use.

    Raises: NoIndex, Busy, UnsafeIndex, GitFailed, DamagedFile, StorageFailed.
    """
    require_index(workspace)
    if not dry_run:
        create_index(workspace, wait=wait)  # somebody may have removed a folder in it
    past = collect_past(workspace, dry_run=dry_run, wait=wait)
    if dry_run:
        return _with_past(_collect(workspace, None, now=now), past)
    with open_index_writer(workspace.paths, wait=wait) as writer:
        return _with_past(_collect(workspace, writer, now=now), past)


def _with_past(report: CollectReport, past: ShrinkResult | None) -> CollectReport:
    """Return a report that also counts the blobs removed from the index of the past."""
    if past is None:
        return report
    return replace(
        report,
        blobs=report.blobs + past.blobs,
        chunks=report.chunks + past.chunks,
        segments=report.segments + past.segments,
    )


def _collect(workspace: Workspace, writer: IndexWriter | None, *, now: bool) -> CollectReport:
    """Collect with a writer; without one count only."""
    paths, dry_run = workspace.paths, writer is None
    manifest = require_index(workspace)
    models = _models_in_use(workspace, manifest)
    # Leftovers first: they may be most of the space if earlier runs were killed.
    leftovers = 0 if dry_run else _sweep(paths)
    if not dry_run:
        restrict_access(paths.root)
    days = 0 if now else KEEP_DAYS
    if not dry_run:
        remove_old_uncommitted(paths, worktree_ids(workspace.location), days)
    recent = used_blobs(paths, days)
    made = shrink(paths, manifest, reachable_blobs(workspace.location), recent, write=not dry_run)
    removed = _remove_files(workspace, made.manifest, models, writer)
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
    """Remove unfinished files of killed processes; return their number."""
    swept = sum(map(sweep_leftovers, (paths.root, paths.segments)))
    # Queries write here without the lock, so a fresh temporary file may belong to a running process.
    shared = (paths.views, paths.graphs, paths.state, *iter_model_folders(paths.vectors))
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


def _models_in_use(workspace: Workspace, manifest: Manifest) -> list[str]:
    """Return the model of the index, and the selected one, which may be building a second index. Raises ConfigError."""
    provider = selected_provider(workspace.settings)
    # Only remote providers have stored vectors; the name of another model depends on files that may be missing.
    return [model_of(manifest.fingerprint), *([provider.fingerprint] if provider.is_remote else [])]


def _remove_files(
    workspace: Workspace, manifest: Manifest, models: Sequence[str], writer: IndexWriter | None
) -> Removed:
    """Publish a manifest and remove the files that it does not name; without a writer only count them."""
    paths = workspace.paths
    head_view = (
        view_key(workspace.location.head_tree, workspace.location.content) if workspace.location.head_tree else ""
    )
    graphs = graph_files(manifest.graph)
    if writer is not None:
        # The manifest is durable before any file is removed: a kill in between leaves too much, never too little.
        removed = writer.publish(manifest, view_grace=GRACE_SECONDS, keep_view=head_view)
        removed += remove_unnamed(paths.graphs, graphs, GRACE_SECONDS)
        return removed + remove_unused_vectors(paths, manifest, models)
    segments = {entry.name for entry in manifest.segments} | unfinished_segments(paths)
    removed = remove_views(paths.views, {*manifest.views, head_view}, GRACE_SECONDS, dry=True)
    folders = ((paths.graphs, graphs), (paths.segments, segments))
    removed = sum((remove_unnamed(folder, named, GRACE_SECONDS, dry=True) for folder, named in folders), removed)
    return removed + remove_unused_vectors(paths, manifest, models, dry=True)
