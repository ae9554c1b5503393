"""Keep the number of segments small: merge segments of similar size, without embedding anything again.

Size-tiered compaction, as in a log-structured merge tree (O'Neil et al. 1996): sizes fall into tiers by powers of four.
When a tier holds `FAN` segments that fit into one, they become one segment of the next tier. An index of n rows
therefore has about `FAN` segments per tier, and every row is rewritten only once per tier, O(log n) times in its life.
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
"""Number of segments that are merged into one."""

_SMALLEST_TIER_ROWS: Final = 64
"""All smaller segments share a tier: most commits add only a few rows."""


def compact(paths: IndexPaths, manifest: Manifest) -> Manifest:
    """Merge the segments of full tiers and return the new manifest, which the caller publishes."""
    while group := _find_group(manifest.segments):  # a merge may fill the next tier
        segments = [segment for entry in group if (segment := find_segment(paths.segments, entry))]
        rows = drop_duplicates(concatenate([segment.load_rows() for segment in segments]))
        merged = write_segment(paths.segments, rows)
        names = {entry.name for entry in group}
        manifest = manifest.with_segments([*(entry for entry in manifest.segments if entry.name not in names), merged])
    return manifest


def _find_group(segments: tuple[SegmentEntry, ...]) -> list[SegmentEntry]:
    """Return the segments of one full tier, the smallest first, as many as fit into one segment."""
    tiers: dict[int, list[SegmentEntry]] = defaultdict(list)
    for entry in segments:
        tiers[max(entry.rows, _SMALLEST_TIER_ROWS).bit_length() // 2].append(entry)
    for members in tiers.values():
        # The smallest first: they gain most from a merge, and one large segment does not keep the others apart.
        group: list[SegmentEntry] = []
        for entry in sorted(members, key=lambda entry: (entry.rows, entry.name)):
            if sum(known.rows for known in group) + entry.rows > MAX_ROWS:
                break
            group.append(entry)
        if len(group) >= FAN:
            return group
    return []


def drop_duplicates(rows: Rows) -> Rows:
    """Keep each blob once. Of several attempts at a blob the one that read it is kept, in any order of the rows."""
    was_read = ~np.isin(rows.blobs.outcomes, RETRIED)
    # A stable sort puts attempts that read the blob last, so they overwrite the others in the dictionary.
    last = {rows.blobs.keys[place]: place for place in np.argsort(was_read, kind="stable").tolist()}
    if len(last) == len(rows.blobs.keys):
        return rows
    keep = np.zeros(len(rows.blobs.keys), bool)
    keep[list(last.values())] = True
    return select_blobs(rows, keep)


def rewrite_without(
    paths: IndexPaths, entry: SegmentEntry, segment: Segment, keep: "NDArray[np.bool_]"
) -> SegmentEntry | None:
    """Return the segment with only the blobs marked in `keep`: itself, a new one, or None if no blob is left."""
    if keep.all():
        return entry
    if not keep.any():
        return None
    return write_segment(paths.segments, select_blobs(segment.load_rows(), keep))
