"""Keep the number of segments small: merge segments of similar size, without embedding anything again.

Size-tiered compaction, as in a log-structured merge tree (O'Neil et al. 1996): sizes fall into tiers by powers of
eight. When a tier holds `FAN` segments that fit into one, they become one segment of the next tier. An index of n rows
therefore has at most `FAN - 1` segments per tier, and every row is rewritten only once per tier, O(log n) times in its
life. A merge streams its rows, so its memory does not grow with them.
"""

import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

import numpy as np

from gitmem.arrays import NDArray, is_among
from gitmem.errors import DamagedFile, StorageFailed
from gitmem.paths import IndexPaths
from gitmem.store.columns import RETRIED
from gitmem.store.manifest import Manifest, SegmentEntry
from gitmem.store.segment import MAX_ROWS, Segment, find_segment
from gitmem.store.segment_writer import SegmentSource, write_sources

FAN: Final = 8
"""Number of segments that are merged into one."""

SMALL_ROWS: Final = 1000
"""Rows that any writer may merge at once while others wait for it: less than a megabyte."""

_TIER_BITS: Final = 3
_SMALLEST_TIER_ROWS: Final = 64
"""All smaller segments share a tier: most commits add only a few rows."""


def compact(paths: IndexPaths, manifest: Manifest, *, before: Iterable[SegmentEntry] | None = None) -> Manifest:
    """Merge what is cheap in proportion to the run, and return the new manifest, which the caller publishes.

    The segments that the run has written, all but those in `before`, become one. Of full tiers, those are merged that
    have at most `SMALL_ROWS` rows, or twice as many as the run has written. `find_group` finds the others.
    """
    old = set(manifest.segments if before is None else before)
    written = [entry for entry in manifest.segments if entry not in old]
    limit = max(SMALL_ROWS, 2 * sum(entry.rows for entry in written))
    for group in _fill_segments(written):
        manifest = replace_group(manifest, group, merge(paths, group, paths.segments))
    while group := find_group(manifest.segments, limit):  # a merge may fill the next tier
        manifest = replace_group(manifest, group, merge(paths, group, paths.segments))
    return manifest


def _fill_segments(entries: Sequence[SegmentEntry]) -> list[list[SegmentEntry]]:
    """Divide segments into groups of two or more that fit into one segment each; their order is kept."""
    groups: list[list[SegmentEntry]] = []
    room = 0
    for entry in entries:
        if not groups or entry.rows > room:
            groups.append([])
            room = MAX_ROWS
        groups[-1].append(entry)
        room -= entry.rows
    return [group for group in groups if len(group) > 1]


def find_group(segments: Sequence[SegmentEntry], limit: int = MAX_ROWS) -> list[SegmentEntry]:
    """Return the segments of a full tier, the smallest first, as many as fit into one segment of `limit` rows."""
    tiers: dict[int, list[SegmentEntry]] = defaultdict(list)
    for entry in segments:
        tiers[(max(entry.rows, _SMALLEST_TIER_ROWS).bit_length() - 1) // _TIER_BITS].append(entry)
    for _, members in sorted(tiers.items()):
        # The smallest first: they gain most from a merge, and one large segment does not keep the others apart.
        group: list[SegmentEntry] = []
        for entry in sorted(members, key=lambda entry: (entry.rows, entry.name)):
            if sum(known.rows for known in group) + entry.rows > min(limit, MAX_ROWS):
                break
            group.append(entry)
        if len(group) >= FAN:
            return group
    return []


def merge(
    paths: IndexPaths, group: Sequence[SegmentEntry], scratch: Path, check_stop: Callable[[], None] = lambda: None
) -> SegmentEntry:
    """Write the rows of some segments as one, with the temporary file in the folder `scratch`.

    Raises: DamagedFile, StorageFailed, and what `check_stop` raises between two parts.
    """
    segments = [_open(paths, entry) for entry in group]
    _require_space(paths, sum(entry.bytes for entry in group))
    sources = [SegmentSource(segment, keep) for segment, keep in zip(segments, find_current(segments), strict=True)]
    return write_sources(paths.segments, sources, scratch, check_stop)


def rewrite_without(
    paths: IndexPaths, entry: SegmentEntry, segment: Segment, keep: NDArray[np.bool_]
) -> SegmentEntry | None:
    """Return the segment with only the blobs marked in `keep`: itself, a new one, or None if no blob is left."""
    if keep.all():
        return entry
    if not keep.any():
        return None
    return write_sources(paths.segments, [SegmentSource(segment, keep)], paths.segments)


def replace_group(manifest: Manifest, group: Sequence[SegmentEntry], merged: SegmentEntry) -> Manifest:
    """Return the next generation, in which one segment replaces a group: at the place of its first one."""
    names = {entry.name for entry in group} | {merged.name}
    first = min(place for place, entry in enumerate(manifest.segments) if entry.name in names)
    rest = [entry for entry in manifest.segments if entry.name not in names]
    return manifest.with_segments([*rest[:first], merged, *rest[first:]])


def find_current(segments: Sequence[Segment]) -> list[NDArray[np.bool_]]:
    """Return which blobs of some segments to keep: each blob once, of several attempts at it one that read it."""
    codes = {name: code for code, name in enumerate(sorted({name for item in segments for name in item.languages}))}
    keys = np.concatenate([_identities(segment, codes) for segment in segments])
    outcomes = np.concatenate([segment.outcomes for segment in segments])
    # Attempts that read the blob come last, and so does the latest of several: the sort is stable.
    order = np.lexsort((~is_among(outcomes, RETRIED), *keys.T))
    is_last = np.append((keys[order][1:] != keys[order][:-1]).any(axis=1), [True])[: len(order)]
    keep = np.zeros(len(keys), bool)
    keep[order[is_last]] = True
    return np.split(keep, np.cumsum([segment.blobs for segment in segments])[:-1])


def _identities(segment: Segment, codes: Mapping[str, int]) -> NDArray[np.uint64]:
    """Return object id and requested language of each blob as numbers, [blobs, 5]."""
    padded = np.zeros((segment.blobs, 40), np.uint8)
    padded[:, : segment.oids.shape[1]] = segment.oids
    identities: NDArray[np.uint64] = padded.view(np.uint64)
    identities[:, 4] = np.array([codes[name] for name in segment.languages] or [0], np.uint64)[segment.asked]
    return identities


def _open(paths: IndexPaths, entry: SegmentEntry) -> Segment:
    segment = find_segment(paths.segments, entry)
    if segment is None:
        raise DamagedFile(f"`{paths.segment(entry.name)}` is missing", hint="run `gitmem verify --repair`")
    return segment


def _free_bytes(paths: IndexPaths) -> int:
    status = os.statvfs(paths.segments)
    return status.f_bavail * status.f_frsize


def _require_space(paths: IndexPaths, size: int) -> None:
    """Raise StorageFailed if the disk has no room for a merge: it would only fail after it has filled the disk."""
    if _free_bytes(paths) < size:
        raise StorageFailed(f"not enough space in `{paths.segments}` for a merge", hint="free some space on that disk")
