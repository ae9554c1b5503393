"""Match the entries of a view with the blobs of a snapshot: the join of paths and rows.

Both sides are joined by 64-bit keys. The side with fewer keys is looked up in the sorted keys of the other, so that the
time depends on neither the number of segments nor the size of the larger side. The join of a large tree is stored.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

import numpy as np

from gitmem.arrays import NDArray
from gitmem.named_tuple import NamedTuple
from gitmem.paths import BASE_SUFFIX
from gitmem.store.columns import RETRIED
from gitmem.store.join_file import Join, find_join, write_join
from gitmem.store.segment import Segment
from gitmem.store.view_file import INDEXED, View

MISSING: Final = -1
"""Match of an entry that should be indexed and is not."""

EXCLUDED: Final = -2
"""Match of an entry that must not be found."""

MAX_UNJOINED: Final = 2000
_BLOBS_PER_UNJOINED: Final = 16
"""The stored join is renewed when it lacks more than 2000 blobs, and more than one in 16."""


class _Pairs(NamedTuple):
    """Entries of a view and blobs with equal object ids and languages."""

    entries: NDArray[np.int64]
    blobs: NDArray[np.int64]


class BlobMatcher:
    """Matches views with the blobs of segments; `first` has the number of each segment's first blob, and the end."""

    def __init__(self, segments: Sequence[Segment], first: NDArray[np.int64]) -> None:
        self._segments = segments
        self._first = first
        self._first_by_name = dict(zip((segment.path.name for segment in segments), first.tolist(), strict=False))

    def match(self, view: View) -> NDArray[np.int64]:
        """Return the blob of each entry of a view, else MISSING or EXCLUDED."""
        base = view.base
        join = find_join(base.file, len(base)) if base.file.suffix == BASE_SUFFIX else None
        return view.gather(lambda part: self._match(part, join))

    def update_join(self, base: View, load_keys: Callable[[], NDArray[np.uint64]]) -> None:
        """Store the join of a base again if it lacks many blobs. Raises: StorageFailed.

        `load_keys` returns the keys of all blobs, which takes longer than the rest of a small run.
        """
        join = find_join(base.file, len(base))
        joined = sum(blobs for name, blobs in join.segments.items() if name in self._first_by_name) if join else 0
        count = int(self._first[-1])
        if count - joined > max(MAX_UNJOINED, count // _BLOBS_PER_UNJOINED):
            segments = {segment.path.name: segment.blobs for segment in self._segments}
            write_join(base.file, segments, self._match(base, join), load_keys())

    def is_join_valid(self, base: View, keys: NDArray[np.uint64]) -> bool:
        """Return whether a base has the same blobs with the stored join as without it; `keys` are of all blobs."""
        stored, computed = self._match(base, find_join(base.file, len(base))), self._match(base, None)
        found = stored >= 0
        # Of two blobs with the same content either may be matched.
        return bool((found == (computed >= 0)).all() and (keys[stored[found]] == keys[computed[found]]).all())

    def _match(self, view: View, join: Join | None) -> NDArray[np.int64]:
        """Match a view whose entries are all in one file."""
        matches = np.where(view.reasons == INDEXED, MISSING, EXCLUDED).astype(np.int64)
        numbers = join.renumber(self._first_by_name) if join else None
        if join and numbers is not None:
            if view.file.suffix == BASE_SUFFIX:
                matches = np.where(join.matches >= 0, numbers[join.matches], join.matches)
                # The segment of a blob may be gone while another one has the same blob.
                lost = (join.matches >= 0) & (matches == MISSING)
                if lost.any():
                    self._add(matches, self._match_joined(view, join, numbers, lost))
            else:
                self._add(matches, self._match_joined(view, join, numbers))
        for segment, first in zip(self._segments, self._first.tolist(), strict=False):
            if join is None or segment.path.name not in join.segments:
                self._add(matches, _match_segment(view, segment, first))
        return matches

    def _add(self, matches: NDArray[np.int64], pairs: _Pairs) -> None:
        """Add pairs to matches.

        A blob that could not be read, and was read by a later run, occurs twice: the one that was read is preferred,
        and then the last.
        """
        held = np.flatnonzero(matches[pairs.entries] >= 0)
        replaces = np.ones(len(pairs.entries), bool)
        replaces[held] = self._are_read(pairs.blobs[held]) | ~self._are_read(matches[pairs.entries[held]])
        matches[pairs.entries[replaces]] = pairs.blobs[replaces]

    def _are_read(self, blobs: NDArray[np.int64]) -> NDArray[np.bool_]:
        read = np.ones(len(blobs), bool)
        for segment, own, numbers in self._iter_segments(blobs):
            for outcome in RETRIED:
                read[own] &= segment.outcomes[numbers] != outcome
        return read

    def _iter_segments(
        self, blobs: NDArray[np.int64]
    ) -> Iterator[tuple[Segment, NDArray[np.int64], NDArray[np.int64]]]:
        """Group blobs by segment: yield the segment, their positions in `blobs`, and their numbers in the segment."""
        owners = np.searchsorted(self._first, blobs, side="right") - 1
        for owner in sorted(set(owners.tolist())):
            own = np.flatnonzero(owners == owner)
            yield self._segments[owner], own, blobs[own] - self._first[owner]

    def _match_joined(
        self, view: View, join: Join, numbers: NDArray[np.int64], only: NDArray[np.bool_] | None = None
    ) -> _Pairs:
        """Match a view, or `only` some of its entries, with the segments of a stored join."""
        keys, entries = view.sorted_keys
        if only is not None:
            keys, entries = keys[only[entries]], entries[only[entries]]
        places, wanted = _find_equal(join.sorted_keys, keys)
        blobs = numbers[join.sorted_blobs[places]]
        matched = entries[wanted].astype(np.int64)[blobs >= 0]
        blobs = blobs[blobs >= 0]
        same = np.zeros(len(blobs), bool)
        for segment, own, numbers_in_segment in self._iter_segments(blobs):
            ids = segment.pick_oids(numbers_in_segment)
            same[own] = (ids == view.oids[matched[own]]).all(axis=1)
        # Of repeated entries the last assignment remains, so blobs that were read come last.
        order = np.argsort(self._are_read(blobs[same]), kind="stable")
        return _Pairs(matched[same][order], blobs[same][order])


def _match_segment(view: View, segment: Segment, first: int) -> _Pairs:
    """Match a view with a segment whose blobs are numbered from `first`."""
    keys, entries = view.sorted_keys
    # Sorted even where one side need not be: a search in ascending order stays in the processor's caches.
    order = np.argsort(segment.keys)
    if len(keys) < segment.blobs:
        blobs, places = _find_equal(segment.keys[order], keys)
    else:
        places, blobs = _find_equal(keys, segment.keys[order])
    blobs = order[blobs]
    matched = entries[places].astype(np.int64)
    # A collision of keys costs an entry of the index, but never gives a wrong result.
    same = (segment.oids[blobs] == view.oids[matched]).all(axis=1) & (view.reasons[matched] == INDEXED)
    return _Pairs(matched[same], blobs[same] + first)


def _find_equal(keys: NDArray[np.uint64], wanted: NDArray[np.uint64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return all pairs of positions in `keys`, which are sorted, and in `wanted`, with equal values."""
    starts = np.searchsorted(keys, wanted)
    present = np.flatnonzero(starts < len(keys))
    present = present[keys[starts[present]] == wanted[present]]
    starts = starts[present]
    sizes = np.searchsorted(keys, wanted[present], side="right") - starts
    # Concatenated ranges without a loop: a running number, reset where each range begins, plus its start.
    offsets = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return np.repeat(starts, sizes) + offsets, np.repeat(present, sizes)
