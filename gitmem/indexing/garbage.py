"""Garbage collection: rewrite segments without the rows of unreachable blobs, and forget views that are incomplete.

The caller determines the reachable blobs from git's refs, reflogs and working trees (mark). Here the segments are
copied without the others (sweep). A segment never changes in place: new segments are written under new names, and
`index_writer` publishes them before it removes the old ones.
"""

import time
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

import numpy as np

from gitmem.arrays import NDArray, differences
from gitmem.errors import DamagedFile, NewerFormat, StorageFailed
from gitmem.indexing.compact import rewrite_without
from gitmem.indexing.retention import Removed, remove_unnamed
from gitmem.paths import UNCOMMITTED, IndexPaths
from gitmem.store.manifest import Manifest, SegmentEntry
from gitmem.store.segment import Segment, find_segment
from gitmem.store.snapshot import Snapshot
from gitmem.store.stored_view import find_view
from gitmem.store.uncommitted_ids import read_uncommitted

_DAY: Final = 86_400.0

LARGE_ROWS: Final = 1 << 15
TOLERATED_SHARE: Final = 1 / 16
"""Share of unreachable rows that garbage collection leaves in a segment of `LARGE_ROWS` or more.

Otherwise one dead blob would have hundreds of megabytes written again.
"""


@dataclass(frozen=True, slots=True)
class ShrinkResult:
    """Manifest without unreachable blobs, and counts.

    `blobs` and `chunks` were removed, from `segments` segments; `views` were forgotten. `recent` blobs are unreachable
    too, but stay because they were used lately.
    """

    manifest: Manifest
    blobs: int
    chunks: int
    segments: int
    views: int
    recent: int


def shrink(
    paths: IndexPaths,
    manifest: Manifest,
    reachable: Collection[str],
    recent: Collection[str],
    *,
    write: bool,
    tolerated: float = TOLERATED_SHARE,
) -> ShrinkResult:
    """Remove blobs from a manifest that are neither reachable nor recently used.

    With `write` new segments are written; the caller publishes the manifest. Without it only count. A large segment
    with no more than the share `tolerated` of such rows stays as it is.

    Raises: DamagedFile if a segment cannot be read, because then its blobs are unknown.
    """
    entries: dict[str, SegmentEntry] = {}
    blobs = chunks = segments = recent_blobs = 0
    for entry in manifest.segments:
        segment = _open(paths, entry)
        is_reachable, is_recent = _is_in(segment, reachable), _is_in(segment, recent)
        recent_blobs += int((is_recent & ~is_reachable).sum())
        keep = is_reachable | is_recent
        dead = int(differences(segment.first)[~keep].sum())
        if segment.rows >= LARGE_ROWS and dead <= tolerated * segment.rows:
            keep[:] = True
        if not keep.all():
            blobs += int((~keep).sum())
            chunks += dead
            segments += 1
        rest = rewrite_without(paths, entry, segment, keep) if write else entry
        if rest is not None:
            entries[rest.name] = rest  # by name: two segments may become equal
    shrunk = manifest.with_segments(entries.values()) if segments and write else manifest
    views = _complete_views(paths, shrunk, check_blobs=segments > 0 and write)
    forgotten = len(manifest.views) - len(views)
    if forgotten:
        shrunk = shrunk._replace(views=views, generation=manifest.generation + 1)
    return ShrinkResult(shrunk, blobs, chunks, segments, forgotten, recent_blobs)


def remove_blobs(paths: IndexPaths, manifest: Manifest, oids: bytes) -> ShrinkResult:
    """Remove some blobs from a manifest, reachable or not: their chunks, and the views that have them.

    `oids` are their concatenated ids. New segments are written; the caller publishes the manifest. Raises: as `shrink`.
    """
    entries: dict[str, SegmentEntry] = {}
    blobs = chunks = segments = 0
    for entry in manifest.segments:
        segment = _open(paths, entry)
        keep = ~_is_in(segment, set(_hexadecimal(np.frombuffer(oids, np.uint8).reshape(-1, segment.oids.shape[1]))))
        if not keep.all():
            blobs += int((~keep).sum())
            chunks += int(differences(segment.first)[~keep].sum())
            segments += 1
        # Unlike in `shrink`, a large segment is written again for one blob: the user asked for it.
        rest = rewrite_without(paths, entry, segment, keep)
        if rest is not None:
            entries[rest.name] = rest
    shrunk = manifest.with_segments(entries.values()) if segments else manifest
    views = _complete_views(paths, shrunk, check_blobs=segments > 0)
    return ShrinkResult(shrunk._replace(views=views), blobs, chunks, segments, len(manifest.views) - len(views), 0)


def _open(paths: IndexPaths, entry: SegmentEntry) -> Segment:
    segment = find_segment(paths.segments, entry)
    if segment is None:
        raise DamagedFile(f"`{paths.segment(entry.name)}` is missing", hint="run `gitmem verify --repair`")
    return segment


def _is_in(segment: Segment, oids: Collection[str]) -> NDArray[np.bool_]:
    """Return which blobs of a segment are in a collection, [blobs]."""
    return np.fromiter((oid in oids for oid in _hexadecimal(segment.oids)), bool, segment.blobs)


def _hexadecimal(oids: NDArray[np.uint8]) -> list[str]:
    """Return object ids as text."""
    digits, width = oids.tobytes().hex(), 2 * oids.shape[1]
    return [digits[at : at + width] for at in range(0, len(digits), width)]


def _complete_views(paths: IndexPaths, manifest: Manifest, *, check_blobs: bool) -> tuple[str, ...]:
    """Return the manifest's views that have a file and, with `check_blobs`, whose blobs are all indexed."""
    snapshot = Snapshot(paths, manifest)
    complete = []
    for key in manifest.views:
        with suppress(DamagedFile):
            view = find_view(paths.view(key))
            if view is not None and not (check_blobs and (snapshot.match(view) == -1).any()):
                complete.append(key)
    return tuple(complete)


def used_blobs(paths: IndexPaths, days: int) -> set[str]:
    """Return the blobs used within the last days, whether or not git still has them.

    These are the blobs of every tree whose view was written in that time, and the uncommitted blobs of every working
    tree: those of that time and, regardless of `days`, the present ones.
    """
    # A view never changes, so its modification time is the time it was built.
    oldest = time.time() - days * _DAY
    oids: set[str] = set()
    for file in sorted(paths.views.iterdir()) if paths.views.is_dir() else []:
        with suppress(DamagedFile, NewerFormat, StorageFailed, FileNotFoundError):
            if not file.name.startswith(".") and not file.suffix and file.stat().st_mtime >= oldest:
                view = find_view(file)
                oids.update(_hexadecimal(view.oids) if view is not None else ())
    for file in sorted(paths.state.glob(f"{UNCOMMITTED}*")):
        uncommitted = read_uncommitted(file)
        oids.update(known.oid for known in uncommitted.files.values())
        # A day counts until its end, hence + 1; with 0 days no earlier blob is in use.
        oids.update(oid for oid, day in uncommitted.last_used.items() if (day + 1) * _DAY > oldest and days)
    return oids


def remove_old_uncommitted(paths: IndexPaths, worktrees: Collection[str], days: int) -> Removed:
    """Remove the state of uncommitted files of removed working trees after some days; `worktrees` are the existing."""
    existing = {paths.uncommitted(worktree).name for worktree in worktrees}
    others = {file.name for file in paths.state.iterdir() if not file.name.startswith(UNCOMMITTED)}
    return remove_unnamed(paths.state, existing | others, days * _DAY)
