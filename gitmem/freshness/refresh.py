"""Bring the index up to date with a tree: lock, compare, index what is missing, publish."""

import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from gitmem.errors import DamagedFile
from gitmem.freshness.cancellation import ended_gently, stoppable
from gitmem.freshness.currency import holds_tree
from gitmem.fsio import LEFTOVER_SECONDS, sweep_leftovers
from gitmem.git.trees import empty_tree
from gitmem.indexing.index_writer import IndexWriter, open_index_writer, read_manifest_for_writing
from gitmem.indexing.retention import VIEW_GRACE_SECONDS
from gitmem.store.manifest import Manifest
from gitmem.workspace import Workspace, create_index

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from gitmem.indexing.overlay import Overlay
    from gitmem.indexing.run import Progress
    from gitmem.store.segment import Segment
    from gitmem.store.snapshot import Snapshot
    from gitmem.store.view_file import View


@dataclass(slots=True)
class IndexReport:
    """What a run did. Paths are counted in `parsed`, `as_text` and `skipped`; blobs everywhere else."""

    tree: str
    up_to_date: bool = False
    files: int = 0
    parsed: Counter[str] = field(default_factory=Counter)
    as_text: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    embedded: int = 0
    reused: int = 0
    chunks_before: int = 0
    chunks: int = 0
    chunks_in_view: int = 0
    chunks_added: int = 0
    text_bytes: int = 0
    index_bytes: int = 0
    seconds: float = 0.0
    rebuilt: str = ""
    problems: list[str] = field(default_factory=list)

    @property
    def status(self) -> str:
        """success, or partial where a blob could not be read or digested."""
        return "partial" if self.problems else "success"


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
    """Index every blob of a tree that the index lacks. A repository without commits has an empty index.

    `uncommitted` takes up what is staged and what is changed in the working tree as well; `tree` is HEAD's then. `full`
    embeds everything again, `check` reads every checksum first and replaces what is damaged. `on_wait` is called before
    the run waits for another that holds the lock.

    Raises: Busy where another process writes and `wait` is off, Cancelled, StorageFailed, UnsafeIndex, NewerFormat.
    """
    started = time.monotonic()
    create_index(workspace, wait=wait, on_wait=on_wait)
    uncommitted = uncommitted and workspace.location.worktree is not None
    if tree is None and not uncommitted:
        return _refresh_empty(workspace, wait=wait)
    wanted = _Wanted(tree or empty_tree(workspace.location), uncommitted, full, check)
    if not (uncommitted or full or check) and _is_current(workspace, wanted.tree):
        return IndexReport(wanted.tree, up_to_date=True, seconds=time.monotonic() - started)
    with (
        ended_gently(),
        open_index_writer(workspace.paths, wait=wait, on_wait=on_wait, replace_newer=full) as writer,
    ):
        made = _refresh_or_repair(workspace, writer, wanted, report)
    if tree is None and not made.files:
        made.tree = ""
    made.seconds = time.monotonic() - started
    return made


class _Wanted(NamedTuple):
    """What a run was asked for."""

    tree: str
    uncommitted: bool
    full: bool
    check: bool


def _is_current(workspace: Workspace, tree: str) -> bool:
    """Whether there is nothing to do, in an index that was found to be ours just now."""
    manifest = read_manifest_for_writing(workspace.paths)
    return manifest is not None and holds_tree(workspace, manifest, tree)


def _refresh_empty(workspace: Workspace, *, wait: bool) -> IndexReport:
    """A repository without commits: an index without segments, so that the next question finds one."""
    from gitmem.indexing.fingerprint import current_fingerprint

    with open_index_writer(workspace.paths, wait=wait) as writer:
        if writer.manifest is None:
            fingerprint = current_fingerprint(workspace.settings.max_file_bytes)
            writer.publish(Manifest(fingerprint, complete=True))
    return IndexReport("", up_to_date=True)


def _refresh_or_repair(
    workspace: Workspace, writer: IndexWriter, wanted: _Wanted, report: "Callable[[Progress], None]"
) -> IndexReport:
    """A damaged file met on the way is no reason to fail: a second try reads every checksum and makes it anew."""
    try:
        return _refresh_locked(workspace, writer, wanted, report)
    except DamagedFile:
        if wanted.check:
            raise
    return _refresh_locked(workspace, writer, wanted._replace(check=True), report)


