"""Chunks before and after a hit."""

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gitmem.search.adjacent_chunks import find_adjacent_chunks
from gitmem.search.hits import Hit

windows = st.lists(st.tuples(st.integers(6, 20), st.integers(0, 5)), min_size=1, max_size=8)
"""Distance from each window to the next, and their overlap. No window lies inside another."""


class Blob:
    """Snapshot of one blob with some chunks."""

    def __init__(self, spans: list[tuple[int, int]]) -> None:
        self.blob_first = np.array([0, len(spans)])
        self._columns = {
            "start": np.array([start for start, _ in spans]),
            "length": np.array([end - start for start, end in spans]),
            "line": np.array([start + 1 for start, _ in spans]),
            "lines": np.array([end - start for start, end in spans]),
        }

    def units(self, rows: Any, start: Any, line: Any) -> list[tuple[()]]:
        return [()] * len(rows)

    def gather(self, names: tuple[str, ...], rows: Any) -> dict[str, Any]:
        return {name: self._columns[name][rows] for name in names}


def hit(start: int, end: int) -> Hit:
    return Hit("p", start, end, start + 1, end, "document", "", "record", "b", 0, 1.0, {})


@given(windows)
def test_the_windows_before_and_after_are_found(steps: list[tuple[int, int]]) -> None:
    """Property 44: Neighbours."""
    spans, at = [], 0
    for step, overlap in steps:
        spans.append((at, at + step + overlap))
        at += step
    snapshot: Any = Blob(spans)
    for number, (start, end) in enumerate(spans):
        before, after = find_adjacent_chunks(snapshot, 0, hit(start, end))
        assert (before and before[:2]) == (spans[number - 1] if number else None)
        assert (after and after[:2]) == (spans[number + 1] if number + 1 < len(spans) else None)
        assert before is None or (before.start_line, before.end_line) == (before.start + 1, before.end)
