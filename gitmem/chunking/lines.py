"""Byte offsets to line numbers, and the line edges of a span. Lines are counted by line feeds, as git counts them."""

import re
from bisect import bisect_left
from typing import Final

_FEED: Final = re.compile(b"\n")
_INK: Final = re.compile(rb"\S")
_BLANK_START: Final = re.compile(rb"(?:[ \t\r\f\v]*\n)+")


class Lines:
    """The line feeds of one blob."""

    __slots__ = ("_feeds",)

    def __init__(self, data: bytes) -> None:
        self._feeds = [found.start() for found in _FEED.finditer(data)]

    def number(self, offset: int) -> int:
        """The 1-based line that holds the byte at `offset`."""
        return bisect_left(self._feeds, offset) + 1


def line_start(data: bytes, offset: int, floor: int = 0) -> int:
    """The start of the line when only blanks stand before `offset` in it, else `offset`."""
    at = offset
    while at > floor and data[at - 1] in b" \t":
        at -= 1
    return at if at == 0 or at == floor or data[at - 1] in b"\n" else offset


def trim(data: bytes, start: int, end: int) -> tuple[int, int]:
    """Drop blank lines in front (keeping the first line's indentation) and blanks at the end; empty when all blank."""
    end = start + len(data[start:end].rstrip())
    blank = _BLANK_START.match(data, start, end)
    return (blank.end() if blank else start), end


def has_ink(data: bytes, start: int, end: int) -> bool:
    """Whether the span holds anything but white space."""
    return _INK.search(data, start, end) is not None
