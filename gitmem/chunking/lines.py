"""Line numbers of byte offsets, and the line boundaries of spans. Lines end at line feeds, as in git."""

import re
from itertools import accumulate
from typing import Final

_BLOCK: Final = 1024
_NOT_BLANK: Final = re.compile(rb"\S")
_BLANK_START: Final = re.compile(rb"(?:[ \t\r\f\v]*\n)+")
_BLANKS: Final = b" \t\r\f\v\n"


class Lines:
    """Line feeds of one blob, counted by block: a list of all of them would cost more than a few chunks need."""

    __slots__ = ("_before", "_data")

    def __init__(self, data: bytes) -> None:
        self._data = data
        counts = [data.count(b"\n", start, start + _BLOCK) for start in range(0, len(data), _BLOCK)]
        self._before = list(accumulate(counts, initial=1))

    def number(self, offset: int) -> int:
        """Return the 1-based number of the line with the byte at `offset`."""
        offset = max(offset, 0)
        block = offset // _BLOCK
        return self._before[block] + self._data.count(b"\n", block * _BLOCK, offset)


def line_start(data: bytes, offset: int, floor: int = 0) -> int:
    """Return the start of the line if only blanks precede `offset` in it, else `offset`. Never goes below `floor`."""
    at = floor + len(data[floor:offset].rstrip(b" \t")) if offset > floor else offset
    return at if at == 0 or at == floor or data[at - 1] in b"\n" else offset


def trim(data: bytes, start: int, end: int) -> tuple[int, int]:
    """Remove leading blank lines and trailing white space. A blank span becomes empty.

    The indentation of the first line stays, so that the text keeps its shape.
    """
    end = start + len(data[start:end].rstrip())
    if end > start and data[start] in _BLANKS:
        blank = _BLANK_START.match(data, start, end)
        start = blank.end() if blank else start
    return start, end


def has_text(data: bytes, start: int, end: int) -> bool:
    """Return whether the span contains anything but white space."""
    return _NOT_BLANK.search(data, start, end) is not None
