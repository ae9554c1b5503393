"""Removing what no longer counts: rows of blobs that nothing reaches, and files that no generation names any more.

New files first, then the manifest, and only then the old files: a reader or a kill at any moment meets a whole index.
"""

import time
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gitmem.errors import DamagedFile, NewerFormat, StorageFailed
from gitmem.indexing.compact import rewrite_without
from gitmem.indexing.retention import Removed, remove_unnamed
from gitmem.paths import UNCOMMITTED, IndexPaths
from gitmem.store.manifest import Manifest, SegmentEntry
from gitmem.store.segment import Segment, find_segment
from gitmem.store.snapshot import Snapshot
from gitmem.store.uncommitted_ids import read_uncommitted
from gitmem.store.view_file import find_view

_DAY: Final = 86_400.0


@dataclass(slots=True)
class ShrinkResult:
    """A manifest without what nothing reaches, and what that took out of it. `recent` blobs, which nothing reaches
    either, stay for having been used lately."""

    manifest: Manifest
    blobs: int = 0
    chunks: int = 0
    segments: int = 0
    views: int = 0
    recent: int = 0


def shrink(
    paths: IndexPaths, manifest: Manifest, reachable: Collection[str], recent: Collection[str], *, write: bool
) -> ShrinkResult:
    """Take blobs out of a manifest that are neither reachable nor recently used.

    With `write` new segments are written, the manifest itself is not.

    Raises DamagedFile: what cannot be read cannot be judged.
    """
    made = ShrinkResult(manifest)
    kept: dict[str, SegmentEntry] = {}
    for entry in manifest.segments:
        segment = _open(paths, entry)
        reached, used = _among(segment, reachable), _among(segment, recent)
        made.recent += int((used & ~reached).sum())
        keep = reached | used
        if not keep.all():
            made.blobs += int((~keep).sum())
            made.chunks += int(np.diff(segment.first)[~keep].sum())
            made.segments += 1
        rest = rewrite_without(paths, entry, segment, keep) if write else entry
        if rest is not None:
            kept[rest.name] = rest
    if made.segments and write:
        manifest = manifest.with_segments(kept.values())
    views = _whole_views(paths, manifest, made.segments > 0 and write)
    made.views = len(manifest.views) - len(views)
    if made.views:
        manifest = manifest._replace(views=views, generation=made.manifest.generation + 1)
    made.manifest = manifest
    return made


def _open(paths: IndexPaths, entry: SegmentEntry) -> Segment:
    segment = find_segment(paths.segments, entry)
    if segment is None:
        raise DamagedFile(f"`{paths.segment(entry.name)}` is missing", hint="run `gitmem verify --repair`")
    return segment


def _among(segment: Segment, oids: Collection[str]) -> NDArray[np.bool_]:
    ids = (oid.tobytes().hex() for oid in segment.oids)
    return np.fromiter((oid in oids for oid in ids), bool, segment.blobs)


def used_blobs(paths: IndexPaths, days: int) -> set[str]:
    """Blobs that were in use within the last days, whether or not git still knows them.

    Those of every tree whose view was made in that time, and the uncommitted ones of every working tree: what there was
    in that time, and what there is now.
    """
    oldest = time.time() - days * _DAY
    found: set[str] = set()
    for file in sorted(paths.views.iterdir()):
        with suppress(DamagedFile, NewerFormat, StorageFailed, FileNotFoundError):
            if not file.name.startswith(".") and file.stat().st_mtime >= oldest:
                view = find_view(file)
                found.update(map(view.oid, range(len(view))) if view is not None else ())
    for file in sorted(paths.state.glob(f"{UNCOMMITTED}*")):
        record = read_uncommitted(file)
        found.update(known.oid for known in record.files.values())
        found.update(oid for oid, day in record.last_used.items() if (day + 1) * _DAY > oldest and days)
    return found


def _whole_views(paths: IndexPaths, manifest: Manifest, shrunk: bool) -> tuple[str, ...]:
    """Views of the manifest that have a file and, where segments shrank, are still wholly indexed."""
    snapshot = Snapshot(paths, manifest)
    whole = []
    for key in manifest.views:
        with suppress(DamagedFile):
            view = find_view(paths.view(key))
            if view is not None and not (shrunk and (snapshot.match(view) == -1).any()):
                whole.append(key)
    return tuple(whole)


def remove_old_records(paths: IndexPaths, worktrees: Collection[str], days: int) -> Removed:
    """Remove what was uncommitted in working trees that are gone, if that is long ago; `worktrees` are those there."""
    named = {paths.uncommitted(worktree).name for worktree in worktrees}
    others = {file.name for file in paths.state.iterdir() if not file.name.startswith(UNCOMMITTED)}
    return remove_unnamed(paths.state, named | others, days * _DAY)
