"""Bring the index up to date with a tree: lock, compare, index the missing blobs, publish."""

import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple

from gitmem.errors import DamagedFile
from gitmem.freshness.cancellation import signals_as_exceptions, stoppable
from gitmem.freshness.currency import holds_tree
from gitmem.freshness.index_report import IndexReport
from gitmem.fsio import LEFTOVER_SECONDS, sweep_leftovers
from gitmem.git.path_encoding import path_text
from gitmem.git.trees import empty_tree
from gitmem.indexing.index_writer import IndexWriter, open_index_writer, read_manifest_for_writing
from gitmem.indexing.retention import VIEW_GRACE_SECONDS
from gitmem.store.manifest import Manifest
from gitmem.workspace import Workspace, create_index

if TYPE_CHECKING:
    from gitmem.indexing.overlay import Overlay
    from gitmem.indexing.run import Progress
    from gitmem.store.segment import Segment
    from gitmem.store.view_file import View


def refresh(
    workspace: Workspace,
    tree: str | None,
    *,
    uncommitted: bool = False,
    full: bool = False,
    check: bool = False,
    wait: bool = True,
    report: "Callable[[Progress], None]" = lambda _: None,
    on_wait: Callable[[], None] = lambda: None,
) -> IndexReport:
    """Index every blob of a tree that the index lacks. A repository without commits gets an empty index.

    With `uncommitted` the staged and the changed files are indexed as well; `tree` must then be HEAD's. `full` embeds
    everything again. `check` verifies every checksum first and replaces damaged files. `on_wait` is called before the
    run waits for another process that holds the lock.

    Raises: Busy if another process writes and `wait` is False, Cancelled, StorageFailed, UnsafeIndex, NewerFormat.
    """
    # Numpy, which the report needs, is the largest import of a run that finds nothing to do except git.
    started = time.monotonic()
    create_index(workspace, wait=wait, on_wait=on_wait)
    uncommitted = uncommitted and workspace.location.worktree is not None
    if tree is None and not uncommitted:
        return _refresh_empty(workspace, wait=wait)
    job = _Job(tree or empty_tree(workspace.location), uncommitted, full, check)
    if not (uncommitted or full or check) and _is_current(workspace, job.tree):
        return IndexReport(job.tree, up_to_date=True, seconds=time.monotonic() - started)
    with (
        signals_as_exceptions(),
        open_index_writer(workspace.paths, wait=wait, on_wait=on_wait, replace_newer=full) as writer,
    ):
        result = _refresh_or_repair(workspace, writer, job, report)
    if tree is None and not result.files:
        result.tree = ""
    result.seconds = time.monotonic() - started
    return result


class _Job(NamedTuple):
    """Parameters of a run, see `refresh`."""

    tree: str
    uncommitted: bool
    full: bool
    check: bool


def _is_current(workspace: Workspace, tree: str) -> bool:
    """Return whether there is nothing to do. `create_index` has just checked that the index is ours."""
    manifest = read_manifest_for_writing(workspace.paths)
    return manifest is not None and holds_tree(workspace, manifest, tree)


def _refresh_empty(workspace: Workspace, *, wait: bool) -> IndexReport:
    """Publish an index without segments for a repository without commits, so that the next query finds one."""
    from gitmem.indexing.fingerprint import current_fingerprint

    with open_index_writer(workspace.paths, wait=wait) as writer:
        if writer.manifest is None:
            fingerprint = current_fingerprint(workspace.settings.max_file_bytes)
            writer.publish(Manifest(fingerprint, complete=True))
    return IndexReport("", up_to_date=True)


def _refresh_or_repair(
    workspace: Workspace, writer: IndexWriter, job: _Job, report: "Callable[[Progress], None]"
) -> IndexReport:
    """Run; if a damaged file turns up, run again with `check`, which replaces damaged files."""
    try:
        return _refresh_locked(workspace, writer, job, report)
    except DamagedFile:
        if job.check:
            raise
    return _refresh_locked(workspace, writer, job._replace(check=True), report)


