"""Snapshot: the open segments of one generation, with their rows numbered consecutively.

Concurrent writers do not affect it: segments are immutable, and their files outlive a generation by a grace period. A
missing or damaged segment is left out and reported, so that queries still work on the rest and the next index run
rebuilds it.
"""

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from gitmem.arrays import NDArray
from gitmem.errors import DamagedFile
from gitmem.paths import IndexPaths
from gitmem.store.blob_match import BlobMatcher
from gitmem.store.manifest import Manifest
from gitmem.store.open_segments import OpenSegments
from gitmem.store.segment import Segment, find_segment
from gitmem.store.view_file import View


class Snapshot(OpenSegments):
    """Open segments of a manifest.

    `lost` are messages about missing and damaged segments. Segments that are open already can be passed as `opened`.
    """

    def __init__(self, paths: IndexPaths, manifest: Manifest, opened: Sequence[Segment] = ()) -> None:
        self.manifest = manifest
        self.lost: list[str] = []
        self._matched: tuple[View, NDArray[np.int64]] | None = None
        segments: list[Segment] = []
        known = {segment.path.name: segment for segment in opened}
        for entry in manifest.segments:
            try:
                segment = known.get(entry.name) or find_segment(paths.segments, entry)
            except DamagedFile as problem:
                self.lost.append(problem.message)
                continue
            if segment is None:
                self.lost.append(f"`{paths.segment(entry.name)}` is missing")
            else:
                segments.append(segment)
        super().__init__(segments)

    def match(self, view: View) -> NDArray[np.int64]:
        """Return the blob number of each entry of a view; -1 if it is not indexed yet, -2 if it is excluded.

        The result for the last view is cached, because a query needs it several times.
        """
        if self._matched is None or self._matched[0] is not view:
            blobs = self._matcher.match(view)
            blobs.flags.writeable = False
            self._matched = view, blobs
        return self._matched[1]

    @cached_property
    def _matcher(self) -> BlobMatcher:
        return BlobMatcher(self.segments, self.blob_bases)

    def update_join(self, base: View) -> None:
        """Store the join of a base with the blobs if the stored one lacks many. Raises: StorageFailed."""
        self._matcher.update_join(base, lambda: self.blob_keys)

    def is_join_valid(self, base: View) -> bool:
        """Return whether a base has the same blobs with the stored join as without it."""
        return self._matcher.is_join_valid(base, self.blob_keys)
