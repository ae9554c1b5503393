"""Index one tree while holding the writer lock: compare, digest the missing blobs, compact, publish.

`refresh` decides whether there is anything to do. This module imports numpy, the worker pool and the views, so
`refresh` imports it only then.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gitmem.errors import DamagedFile
from gitmem.freshness.cancellation import StoppableRun, stoppable
from gitmem.freshness.index_report import IndexReport
from gitmem.freshness.memory_view import records_tree
from gitmem.freshness.tree_selection import TreeReader, TreeSelection
from gitmem.freshness.tree_view import open_tree
from gitmem.git.path_encoding import path_text
from gitmem.indexing.compact import compact
from gitmem.indexing.fingerprint import current_fingerprint, gives_equal_vectors, view_key
from gitmem.indexing.index_writer import IndexWriter, find_unfinished
from gitmem.indexing.memory_budget import MemoryBudget
from gitmem.indexing.missing_blobs import find_missing_blobs
from gitmem.indexing.overlay import Overlay
from gitmem.indexing.record_views import open_records
from gitmem.indexing.retention import VIEW_GRACE_SECONDS
from gitmem.indexing.run import Progress, Run, empty_manifest
from gitmem.indexing.views import ensure_view
from gitmem.leftover_files import LEFTOVER_SECONDS, sweep_leftovers
from gitmem.store.columns import OUTCOMES
from gitmem.store.manifest import Manifest, SegmentEntry
from gitmem.store.segment import Segment
from gitmem.store.snapshot import Snapshot
from gitmem.store.view_file import INDEXED, REASONS, View
from gitmem.workspace import Workspace


class Job(NamedTuple):
    """Parameters of a run, see `refresh`."""

    tree: str
    uncommitted: tuple[TreeSelection, ...]
    full: bool
    check: bool
    resume: str


def index_tree(workspace: Workspace, writer: IndexWriter, job: Job, report: Callable[[Progress], None]) -> IndexReport:
    """Run; if a damaged file turns up, run again with `check`, which replaces damaged files."""
    with stoppable(workspace.paths, report, resume=job.resume) as stoppable_run:
        try:
            return _index_tree(workspace, writer, job, stoppable_run)
        except DamagedFile:
            if job.check:
                raise
        return _index_tree(workspace, writer, job._replace(check=True), stoppable_run)


def _index_tree(workspace: Workspace, writer: IndexWriter, job: Job, stoppable_run: StoppableRun) -> IndexReport:
    location, paths, settings = workspace.location, workspace.paths, workspace.settings
    budget = MemoryBudget(settings.max_memory)
    for folder in (paths.root, paths.segments):
        sweep_leftovers(folder)
    sweep_leftovers(paths.views, grace=LEFTOVER_SECONDS)  # queries write views too, without a lock
    old = writer.manifest
    result = IndexReport(job.tree, chunks_before=old.rows if old else 0)
    manifest, result.rebuilt = _starting_point(workspace, old, current_fingerprint(settings.max_file_bytes), job)
    latest = manifest.views[-1] if manifest.views else ""
    views = [ensure_view(location, paths, job.tree, check=job.check, base=latest)]
    overlays = _open_uncommitted(workspace, manifest, job.uncommitted)
    views += [overlay.view for overlay in overlays]
    files = {oid: path for overlay in overlays for oid, path in overlay.files.items()}
    before = Snapshot(paths, manifest)
    all_views = [*views, *_open_memory(workspace, check=job.check)]
    missing = list(dict.fromkeys(item for view in all_views for item in find_missing_blobs(view, before, retry=True)))
    key = view_key(job.tree)
    if missing:
        run = Run(
            location, paths, max_file_bytes=settings.max_file_bytes, jobs=settings.jobs, files=files, budget=budget
        )
        publish = _publish_progress(writer) if job.full else writer.publish
        stop, report = stoppable_run
        outcome = run.execute(
            missing, manifest, publish=publish, report=report, stop=stop,
            former=_former_segments(old, manifest, job),
        )  # fmt: skip
        manifest, result.chunks_added, result.text_bytes = outcome.manifest, outcome.rows, outcome.bytes
        result.problems = _problems(all_views, outcome.unreadable, outcome.failed)
        result.worker_losses = outcome.losses
    elif manifest is old and old.complete and latest == key:
        return _describe_current(job, views[-1], before)
    manifest = compact(paths, manifest, before=before.manifest.segments)
    # A tree with unreadable blobs is not listed as indexed: the next run tries them again.
    manifest = manifest.as_complete() if result.problems else manifest.with_view(key)
    _publish(writer, manifest, key, full=job.full)
    result.embedded = len(missing)
    _count_view(result, views[-1], Snapshot(paths, manifest))
    result.reused = max(0, result.reused - result.embedded)
    result.chunks, result.index_bytes = manifest.rows, manifest.bytes
    return result


def _former_segments(old: Manifest | None, manifest: Manifest, job: Job) -> Sequence[SegmentEntry]:
    """Return segments of another fingerprint from which vectors may be taken."""
    if old is None or job.full or not gives_equal_vectors(old.fingerprint, manifest.fingerprint):
        return ()
    # Under other rules for secrets most texts are as they were: only the changed ones are embedded again.
    return old.segments


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
    _count_view(result, view, snapshot)
    result.chunks_before = result.chunks = snapshot.manifest.rows
    result.index_bytes = snapshot.manifest.bytes
    return result


def _open_memory(workspace: Workspace, *, check: bool) -> list[View]:
    """Return the view of the memory's records, or nothing if it is empty."""
    tree = records_tree(workspace)
    return [open_records(workspace.location, workspace.paths.records, tree, keep=True, check=check)] if tree else []


