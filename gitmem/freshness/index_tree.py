"""Index one tree while holding the writer lock: compare, digest the missing blobs, compact, publish.

`refresh` decides whether there is anything to do. This module imports numpy, the worker pool and the views, so
`refresh` imports it only then.
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from gitmem.arrays import NDArray, differences
from gitmem.errors import DamagedFile, StorageFailed
from gitmem.freshness.cancellation import StoppableRun, stoppable
from gitmem.freshness.index_report import IndexReport
from gitmem.freshness.index_runs import log_run
from gitmem.freshness.memory_view import records_tree
from gitmem.freshness.selected_model import SelectedModel
from gitmem.freshness.tree_selection import TreeReader, TreeSelection
from gitmem.freshness.tree_view import open_tree
from gitmem.git.path_encoding import path_text
from gitmem.indexing.compact import compact
from gitmem.indexing.fingerprint import chunk_bounds, gives_equal_vectors, view_key
from gitmem.indexing.index_writer import IndexWriter, find_unfinished
from gitmem.indexing.memory_budget import MemoryBudget
from gitmem.indexing.missing_blobs import MissingBlob, find_missing_blobs
from gitmem.indexing.overlay import Overlay
from gitmem.indexing.record_views import open_records
from gitmem.indexing.retention import VIEW_GRACE_SECONDS
from gitmem.indexing.run import Progress, Run, RunResult, empty_manifest
from gitmem.indexing.views import ensure_view
from gitmem.leftover_files import LEFTOVER_SECONDS, sweep_leftovers
from gitmem.metrics import fold_journals
from gitmem.named_tuple import NamedTuple
from gitmem.paths import IndexPaths
from gitmem.store.columns import OUTCOMES
from gitmem.store.manifest import Manifest, SegmentEntry
from gitmem.store.segment import Segment
from gitmem.store.snapshot import Snapshot
from gitmem.store.stored_view import find_view
from gitmem.store.vector_files import iter_model_folders
from gitmem.store.view_file import INDEXED, REASONS, View
from gitmem.workspace import Workspace

if TYPE_CHECKING:
    from gitmem.indexing.remote_pool import OpenEngine


class Job(NamedTuple):
    """Parameters of a run, see `refresh`."""

    tree: str
    uncommitted: tuple[TreeSelection, ...]
    full: bool
    check: bool
    resume: str
    event: str = "index"
    list_files: bool = False
    reason: str = "requested by --full"
    open_engine: "OpenEngine | None" = None


def index_tree(
    workspace: Workspace,
    writer: IndexWriter,
    job: Job,
    report: Callable[[Progress], None],
    announce: Callable[[str], None],
) -> IndexReport:
    """Run; if a damaged file turns up, run again with `check`, which replaces damaged files."""
    with stoppable(workspace.paths, report, resume=job.resume) as stoppable_run:
        try:
            return _index_tree(workspace, writer, job, stoppable_run, announce)
        except DamagedFile:
            if job.check:
                raise
        return _index_tree(workspace, writer, job._replace(check=True), stoppable_run, announce)


def _index_tree(
    workspace: Workspace, writer: IndexWriter, job: Job, stoppable_run: StoppableRun, announce: Callable[[str], None]
) -> IndexReport:
    location, paths, settings = workspace.location, workspace.paths, workspace.settings
    started = time.monotonic()
    _sweep(paths)
    old = writer.manifest
    result = IndexReport(job.tree, chunks_before=old.rows if old else 0)
    embedding = SelectedModel(workspace, old, announce, full=job.full)
    if embedding.replaces_index:
        job = job._replace(full=True, reason="the selected model has changed")
    start = _starting_point(workspace, old, embedding.fingerprint, job)
    manifest, result.rebuilt = start.manifest, start.rebuilt
    manifest = _drop_lost_views(workspace, manifest, check=job.check)
    latest = manifest.views[-1] if manifest.views else ""
    views, files = _open_views(workspace, manifest, job)
    before = Snapshot(paths, manifest, opened=start.segments)
    # Records may be private, so they are never sent to other machines.
    all_views = [*views, *([] if job.open_engine else _open_memory(workspace, check=job.check))]
    missing = list(dict.fromkeys(item for view in all_views for item in find_missing_blobs(view, before, retry=True)))
    key, blobs = view_key(job.tree, location.content), bytearray()
    if missing:
        run = Run(
            location, paths, max_file_bytes=settings.max_file_bytes, jobs=settings.jobs, files=files,
            budget=MemoryBudget(settings.max_memory), bounds=chunk_bounds(settings),
            stage=embedding.open_stage(missing, files, is_new=not start.manifest.segments),
            open_engine=job.open_engine,
        )  # fmt: skip
        outcome = _execute(run, missing, writer, manifest, job, stoppable_run)
        manifest, result.chunks_added, result.text_bytes = outcome.manifest, outcome.rows, outcome.bytes
        result.problems = _problems(all_views, outcome)
        result.worker_losses = outcome.losses
        blobs = outcome.blobs
    elif manifest is old and old.complete and latest == key:
        return _with_details(_describe_current(job, views[-1], before), workspace, job, views[-1], before, files)
    manifest = compact(paths, manifest, before=before.manifest.segments)
    # A tree with unreadable blobs, or without the records, is not listed as indexed: the next run completes it.
    manifest = manifest.as_complete() if result.problems or job.open_engine else manifest.with_view(key)
    _publish(writer, manifest, key, full=job.full)
    result.embedded = len(missing)
    after = Snapshot(paths, manifest, opened=before.segments)
    with suppress(StorageFailed):  # queries do without it
        after.update_join(views[0].base)
    _describe(result, views[-1], after)
    result.seconds = time.monotonic() - started
    log_run(paths, job.event, location.worktree or location.git_dir, result.as_json(), blobs)
    return _with_details(result, workspace, job, views[-1], after, files)


def _open_views(workspace: Workspace, manifest: Manifest, job: Job) -> tuple[list[View], dict[str, bytes]]:
    """Return the views of the trees of a job, HEAD's first, and the paths of uncommitted files by blob id."""
    latest = manifest.views[-1] if manifest.views else ""
    committed = ensure_view(workspace.location, workspace.paths, job.tree, check=job.check, base=latest)
    overlays = _open_uncommitted(workspace, manifest, job)
    files = {oid: path for overlay in overlays for oid, path in overlay.files.items()}
    return [committed, *(overlay.view for overlay in overlays)], files