def _refresh_locked(
    workspace: Workspace, writer: IndexWriter, job: _Job, report: "Callable[[Progress], None]"
) -> IndexReport:
    # Everything that loads numpy, the parsers or the model is imported here, once it is known that there is work.
    from gitmem.indexing.compact import compact
    from gitmem.indexing.fingerprint import current_fingerprint, view_key
    from gitmem.indexing.missing_blobs import find_missing_blobs
    from gitmem.indexing.run import Run
    from gitmem.indexing.views import ensure_view
    from gitmem.store.snapshot import Snapshot

    location, paths, settings = workspace.location, workspace.paths, workspace.settings
    for folder in (paths.root, paths.segments):
        sweep_leftovers(folder)
    sweep_leftovers(paths.views, grace=LEFTOVER_SECONDS)  # queries write views too, without a lock
    old = writer.manifest
    result = IndexReport(job.tree, chunks_before=old.rows if old else 0)
    manifest, result.rebuilt = _starting_point(workspace, old, current_fingerprint(settings.max_file_bytes), job)
    latest = manifest.views[-1] if manifest.views else ""
    views = [ensure_view(location, paths, job.tree, check=job.check, base=latest)]
    overlays = _open_uncommitted(workspace, manifest) if job.uncommitted else []
    views += [overlay.view for overlay in overlays]
    files = {oid: path for overlay in overlays for oid, path in overlay.files.items()}
    before = Snapshot(paths, manifest)
    all_views = [*views, *_open_memory(workspace, check=job.check)]
    missing = list(dict.fromkeys(item for view in all_views for item in find_missing_blobs(view, before, retry=True)))
    key = view_key(job.tree)
    if missing:
        run = Run(location, paths, max_file_bytes=settings.max_file_bytes, jobs=settings.jobs, files=files)
        with stoppable(paths, report) as report_or_stop:
            # A full run replaces the old index only when it is complete.
            publish = None if job.full else writer.publish
            outcome = run.execute(missing, manifest, publish=publish, report=report_or_stop)
        manifest, result.chunks_added, result.text_bytes = outcome.manifest, outcome.rows, outcome.bytes
        result.problems = _problems(all_views, outcome.unreadable, outcome.failed)
    elif manifest is old and old.complete and latest == key:
        return IndexReport(job.tree, up_to_date=True, files=len(views[-1]))
    manifest = compact(paths, manifest)
    # A tree with unreadable blobs is not listed as indexed: the next run tries them again.
    manifest = manifest.as_complete() if result.problems else manifest.with_view(key)
    writer.publish(manifest, view_grace=VIEW_GRACE_SECONDS, keep_view=key)
    result.embedded = len(missing)
    result.count_view(views[-1], Snapshot(paths, manifest))
    result.reused = max(0, result.reused - result.embedded)
    result.chunks, result.index_bytes = manifest.rows, manifest.bytes
    return result


def _open_memory(workspace: Workspace, *, check: bool) -> "list[View]":
    """Return the view of the memory's records, or nothing if it is empty."""
    from gitmem.freshness.memory_view import records_tree
    from gitmem.indexing.record_views import open_records

    tree = records_tree(workspace)
    return [open_records(workspace.location, workspace.paths.records, tree, keep=True, check=check)] if tree else []


def _open_uncommitted(workspace: Workspace, manifest: Manifest) -> "list[Overlay]":
    """Open the staged tree and the working tree."""
    from gitmem.freshness.tree_selection import STAGED_TREE, WORKING_TREE, TreeReader, open_tree

    overlays = []
    for selection in (STAGED_TREE, WORKING_TREE):
        with TreeReader(workspace.location, selection) as reader:
            tree = reader.read()
        overlays.append(open_tree(workspace._replace(location=tree.location), tree, manifest))
    return overlays


def _starting_point(workspace: Workspace, old: Manifest | None, fingerprint: str, job: _Job) -> tuple[Manifest, str]:
    """Return the manifest to extend, and the reason for a rebuild, "" if nothing is rebuilt."""
    from gitmem.indexing.run import empty_manifest
    from gitmem.store.snapshot import Snapshot

    if old is None:
        return empty_manifest(None, fingerprint), ""
    if job.full:
        return empty_manifest(old, fingerprint), "requested by --full"
    if old.fingerprint != fingerprint:
        return empty_manifest(old, fingerprint), "the model or the chunker has changed"
    snapshot = Snapshot(workspace.paths, old)
    intact = {segment.path.name for segment in snapshot.segments if not job.check or _is_intact(segment)}
    if len(intact) < len(old.segments):
        # The views go too: they would claim that trees are indexed whose rows are lost.
        rest = old.with_segments(entry for entry in old.segments if entry.name in intact)._replace(views=())
        return rest, "; ".join(snapshot.lost) or "a segment failed its checksum"
    return old, ""


def _is_intact(segment: "Segment") -> bool:
    try:
        segment.check_blocks()
    except DamagedFile:
        return False
    return True


def _problems(views: "Iterable[View]", unreadable: list[str], failed: list[str]) -> list[str]:
    """Return a line for each blob that could not be read or chunked, under the first path that has it."""
    if not unreadable and not failed:
        return []
    paths: dict[str, str] = {}
    for view in views:
        for entry in range(len(view)):
            paths.setdefault(view.oid(entry), path_text(view.paths[entry]))
    lines = [f"{paths.get(oid, oid)}: the blob {oid[:12]} cannot be read (missing or damaged)" for oid in unreadable]
    return lines + [f"{paths.get(oid, oid)}: chunking failed, the file is skipped" for oid in failed]