def _open_uncommitted(workspace: Workspace, manifest: Manifest, selections: Iterable[TreeSelection]) -> list[Overlay]:
    """Open the staged tree, the working tree, or both."""
    overlays = []
    for selection in selections:
        with TreeReader(workspace.location, selection) as reader:
            tree = reader.read()
        overlays.append(open_tree(workspace._replace(location=tree.location), tree, manifest))
    return overlays


def _starting_point(workspace: Workspace, old: Manifest | None, fingerprint: str, job: Job) -> tuple[Manifest, str]:
    """Return the manifest to extend, and the reason for a rebuild, "" if nothing is rebuilt."""
    if old is None:
        return empty_manifest(None, fingerprint), ""
    if job.full:
        start = _unfinished_start(workspace, old, fingerprint)
        return _drop_damaged(workspace, start, check=job.check)[0], "requested by --full"
    if old.fingerprint != fingerprint:
        return empty_manifest(old, fingerprint), "the model or the chunker has changed"
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


def _drop_damaged(workspace: Workspace, manifest: Manifest, *, check: bool) -> tuple[Manifest, str]:
    """Return a manifest without lost segments, with `check` also without damaged ones, and the reason if any went."""
    snapshot = Snapshot(workspace.paths, manifest)
    intact = {segment.path.name for segment in snapshot.segments if not check or _is_intact(segment)}
    if len(intact) < len(manifest.segments):
        # The views go too: they would claim that trees are indexed whose rows are lost.
        rest = manifest.with_segments(entry for entry in manifest.segments if entry.name in intact)._replace(views=())
        return rest, "; ".join(snapshot.lost) or "a segment failed its checksum"
    return manifest, ""


def _is_intact(segment: Segment) -> bool:
    try:
        segment.check_blocks()
    except DamagedFile:
        return False
    return True


def _problems(views: Iterable[View], unreadable: list[str], failed: Mapping[str, str]) -> list[str]:
    """Return a line for each blob that could not be read or chunked, under the first path that has it."""
    wanted = {*unreadable, *failed}
    paths: dict[str, str] = {}
    for view in views if wanted else ():
        for entry in range(len(view)):
            if (oid := view.oid(entry)) in wanted:
                paths.setdefault(oid, path_text(view.paths[entry]))
    lines = [f"{paths.get(oid, oid)}: the blob {oid[:12]} cannot be read (missing or damaged)" for oid in unreadable]
    return lines + [
        f"{paths.get(oid, oid)}: chunking failed, the file is skipped" + (f": {reason}" if reason else "")
        for oid, reason in failed.items()
    ]


def _count_view(report: IndexReport, view: View, snapshot: Snapshot) -> None:
    """Add the paths of a view to a report by their outcome in the index, and count its chunks."""
    report.files = len(view)
    codes = np.bincount(view.reasons, minlength=len(REASONS))
    reasons = {REASONS[code]: int(paths) for code, paths in enumerate(codes) if paths and code != INDEXED}
    report.skipped.update(reasons)
    matches = snapshot.match(view)
    indexed = matches[matches >= 0]
    # Until the caller subtracts the embedded blobs, every blob of the view counts as reused.
    blobs = np.unique(indexed)
    report.reused = len(blobs)
    # Paths with the same content share their chunks.
    report.chunks_in_view = int((snapshot.blob_first[blobs + 1] - snapshot.blob_first[blobs]).sum())
    bases = snapshot.blob_bases
    for segment, first, end in zip(snapshot.segments, bases.tolist(), bases[1:].tolist(), strict=False):
        _count_segment(report, segment, indexed[(indexed >= first) & (indexed < end)] - first)


def _count_segment(report: IndexReport, segment: Segment, blobs: NDArray[np.int64]) -> None:
    """Add blobs of a segment to a report, each once for every path of the view that has it."""
    # One bincount over (outcome, language) pairs instead of a Python step for each blob.
    pairs = segment.outcomes[blobs].astype(np.int64) * len(segment.languages) + segment.blob_languages[blobs]
    for pair, paths in enumerate(np.bincount(pairs).tolist()):
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