def _execute(
    run: Run,
    missing: Sequence[MissingBlob],
    writer: IndexWriter,
    manifest: Manifest,
    job: Job,
    stoppable_run: StoppableRun,
) -> RunResult:
    """Index blobs; a full run publishes nothing that queries would use before its end."""
    stop, report = stoppable_run
    publish = _publish_progress(writer) if job.full else writer.publish
    former = _former_segments(writer.manifest, manifest, job)
    return run.execute(missing, manifest, publish=publish, report=report, stop=stop, former=former)


def _with_details(
    result: IndexReport, workspace: Workspace, job: Job, view: View, snapshot: Snapshot, files: Mapping[str, bytes]
) -> IndexReport:
    """Add the details of files to a report if the job has them listed. The log has none: they would be its bulk."""
    if job.list_files:
        from gitmem.freshness.file_details import read_details  # hooks and queries never list files

        result.details = read_details(workspace, view, snapshot, files)
    return result


def _describe(result: IndexReport, view: View, snapshot: Snapshot) -> None:
    """Complete the report of a run."""
    count_view(result, view, snapshot)
    result.reused = max(0, result.reused - result.embedded)
    result.chunks, result.index_bytes = snapshot.manifest.rows, snapshot.manifest.bytes


def _former_segments(old: Manifest | None, manifest: Manifest, job: Job) -> Sequence[SegmentEntry]:
    """Return segments of another fingerprint from which vectors may be taken."""
    if old is None or job.full or not gives_equal_vectors(old.fingerprint, manifest.fingerprint):
        return ()
    # Under other rules for secrets most texts are as they were: only the changed ones are embedded again.
    return old.segments


def _sweep(paths: IndexPaths) -> None:
    with suppress(StorageFailed):  # a run does not fail because of its metrics
        fold_journals(paths)
    for folder in (paths.root, paths.segments):
        sweep_leftovers(folder)
    # Queries write views too, without a lock, and an evaluation vectors.
    for folder in (paths.views, *iter_model_folders(paths.vectors)):
        sweep_leftovers(folder, grace=LEFTOVER_SECONDS)


