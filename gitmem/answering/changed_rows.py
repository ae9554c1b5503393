"""Find the rows that differ between two trees: the innermost chunks that contain a changed line."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from gitmem.arrays import NDArray
from gitmem.git.commit_diffs import LineSpan, read_new_lines
from gitmem.git.locate import RepositoryLocation
from gitmem.git.objects import open_reader
from gitmem.named_tuple import NamedTuple
from gitmem.store.snapshot import Snapshot
from gitmem.store.view_file import View
from gitmem.types import NOTEBOOK_LANGUAGE, ResultUnit


class Changed(NamedTuple):
    """What differs: masks of the entries, [entries], and of the rows, [rows], and the lines by entry.

    Without lines, all of a file differs.
    """

    entries: NDArray[np.bool_]
    rows: NDArray[np.bool_]
    lines: Mapping[int, Sequence[LineSpan] | None]

    def select_units(self, entry: int, units: tuple[ResultUnit, ...]) -> tuple[ResultUnit, ...]:
        """Return the units of a row that differs that differ themselves: the innermost ones of its changed lines."""
        lines = self.lines[entry]
        if lines is None or not units:
            return units
        start = np.array([unit.start_line for unit in units])
        size = np.array([unit.end_line for unit in units]) - start + 1
        touched = {place for span in lines for place in _touched(start, size, span)}
        return tuple(units[place] for place in sorted(touched))


def find_changed(
    location: RepositoryLocation, since: str, snapshot: Snapshot, view: View, blob_of: NDArray[np.int64]
) -> Changed:
    """Return the entries and rows that differ from the tree `since`.

    A row differs if it is the innermost chunk that contains a line of the difference. `blob_of` is
    `snapshot.match(view)`. Raises GitFailed.
    """
    entries = np.zeros(len(view), bool)
    rows = np.zeros(snapshot.rows, bool)
    changed: dict[int, Sequence[LineSpan] | None] = {}
    for path, new_lines in read_new_lines(location, since, view.tree).items():
        place = view.find(path)
        if place is None or blob_of[place] < 0:
            continue
        lines: Sequence[LineSpan] | None = new_lines
        if lines is not None and view.language(place) == NOTEBOOK_LANGUAGE:
            lines = _cell_lines(location, view.oid(place), lines)
        entries[place] = True
        changed[place] = lines
        blob = int(blob_of[place])
        # A new or binary file has no line difference: all its chunks changed.
        if lines is None:
            rows[snapshot.blob_first[blob] : snapshot.blob_first[blob + 1]] = True
        else:
            start, size = _row_lines(snapshot, blob)
            touched = [place for span in lines for place in _touched(start, size, span)]
            rows[snapshot.blob_first[blob] + np.array(touched, np.int64)] = True
    return Changed(entries, rows, changed)


def _cell_lines(location: RepositoryLocation, oid: str, lines: Sequence[LineSpan]) -> Sequence[LineSpan] | None:
    """Return those of a notebook's changed lines that are in cells; None if its text has other lines than the file."""
    from gitmem.chunking.notebook import HIDDEN, read_notebook  # few trees have notebooks

    with open_reader(location, bulk=False) as reader:
        notebook = read_notebook(reader.read(oid) or b"")
    if notebook is None:
        return lines
    if not notebook.in_place:
        return None
    text = notebook.text.split(b"\n")
    return [
        LineSpan(number, 1)
        for span in lines
        for number in range(max(span.first, 1), max(span.first, 1) + max(span.size, 1))
        if number <= len(text) and text[number - 1] != HIDDEN
    ]


def _touched(start: NDArray[np.int64], size: NDArray[np.int64], span: LineSpan) -> set[int]:
    """Return which chunks of a blob a difference touches. A deletion between two chunks touches the one above it."""
    return _innermost(start, size, [span]) or _innermost(start, size, [LineSpan(max(span.first, 1), 1)])


def rows_of_lines(snapshot: Snapshot, blob: int, lines: Iterable[LineSpan]) -> set[int]:
    """Return the innermost row of each changed line of a blob. An insertion counts for the row that encloses it."""
    first = int(snapshot.blob_first[blob])
    return {first + place for place in _innermost(*_row_lines(snapshot, blob), lines)}


def _row_lines(snapshot: Snapshot, blob: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the first line and the number of lines of each row of a blob."""
    first, last = snapshot.blob_first[blob : blob + 2].tolist()
    spans = snapshot.gather(("line", "lines"), np.arange(first, last))
    return spans["line"].astype(np.int64), spans["lines"].astype(np.int64)


def _innermost(start: NDArray[np.int64], size: NDArray[np.int64], lines: Iterable[LineSpan]) -> set[int]:
    """Return the positions of the innermost chunks of changed lines, given the chunks' first lines and line counts."""
    chunks = set()
    for span in lines:
        # An insertion has no old line; the pair of lines between which it lies must belong to the same chunk.
        pairs = [(line, line) for line in range(span.first, span.first + span.size)] or [(span.first, span.first + 1)]
        for above, below in pairs:
            enclosing = np.flatnonzero((start <= above) & (start + size > below))
            if len(enclosing):
                chunks.add(int(enclosing[np.argmin(size[enclosing])]))
    return chunks
