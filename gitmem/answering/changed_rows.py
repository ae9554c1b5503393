"""Find the rows that differ between two trees: the innermost chunks that contain a changed line."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from gitmem.git.commit_diffs import LineSpan, read_new_lines
from gitmem.git.locate import RepositoryLocation
from gitmem.store.snapshot import Snapshot
from gitmem.store.view_file import View


def find_changed(
    location: RepositoryLocation, since: str, snapshot: Snapshot, view: View, blob_of: NDArray[np.int64]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return the masks of the entries, [entries], and of the rows, [rows], that differ from the tree `since`.

    A row differs if it is the innermost chunk that contains a line of the difference. `blob_of` is
    `snapshot.match(view)`. Raises GitFailed.
    """
    entries = np.zeros(len(view), bool)
    rows = np.zeros(snapshot.rows, bool)
    for path, lines in read_new_lines(location, since, view.tree).items():
        place = view.find(path)
        if place is None or blob_of[place] < 0:
            continue
        entries[place] = True
        blob = int(blob_of[place])
        # A new or binary file has no line difference: all its chunks changed.
        if lines is None:
            rows[snapshot.blob_first[blob] : snapshot.blob_first[blob + 1]] = True
        else:
            rows[[row for span in lines for row in _touched(snapshot, blob, span)]] = True
    return entries, rows


def _touched(snapshot: Snapshot, blob: int, span: LineSpan) -> set[int]:
    """Return the rows of a blob that a difference touches. A deletion between two chunks touches the one above it."""
    return rows_of_lines(snapshot, blob, [span]) or rows_of_lines(snapshot, blob, [LineSpan(max(span.first, 1), 1)])


def rows_of_lines(snapshot: Snapshot, blob: int, lines: Iterable[LineSpan]) -> set[int]:
    """Return the innermost row of each changed line of a blob. An insertion counts for the row that encloses it."""
    first, last = snapshot.blob_first[blob : blob + 2].tolist()
    spans = snapshot.gather(("line", "lines"), np.arange(first, last))
    start, size = spans["line"].astype(np.int64), spans["lines"].astype(np.int64)
    rows = set()
    for span in lines:
        # An insertion has no old line; the pair of lines between which it lies must belong to the same chunk.
        pairs = [(line, line) for line in range(span.first, span.first + span.size)] or [(span.first, span.first + 1)]
        for above, below in pairs:
            enclosing = np.flatnonzero((start <= above) & (start + size > below))
            if len(enclosing):
                rows.add(first + int(enclosing[np.argmin(size[enclosing])]))
    return rows