def _publish_progress(writer: IndexWriter) -> Callable[[Manifest], None]:
    """Return how a full run records its progress: it replaces the index only at its end, unless there is none yet."""

    def publish(manifest: Manifest) -> None:
        writer.publish_unfinished(manifest)
        old = writer.manifest
        if old is None or (not old.complete and set(old.segments) <= set(manifest.segments)):
            writer.publish(manifest)

    return publish


def _publish(writer: IndexWriter, manifest: Manifest, key: str, *, full: bool) -> None:
    """Make the result of a run the current generation. An unfinished full run ends with it."""
    if full:
        # Recorded as finished first: if this process is killed before the file is removed, the next full run must not
        # take the whole of this one for its own beginning.
        writer.publish_unfinished(manifest)
    is_first = writer.manifest is None or not writer.manifest.complete
    # A first run has written everything twice, in parts and merged. Its readers know that the index is growing, and
    # open the next generation if they miss a part.
    grace = 0.0 if is_first else None
    writer.publish(manifest, segment_grace=grace, view_grace=VIEW_GRACE_SECONDS, keep_view=key)
    if full or is_first:
        writer.drop_unfinished()


def _describe_current(job: Job, view: View, snapshot: Snapshot) -> IndexReport:
    """Return the report of a run with nothing to do."""
    result = IndexReport(job.tree, up_to_date=True)
    count_view(result, view, snapshot)
    result.chunks_before = result.chunks = snapshot.manifest.rows
    result.index_bytes = snapshot.manifest.bytes
    return result


def _open_memory(workspace: Workspace, *, check: bool) -> list[View]:
    """Return the view of the memory's records, or nothing if it is empty."""
    tree = records_tree(workspace)
    return [open_records(workspace.location, workspace.paths.records, tree, keep=True, check=check)] if tree else []


def _open_uncommitted(workspace: Workspace, manifest: Manifest, job: Job) -> list[Overlay]:
    """Open the staged tree, the working tree, or both, unless they equal the tree of the run."""
    overlays = []
    for selection in job.uncommitted:
        with TreeReader(workspace.location, selection) as reader:
            tree = reader.read()
        overlay = open_tree(workspace._replace(location=tree.location), tree, manifest)
        if overlay.changes or overlay.view.tree != job.tree:
            overlays.append(overlay)
    return overlays


class _Start(NamedTuple):
    """Manifest to extend, the reason for a rebuild ("" if nothing is rebuilt), and the segments that are open."""

    manifest: Manifest
    rebuilt: str
    segments: Sequence[Segment] = ()


def _starting_point(workspace: Workspace, old: Manifest | None, fingerprint: str, job: Job) -> _Start:
    if old is None:
        return _Start(empty_manifest(None, fingerprint), "")
    if job.full:
        start = _unfinished_start(workspace, old, fingerprint)
        return _drop_damaged(workspace, start, check=job.check)._replace(rebuilt=job.reason)
    if old.fingerprint != fingerprint:
        return _Start(
            empty_manifest(old, fingerprint), "the format, the chunker, a setting of it or the model has changed"
        )
    return _drop_damaged(workspace, old, check=job.check)


def _unfinished_start(workspace: Workspace, old: Manifest | None, fingerprint: str) -> Manifest:
    """Return the manifest that a full run extends: that of an interrupted one, else one without segments."""
    unfinished = find_unfinished(workspace.paths)
    generation = old.generation if old else 0
    if unfinished is None or unfinished.fingerprint != fingerprint:
        return empty_manifest(old, fingerprint)
    if unfinished.complete and generation >= unfinished.generation:  # that run has ended: this one is another
        return empty_manifest(old, fingerprint)
    return unfinished._replace(
        generation=max(generation, unfinished.generation), views=(), complete=False, graph=""
    )  # fmt: skip


