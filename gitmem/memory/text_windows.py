"""Cut a long text into overlapping windows that end at the text's own breaks. Pure.

The caller counts the tokens. A text of up to WHOLE_TOKENS tokens is not cut. Windows have at most WINDOW_TOKENS tokens
and share OVERLAP_TOKENS with the next one. Together they cover the text, and none lies inside another.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from gitmem.chunking.chunk_size import EARLIEST_BREAK_TOKENS, OVERLAP_TOKENS, WHOLE_TOKENS, WINDOW_TOKENS
from gitmem.memory.text_breaks import Break

# A window ends at the strongest break between EARLIEST_BREAK_TOKENS and WINDOW_TOKENS of its tokens, and at the last of
# several equally strong ones. The next window begins OVERLAP_TOKENS earlier, so that a passage at the cut is whole in
# one of the two. Cutting only at breaks is not enough: a section can have any length.
#
# Spans are in characters, limits in tokens. Several tokens may begin at one character (bytes of an emoji), and a token
# may cover two lines. Therefore every token that a window begins or ends with is moved to the first one of its
# character, and the end at a break is the character of the break, not that of a token.


def cut_windows(length: int, starts: Sequence[int], breaks: Sequence[Break]) -> tuple[tuple[int, int], ...]:
    """Return the character spans of the windows, or an empty tuple if the text is not cut.

    `length` is in characters. `starts` are the first characters of the tokens; `starts` and `breaks` are sorted.
    """
    if len(starts) <= WHOLE_TOKENS:
        return ()
    spans: list[tuple[int, int]] = []
    first = 0
    while True:
        low = starts[first] if spans else 0
        if first + WINDOW_TOKENS >= len(starts):
            return (*spans, (low, length))
        end, offset = _find_end(first, starts, breaks)
        spans.append((low, offset))
        first = _next_start(end - OVERLAP_TOKENS, low, starts)


def _find_end(first: int, starts: Sequence[int], breaks: Sequence[Break]) -> tuple[int, int]:
    """Return the token and the character before which the window ends that begins with the token `first`."""
    low, high = starts[first + EARLIEST_BREAK_TOKENS], starts[first + WINDOW_TOKENS]
    begin = bisect_left(breaks, low, key=lambda each: each.offset)
    reachable = breaks[begin : bisect_right(breaks, high, key=lambda each: each.offset)]
    if not reachable:
        end = _first_of_character(first + WINDOW_TOKENS, starts)
        return end, starts[end]
    strength = max(each.strength for each in reachable)
    offset = next(each.offset for each in reversed(reachable) if each.strength == strength)
    return bisect_left(starts, offset), offset


def _first_of_character(token: int, starts: Sequence[int]) -> int:
    """Return the first token that begins at the same character as this one."""
    return bisect_left(starts, starts[token])


def _next_start(token: int, low: int, starts: Sequence[int]) -> int:
    """Return the first token of the next window, which begins after `low`, the start of the previous one."""
    first = _first_of_character(token, starts)
    # Only a character of very many tokens gets here: without progress the loop would not end.
    return first if starts[first] > low else bisect_right(starts, starts[token])
