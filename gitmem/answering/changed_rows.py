"""What changed between two trees, as rows of the newer one: the innermost chunks that hold a line of the difference."""

import numpy as np
from numpy.typing import NDArray

from gitmem.answering.labelled_queries import rows_of_lines
from gitmem.git.commit_diffs import Lines, read_new_lines
from gitmem.git.locate import Location
from gitmem.store.snapshot import Snapshot
from gitmem.store.view_file import View


def find_changed(
    location: Location, since: str, snapshot: Snapshot, view: View, blob_of: NDArray[np.int64]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """The entries of a view that differ from the tree `since`, [entries], and the rows that do, [rows].

    `blob_of` is `snapshot.match(view)`. Raises GitFailed.
    """
    entries = np.zeros(len(view), bool)
    rows = np.zeros(snapshot.rows, bool)
    for path, lines in read_new_lines(location, since, view.tree).items():
        place = view.find(path)
        if place is None or blob_of[place] < 0:
            continue
        entries[place] = True
        blob = int(blob_of[place])
        if lines is None:
            rows[snapshot.blob_first[blob] : snapshot.blob_first[blob + 1]] = True
        else:
            rows[[row for span in lines for row in _touched(snapshot, blob, span)]] = True
    return entries, rows


def _touched(snapshot: Snapshot, blob: int, span: Lines) -> set[int]:
    """Rows of a blob that a difference touches; where something went between two chunks, the one before it."""
    return rows_of_lines(snapshot, blob, [span]) or rows_of_lines(snapshot, blob, [Lines(max(span.first, 1), 1)])
