"""Line numbers of byte offsets, and the line boundaries of spans. Lines end at line feeds, as in git."""

import re
from bisect import bisect_left
from typing import Final

_FEED: Final = re.compile(b"\n")
_NOT_BLANK: Final = re.compile(rb"\S")
_BLANK_START: Final = re.compile(rb"(?:[ \t\r\f\v]*\n)+")


class Lines:
    """Line feeds of one blob."""

    __slots__ = ("_feeds",)

    def __init__(self, data: bytes) -> None:
        # Binary search in this list makes each line number O(log n) instead of O(n).
        self._feeds = [feed.start() for feed in _FEED.finditer(data)]

    def number(self, offset: int) -> int:
        """Return the 1-based number of the line with the byte at `offset`."""
        return bisect_left(self._feeds, offset) + 1


def line_start(data: bytes, offset: int, floor: int = 0) -> int:
    """Return the start of the line if only blanks precede `offset` in it, else `offset`. Never goes below `floor`."""
    at = offset
    while at > floor and data[at - 1] in b" \t":
        at -= 1
    return at if at == 0 or at == floor or data[at - 1] in b"\n" else offset


def trim(data: bytes, start: int, end: int) -> tuple[int, int]:
    """Remove leading blank lines and trailing white space. A blank span becomes empty.

    The indentation of the first line stays, so that the text keeps its shape.
    """
    end = start + len(data[start:end].rstrip())
    blank = _BLANK_START.match(data, start, end)
    return (blank.end() if blank else start), end


def has_text(data: bytes, start: int, end: int) -> bool:
    """Return whether the span contains anything but white space."""
    return _NOT_BLANK.search(data, start, end) is not None
