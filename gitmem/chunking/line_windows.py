"""Split text without syntax into windows that end at blank lines or line ends and overlap a little."""

from gitmem.chunking.chunk_size import ChunkBounds
from gitmem.chunking.lines import Lines, has_text, trim
from gitmem.chunking.split import split_span
from gitmem.types import Chunk


def window_chunks(data: bytes, lines: Lines, bounds: ChunkBounds, start: int = 0, size: int = 0) -> list[Chunk]:
    """Cover `data[start:]` with windows of at most `size` bytes, by default `bounds.max_bytes`."""
    size = size or bounds.max_bytes
    chunks = []
    floor = len(data)  # the first window has no predecessor to overlap with
    for low, high in split_span(data, start, len(data), [], size - bounds.overlap):
        if not has_text(data, low, high):
            continue
        cut = low
        low, high = trim(data, _overlap_start(data, low, floor, bounds.overlap), high)
        # The next window may reach back to the middle of this one at most, so that no window lies inside another.
        floor = (max(cut, low) + high) // 2
        chunks.append(Chunk(low, high, lines.number(low), lines.number(high - 1), "text", "", ((low, high),)))
    return chunks


def _overlap_start(data: bytes, at: int, floor: int, overlap: int) -> int:
    """Return the first line start within `overlap` bytes before `at`, or `at` itself after a blank line.

    A window that begins with a paragraph needs no context from the previous one.
    """
    if at <= floor or data[max(0, at - 2) : at] == b"\n\n" or data[max(0, at - 4) : at] == b"\r\n\r\n":
        return at
    feed = data.find(b"\n", max(floor, at - overlap - 1), at - 1)
    return feed + 1 if feed >= 0 else at
