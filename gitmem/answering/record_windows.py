"""How a hit of a record is shown: under the id users know, as the whole window around the passage that matched."""

from gitmem.chunking.record_passages import record_windows
from gitmem.record import Record
from gitmem.search.adjacent_chunks import AdjacentChunk
from gitmem.search.hits import Hit


def widen(hit: Hit, data: bytes, record: Record) -> Hit:
    """Return the window that shares most bytes with a hit, the first in a tie. `data` is the record's blob."""
    spans = record_windows(data, record)
    # Passages are small for precise matching; people and agents need the surrounding window to understand them.
    window = max(spans, key=lambda span: min(span[1], hit.end) - max(span[0], hit.start))
    return hit._replace(**_with_lines(data, window)._asdict())


def find_beside(window: Hit, data: bytes, record: Record) -> tuple[AdjacentChunk | None, AdjacentChunk | None]:
    """Return the windows before and after a window."""
    spans = record_windows(data, record)
    at = spans.index((window.start, window.end))
    before = _with_lines(data, spans[at - 1]) if at else None
    return before, _with_lines(data, spans[at + 1]) if at + 1 < len(spans) else None


def _with_lines(data: bytes, span: tuple[int, int]) -> AdjacentChunk:
    start, end = span
    first = data.count(b"\n", 0, start) + 1
    return AdjacentChunk(start, end, first, first + data.count(b"\n", start, end - 1))
