"""Cutting a span that is too big: at the syntax edge nearest to an even division, else at a blank line, a line, a
character. Pure arithmetic over offsets; knows no grammar."""

from bisect import bisect_right
from typing import Final

Edge = tuple[int, int]
"""An offset at which a span may be cut, and how deep in the syntax it lies (0 is best)."""

_DEPTH_PRICE: Final = 0.08
INLINE: Final = 100
"""Added to the depth of an edge inside a line: taken only where no line ends in reach."""

_SOFT_STOPS: Final = (b" ", b",", b";", b">", b"}", b")")


def split_span(data: bytes, start: int, end: int, edges: list[Edge], size: int) -> list[tuple[int, int]]:
    """Divide `start:end` into adjoining spans of at most `size` bytes, as even as the edges allow."""
    spans = []
    inline = [edge for edge in edges if edge[1] >= INLINE]
    edges = [edge for edge in edges if edge[1] < INLINE] if inline else edges
    at = start
    while end - at > size:
        share = (end - at) / -(-(end - at) // size)
        cut = _syntax_cut(edges, at, at + share, at + size) or _line_cut(data, at, at + share, min(at + size, end))
        cut = cut or _syntax_cut(inline, at, at + share, at + size) or _character_cut(data, at, at + size)
        spans.append((at, cut))
        at = cut
    spans.append((at, end))
    return spans


def _syntax_cut(edges: list[Edge], start: int, ideal: float, stop: int) -> int:
    low = bisect_right(edges, (int(start + (ideal - start) / 4), 999))
    high = bisect_right(edges, (stop, 999))
    return _cheapest(edges[low:high], ideal, stop - start)


def _line_cut(data: bytes, start: int, ideal: float, stop: int) -> int:
    edges = []
    low = int(start + (ideal - start) / 4)
    at = data.rfind(b"\n", low, stop)
    while at > low:
        after = data[at + 1 : at + 2]
        blank = at > start and data[max(start, at - 2) : at].endswith((b"\n", b"\r\n", b"\n\r"))
        blank = blank or (data[at - 1 : at] == b"\r" and data[at - 2 : at - 1] == b"\n")
        edges.append((at + 1, 0 if blank else 3 if after in (b" ", b"\t", b"}", b")") else 1))
        at = data.rfind(b"\n", low, at)
    return _cheapest(edges, ideal, stop - start)


def _cheapest(edges: list[Edge], ideal: float, size: int) -> int:
    if not edges:
        return 0
    return min(edges, key=lambda edge: (abs(edge[0] - ideal) / size + _DEPTH_PRICE * edge[1], edge[0]))[0]


def _character_cut(data: bytes, start: int, stop: int) -> int:
    """Cut after a word or a bracket in the last eighth, never inside a UTF-8 sequence or between CR and LF."""
    low = stop - (stop - start) // 8
    for mark in _SOFT_STOPS:
        at = data.rfind(mark, low, stop)
        if at > start:
            return at + 1
    at = stop
    while at > stop - 4 and at > start + 1 and at < len(data) and data[at] & 0xC0 == 0x80:
        at -= 1
    if at < len(data) and data[at] & 0xC0 == 0x80:
        at = stop
    if data[at - 1 : at + 1] == b"\r\n" and at - 1 > start:
        at -= 1
    return at
