"""A long text as windows that overlap, each ending where the text itself makes a break. Pure.

Tokens are counted by the caller. Up to WHOLE_TOKENS tokens a text stays in one piece. Windows have at most
WINDOW_TOKENS tokens, share OVERLAP_TOKENS with their neighbour, cover the text, and none lies inside another.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from gitmem.chunking.chunk_size import EARLIEST_BREAK_TOKENS, OVERLAP_TOKENS, WHOLE_TOKENS, WINDOW_TOKENS
from gitmem.memory.text_breaks import Break


def cut_windows(length: int, starts: Sequence[int], breaks: Sequence[Break]) -> tuple[tuple[int, int], ...]:
    """Character spans of the windows of a text of `length` characters; none where it stays in one piece.

    `starts` are the characters its tokens begin with, `breaks` the places where it may be cut well, both in order.
    """
    if len(starts) <= WHOLE_TOKENS:
        return ()
    spans: list[tuple[int, int]] = []
    first = 0
    while True:
        low = starts[first] if spans else 0
        if first + WINDOW_TOKENS >= len(starts):
            return (*spans, (low, length))
        end, offset = _end(first, starts, breaks)
        spans.append((low, offset))
        first = _behind(end - OVERLAP_TOKENS, low, starts)


def _end(first: int, starts: Sequence[int], breaks: Sequence[Break]) -> tuple[int, int]:
    """The token that a window ends before and the character: the strongest break in reach, of several such the last.

    A token may hold the end of one line and the beginning of the next; the character is that of the break even so.
    """
    low, high = starts[first + EARLIEST_BREAK_TOKENS], starts[first + WINDOW_TOKENS]
    begin = bisect_left(breaks, low, key=lambda found: found.offset)
    within = breaks[begin : bisect_right(breaks, high, key=lambda found: found.offset)]
    if not within:
        end = _before(first + WINDOW_TOKENS, starts)
        return end, starts[end]
    strength = max(found.strength for found in within)
    offset = next(found.offset for found in reversed(within) if found.strength == strength)
    return bisect_left(starts, offset), offset


def _before(token: int, starts: Sequence[int]) -> int:
    """The first token that begins with the same character as this one: one character may be several tokens."""
    return bisect_left(starts, starts[token])


def _behind(token: int, low: int, starts: Sequence[int]) -> int:
    """The token a window begins with, never where the one before began."""
    first = bisect_left(starts, starts[token])
    return first if starts[first] > low else bisect_right(starts, starts[token])
