"""Split a span that is too large: at a syntax boundary, else after a blank line, after a line, or between characters.

Cuts lie as close to an even division as the boundaries allow. Works on offsets only and knows no grammar.
"""

from bisect import bisect_right
from typing import Final

Edge = tuple[int, int]
"""An offset at which a span may be cut, and its depth in the syntax tree (0 is best)."""

_DEPTH_COST: Final = 0.08
"""Cost of one level of depth, as a share of the maximum size. A shallow cut may lie so much farther from the ideal."""

INLINE: Final = 100
"""Added to the depth of an edge inside a line. Such edges are used only if no line ends within reach."""

_ANY_DEPTH: Final = 999
"""Above every depth: as second element of a search key it selects all edges of one offset."""

_PREFERRED_STOPS: Final = (b" ", b",", b";", b">", b"}", b")")


def split_span(data: bytes, start: int, end: int, edges: list[Edge], size: int) -> list[tuple[int, int]]:
    """Divide `start:end` into adjoining spans of at most `size` bytes, as evenly as the sorted `edges` allow."""
    spans = []
    inline = [edge for edge in edges if edge[1] >= INLINE]
    edges = [edge for edge in edges if edge[1] < INLINE] if inline else edges
    at = start
    while end - at > size:
        # The remaining text is divided by the smallest possible number of spans. Filling each span to the brim instead
        # would leave a short rest at the end, which says little on its own.
        share = (end - at) / -(-(end - at) // size)
        cut = _syntax_cut(edges, at, at + share, at + size) or _line_cut(data, at, at + share, min(at + size, end))
        cut = cut or _syntax_cut(inline, at, at + share, at + size) or _character_cut(data, at, at + size)
        spans.append((at, cut))
        at = cut
    spans.append((at, end))
    return spans


def _syntax_cut(edges: list[Edge], start: int, ideal: float, stop: int) -> int:
    """Return the cheapest edge between the first quarter of the ideal length and `stop`, 0 if there is none."""
    low = bisect_right(edges, (int(start + (ideal - start) / 4), _ANY_DEPTH))
    high = bisect_right(edges, (stop, _ANY_DEPTH))
    return _cheapest(edges[low:high], ideal, stop - start)


def _line_cut(data: bytes, start: int, ideal: float, stop: int) -> int:
    """Return the cheapest line start, 0 if there is none. Blank lines count as depth 0, indented lines as 3."""
    edges = []
    low = int(start + (ideal - start) / 4)
    at = data.rfind(b"\n", low, stop)
    while at > low:
        after = data[at + 1 : at + 2]
        blank = at > start and data[max(start, at - 2) : at].endswith((b"\n", b"\r\n", b"\n\r"))
        blank = blank or (data[at - 1 : at] == b"\r" and data[at - 2 : at - 1] == b"\n")
        # A line that is indented or closes a bracket continues a block, so the text is not cut before it if avoidable.
        edges.append((at + 1, 0 if blank else 3 if after in (b" ", b"\t", b"}", b")") else 1))
        at = data.rfind(b"\n", low, at)
    return _cheapest(edges, ideal, stop - start)


def _cheapest(edges: list[Edge], ideal: float, size: int) -> int:
    """Return the cheapest edge. Cost is the distance from the ideal as a share of `size`, plus the cost of depth."""
    if not edges:
        return 0
    return min(edges, key=lambda edge: (abs(edge[0] - ideal) / size + _DEPTH_COST * edge[1], edge[0]))[0]


def _character_cut(data: bytes, start: int, stop: int) -> int:
    """Cut after a word or bracket in the last eighth, else anywhere but in a UTF-8 sequence or between CR and LF."""
    low = stop - (stop - start) // 8
    for mark in _PREFERRED_STOPS:
        at = data.rfind(mark, low, stop)
        if at > start:
            return at + 1
    at = stop
    # Step back over continuation bytes (10xxxxxx), of which a character has at most three. More of them are not UTF-8.
    while at > stop - 4 and at > start + 1 and at < len(data) and data[at] & 0xC0 == 0x80:
        at -= 1
    if at < len(data) and data[at] & 0xC0 == 0x80:
        at = stop
    if data[at - 1 : at + 1] == b"\r\n" and at - 1 > start:
        at -= 1
    return at