def _refresh_locked(
    workspace: Workspace, writer: IndexWriter, wanted: _Wanted, report: "Callable[[Progress], None]"
) -> IndexReport:
    from gitmem.indexing.compact import compact
    from gitmem.indexing.fingerprint import current_fingerprint, view_key
    from gitmem.indexing.plan import missing_blobs
    from gitmem.indexing.run import Run
    from gitmem.indexing.views import ensure_view
    from gitmem.store.snapshot import Snapshot

    location, paths, settings = workspace.location, workspace.paths, workspace.settings
    for folder in (paths.root, paths.segments):
        sweep_leftovers(folder)
    sweep_leftovers(paths.views, grace=LEFTOVER_SECONDS)  # questions write there, too, and take no lock for it
    old = writer.manifest
    made = IndexReport(wanted.tree, chunks_before=old.rows if old else 0)
    manifest, made.rebuilt = _starting_point(workspace, old, current_fingerprint(settings.max_file_bytes), wanted)
    latest = manifest.views[-1] if manifest.views else ""
    views = [ensure_view(location, paths, wanted.tree, check=wanted.check, base=latest)]
    overlays = _open_uncommitted(workspace, manifest) if wanted.uncommitted else []
    views += [overlay.view for overlay in overlays]
    files = {oid: path for overlay in overlays for oid, path in overlay.files.items()}
    before = Snapshot(paths, manifest)
    asked = [*views, *_open_memory(workspace, check=wanted.check)]
    missing = list(dict.fromkeys(item for view in asked for item in missing_blobs(view, before, retry=True)))
    key = view_key(wanted.tree)
    if missing:
        run = Run(location, paths, max_file_bytes=settings.max_file_bytes, jobs=settings.jobs, files=files)
        with stoppable(paths, report) as report_or_stop:
            # A full run replaces the old index only when it is complete.
            publish = None if wanted.full else writer.publish
            result = run.execute(missing, manifest, publish=publish, report=report_or_stop)
        manifest, made.chunks_added, made.text_bytes = result.manifest, result.rows, result.bytes
        made.problems = _problems(asked, result.unreadable, result.failed)
    elif manifest is old and old.complete and latest == key:
        return IndexReport(wanted.tree, up_to_date=True, files=len(views[-1]))
    manifest = compact(paths, manifest)
    manifest = manifest.as_complete() if made.problems else manifest.with_view(key)
    writer.publish(manifest, view_grace=VIEW_GRACE_SECONDS, keep_view=key)
    made.embedded = len(missing)
    _count(made, views[-1], Snapshot(paths, manifest))
    made.reused = max(0, made.reused - made.embedded)
    made.chunks, made.index_bytes = manifest.rows, manifest.bytes
    return made


def _open_memory(workspace: Workspace, *, check: bool) -> "list[View]":
    """The view of the memory's records, where there are any."""
    from gitmem.freshness.memory_view import records_tree
    from gitmem.indexing.record_views import open_records

    tree = records_tree(workspace)
    return [open_records(workspace.location, workspace.paths.records, tree, keep=True, check=check)] if tree else []


def _open_uncommitted(workspace: Workspace, manifest: Manifest) -> "list[Overlay]":
    """The staged tree and the working tree."""
    from gitmem.freshness.tree_selection import STAGED_TREE, WORKING_TREE, TreeReader, open_tree

    overlays = []
    for selection in (STAGED_TREE, WORKING_TREE):
        with TreeReader(workspace.location, selection) as reader:
            tree = reader.read()
        overlays.append(open_tree(workspace._replace(location=tree.location), tree, manifest))
    return overlays


def _starting_point(
    workspace: Workspace, old: Manifest | None, fingerprint: str, wanted: _Wanted
) -> tuple[Manifest, str]:
    """The manifest to add to, and why the index is built anew if it is."""
    from gitmem.indexing.run import empty_manifest
    from gitmem.store.snapshot import Snapshot

    if old is None:
        return empty_manifest(None, fingerprint), ""
    if wanted.full:
        return empty_manifest(old, fingerprint), "asked for"
    if old.fingerprint != fingerprint:
        return empty_manifest(old, fingerprint), "the model or the chunker is another one"
    snapshot = Snapshot(workspace.paths, old)
    sound = {segment.path.name for segment in snapshot.segments if not wanted.check or _is_sound(segment)}
    if len(sound) < len(old.segments):
        kept = old.with_segments(entry for entry in old.segments if entry.name in sound)._replace(views=())
        return kept, "; ".join(snapshot.lost) or "a segment failed its checksum"
    return old, ""


def _is_sound(segment: object) -> bool:
    from gitmem.store.segment import Segment

    assert isinstance(segment, Segment)
    try:
        segment.check_blocks()
    except DamagedFile:
        return False
    return True


def _problems(views: "Iterable[View]", unreadable: list[str], failed: list[str]) -> list[str]:
    if not unreadable and not failed:
        return []
    from gitmem.git.path_encoding import path_text

    paths: dict[str, str] = {}
    for view in views:
        for entry in range(len(view)):
            paths.setdefault(view.oid(entry), path_text(view.paths[entry]))
    lines = [f"{paths.get(oid, oid)}: the blob {oid[:12]} cannot be read (missing or damaged)" for oid in unreadable]
    return lines + [f"{paths.get(oid, oid)}: chunking failed, the file is skipped" for oid in failed]


def _count(made: IndexReport, view: "View", snapshot: "Snapshot") -> None:
    """Share the view's paths out among parsed, text and skipped, as they stand in the index."""
    import numpy as np

    from gitmem.store.view_file import INDEXED, REASONS

    made.files = len(view)
    codes = np.bincount(view.reasons, minlength=len(REASONS))
    made.skipped.update({REASONS[code]: int(times) for code, times in enumerate(codes) if times and code != INDEXED})
    found = snapshot.match(view)
    known = found[found >= 0]
    made.reused = len(np.unique(known))
    made.chunks_in_view = int((snapshot.blob_first[known + 1] - snapshot.blob_first[known]).sum())
    bases = snapshot.blob_bases
    for segment, first, end in zip(snapshot.segments, bases.tolist(), bases[1:].tolist(), strict=False):
        own = known[(known >= first) & (known < end)] - first
        _count_segment(made, segment, own)


def _count_segment(made: IndexReport, segment: "Segment", blobs: "NDArray[np.int64]") -> None:
    """Add blobs of a segment, as often as they stand in the view."""
    import numpy as np

    from gitmem.store.columns import OUTCOMES

    pairs = segment.outcomes[blobs].astype(np.int64) * len(segment.languages) + segment.blob_languages[blobs]
    for pair, times in enumerate(np.bincount(pairs).tolist()):
        if not times:
            continue
        outcome, language = OUTCOMES[pair // len(segment.languages)], segment.languages[pair % len(segment.languages)]
        if outcome == "parsed":
            made.parsed[language] += times
        elif outcome == "text":
            made.as_text[language] += times
        else:
            made.skipped[outcome] += times
