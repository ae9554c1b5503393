"""Keeping the number of segments small: those of like size are joined, without embedding anything again.

Sizes fall into classes by powers of four. When a class holds `FAN` segments that fit into one, they become one of the
next class, so an index of n rows has about FAN segments a class and every row is rewritten a few times in its life.
"""

from collections import defaultdict
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gitmem.paths import IndexPaths
from gitmem.store.columns import RETRIED
from gitmem.store.manifest import Manifest, SegmentEntry
from gitmem.store.rows import Rows, concatenate, select_blobs
from gitmem.store.segment import MAX_ROWS, Segment, find_segment, write_segment

FAN: Final = 6


def compact(paths: IndexPaths, manifest: Manifest) -> Manifest:
    """Join segments where a class has grown too full; the manifest returned is not yet written."""
    while group := _find_group(manifest.segments):
        opened = [segment for entry in group if (segment := find_segment(paths.segments, entry))]
        joined = write_segment(
            paths.segments, without_repeats(concatenate([segment.load_rows() for segment in opened]))
        )
        names = {entry.name for entry in group}
        manifest = manifest.with_segments([*(entry for entry in manifest.segments if entry.name not in names), joined])
    return manifest


def _find_group(segments: tuple[SegmentEntry, ...]) -> list[SegmentEntry]:
    classes: dict[int, list[SegmentEntry]] = defaultdict(list)
    for entry in segments:
        classes[max(entry.rows, 64).bit_length() // 2].append(entry)
    for members in classes.values():
        group: list[SegmentEntry] = []
        for entry in sorted(members, key=lambda entry: (entry.rows, entry.name)):
            if sum(known.rows for known in group) + entry.rows > MAX_ROWS:
                break
            group.append(entry)
        if len(group) >= FAN:
            return group
    return []


def without_repeats(rows: Rows) -> Rows:
    """Keep each blob once: of one that was tried again the try that read it, whichever came last."""
    read = ~np.isin(rows.blobs.outcomes, RETRIED)
    last = {rows.blobs.keys[place]: place for place in np.argsort(read, kind="stable").tolist()}
    if len(last) == len(rows.blobs.keys):
        return rows
    keep = np.zeros(len(rows.blobs.keys), bool)
    keep[list(last.values())] = True
    return select_blobs(rows, keep)


def rewrite_without(
    paths: IndexPaths, entry: SegmentEntry, segment: Segment, keep: "NDArray[np.bool_]"
) -> SegmentEntry | None:
    """The segment with only the blobs marked in `keep`: itself, a new one, or None where nothing is left."""
    if keep.all():
        return entry
    if not keep.any():
        return None
    return write_segment(paths.segments, select_blobs(segment.load_rows(), keep))