def _drop_damaged(workspace: Workspace, manifest: Manifest, *, check: bool) -> _Start:
    """Drop lost segments, with `check` also damaged ones; the reason is "" if there are none."""
    snapshot = Snapshot(workspace.paths, manifest)
    intact = {segment.path.name for segment in snapshot.segments if not check or _is_intact(segment)}
    if len(intact) < len(manifest.segments):
        # The views go too: they would claim that trees are indexed whose rows are lost.
        rest = manifest.with_segments(entry for entry in manifest.segments if entry.name in intact)._replace(views=())
        return _Start(rest, "; ".join(snapshot.lost) or "a segment failed its checksum", snapshot.segments)
    return _Start(manifest, "", snapshot.segments)


def _drop_lost_views(workspace: Workspace, manifest: Manifest, *, check: bool) -> Manifest:
    """Return a manifest without views if the last one cannot be opened: it was lost, or made by an older version.

    With `check` return it without all damaged views.
    """
    with suppress(DamagedFile):
        if not check and (not manifest.views or find_view(workspace.paths.view(manifest.views[-1])) is not None):
            return manifest
    kept = tuple(key for key in manifest.views if check and _is_intact_view(workspace.paths.view(key)))
    return manifest if kept == manifest.views else manifest._replace(views=kept)


def _is_intact_view(file: Path) -> bool:
    try:
        view = find_view(file)
        if view is not None:
            view.check()
    except DamagedFile:
        return False
    return view is not None


def _is_intact(segment: Segment) -> bool:
    try:
        segment.check_blocks()
    except DamagedFile:
        return False
    return True


def _problems(views: Iterable[View], outcome: RunResult) -> list[str]:
    """Return a line for each blob that could not be read, chunked or embedded, under the first path that has it."""
    wanted = {*outcome.unreadable, *outcome.failed, *outcome.refused}
    paths: dict[str, str] = {}
    for view in views if wanted else ():
        for oid in wanted - paths.keys():
            entries = np.flatnonzero((view.oids == np.frombuffer(bytes.fromhex(oid), np.uint8)).all(axis=1))
            if len(entries):
                paths[oid] = path_text(view.path(int(entries[0])))
    lines = [
        f"{paths.get(oid, oid)}: the blob {oid[:12]} cannot be read (missing or damaged)" for oid in outcome.unreadable
    ]
    lines += [f"{paths.get(oid, oid)}: embedding failed: {reason}" for oid, reason in outcome.refused.items()]
    return lines + [
        f"{paths.get(oid, oid)}: chunking failed, the file is skipped" + (f": {reason}" if reason else "")
        for oid, reason in outcome.failed.items()
    ]


def count_view(report: IndexReport, view: View, snapshot: Snapshot) -> None:
    """Add the paths of a view to a report by their outcome in the index, and count its chunks."""
    report.files = len(view)
    codes = np.bincount(view.reasons, minlength=len(REASONS))
    reasons = {REASONS[code]: int(paths) for code, paths in enumerate(codes) if paths and code != INDEXED}
    report.skipped.update(reasons)
    matches = snapshot.match(view)
    # Paths with the same content share their chunks.
    paths_of_blob = np.bincount(matches[matches >= 0], minlength=len(snapshot.blob_first) - 1)
    # Until the caller subtracts the embedded blobs, every blob of the view counts as reused.
    report.reused = int(np.count_nonzero(paths_of_blob))
    report.chunks_in_view = int(differences(snapshot.blob_first)[paths_of_blob > 0].sum())
    bases = snapshot.blob_bases
    for segment, first, end in zip(snapshot.segments, bases.tolist(), bases[1:].tolist(), strict=False):
        _count_segment(report, segment, paths_of_blob[first:end])


def _count_segment(report: IndexReport, segment: Segment, paths_of_blob: NDArray[np.int64]) -> None:
    """Add the blobs of a segment to a report, each once for every path of the view that has it."""
    # One bincount over (outcome, language) pairs instead of a Python step for each blob.
    pairs = segment.outcomes.astype(np.int64) * len(segment.languages) + segment.blob_languages
    for pair, paths in enumerate(np.bincount(pairs, paths_of_blob).astype(np.int64).tolist()):
        if not paths:
            continue
        code, language_code = divmod(pair, len(segment.languages))
        outcome, language = OUTCOMES[code], segment.languages[language_code]
        if outcome == "parsed":
            report.parsed[language] += paths
        elif outcome == "text":
            report.as_text[language] += paths
        else:
            report.skipped[outcome] += paths
