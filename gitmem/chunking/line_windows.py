"""Text without syntax: windows on blank lines, then lines, with a small overlap."""

from gitmem.chunking.chunk_size import ChunkLimits
from gitmem.chunking.lines import Lines, has_ink, trim
from gitmem.chunking.split import split_span
from gitmem.types import Chunk


def window_chunks(data: bytes, lines: Lines, limits: ChunkLimits, start: int = 0, size: int = 0) -> list[Chunk]:
    """Cover `data[start:]` with windows of at most `size` bytes (by default the limit)."""
    size = size or limits.max_bytes
    chunks = []
    floor = len(data)
    for low, high in split_span(data, start, len(data), [], size - limits.overlap):
        if not has_ink(data, low, high):
            continue
        cut = low
        low, high = trim(data, _overlapped(data, low, floor, limits.overlap), high)
        floor = (max(cut, low) + high) // 2
        chunks.append(Chunk(low, high, lines.number(low), lines.number(high - 1), "text", "", ((low, high),)))
    return chunks


def _overlapped(data: bytes, at: int, floor: int, overlap: int) -> int:
    """Reach back over whole lines, not over a blank one: a paragraph starts where it starts."""
    if at <= floor or data[max(0, at - 2) : at] == b"\n\n" or data[max(0, at - 4) : at] == b"\r\n\r\n":
        return at
    feed = data.find(b"\n", max(floor, at - overlap - 1), at - 1)
    return feed + 1 if feed >= 0 else at
