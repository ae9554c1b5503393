"""Locations as people and agents write them: a file, lines of it, a symbol in it, or a chunk of a blob.

Every command and tool takes the same forms:

    path             the whole file
    path:12          one line; lines count from 1
    path:12:5        the name at a column of a line, from 1, as compilers and editors write it
    path:10-40       lines, both included; `path#L10-L40` and `path#L12` mean the same
    path#symbol      the chunk of that symbol
    path:chunk_3     a chunk of the file, from 0
    <blob>:3         a chunk of a blob, from 0; the blob is given by at least 7 hex digits of its id, or all of them

A path may itself contain `:` and `#`, so a text can have several readings. As in a URL, the symbol begins at the first
`#`. A caller that knows the paths of the tree passes `has_path`, and the first reading with an existing path is taken.
`path#L1-L999999999` is unambiguous for every path. Pure: whether the location exists is for the caller to find out.
"""

import re
from collections.abc import Callable, Iterator
from typing import Final

from gitmem.errors import UsageError
from gitmem.lazy_pattern import lazy_pattern
from gitmem.named_tuple import NamedTuple

MAX_LINE: Final = 999_999_999
"""Largest line and chunk number."""

FORMS: Final = "PATH, PATH:12, PATH:12:5, PATH:10-40, PATH#SYMBOL or BLOB:0"
"""Accepted forms, for usage messages."""

_BLOB: Final = lazy_pattern(r"[0-9a-f]{7,64}")
_DIGITS: Final = lazy_pattern(r"[0-9]+")
_FRAGMENT_LINES: Final = lazy_pattern(r"(?P<path>.+)#L(?P<first>[0-9]+)(?:-L?(?P<last>[0-9]+))?", re.DOTALL)
_COLON_LINES: Final = lazy_pattern(r"(?P<path>.+):(?P<first>[0-9]+)(?:-(?P<last>[0-9]+))?", re.DOTALL)
_COLUMN: Final = lazy_pattern(r"(?P<path>.+):(?P<line>[0-9]+):(?P<column>[0-9]+)", re.DOTALL)
_NUMBERED: Final = lazy_pattern(r".+:[0-9]+", re.DOTALL)
_CHUNK: Final = lazy_pattern(r"(?P<path>.+):chunk_(?P<chunk>[0-9]+)", re.DOTALL)
_MAX_DIGITS: Final = len(str(MAX_LINE))
_OUT_OF_RANGE: Final = MAX_LINE + 1


class LineRange(NamedTuple):
    """Lines `first` to `last`, both included, from 1."""

    first: int
    last: int


class Location(NamedTuple):
    """Parsed location: in a path or, if `blob` is set, a chunk of a blob.

    With neither lines nor a symbol nor a chunk a path means the whole file.
    """

    path: str = ""
    lines: LineRange | None = None
    symbol: str = ""
    blob: str = ""
    """Id of a blob, or its first hex digits."""
    chunk: int | None = None
    """Number of a chunk of the file or of `blob`, from 0."""
    column: int | None = None
    """Column of the line `lines.first`, in characters from 1."""


def parse_location(text: str, has_path: Callable[[str], bool] | None = None) -> Location:
    """Parse a location; `has_path` says whether a path exists and so decides between several readings.

    Without a reading whose path exists, the first one is returned. Raises UsageError.
    """
    if not text.strip():
        raise UsageError("empty location", hint=f"expected {FORMS}")
    readings = list(_iter_readings(text))
    existing = (reading for reading in readings if has_path and reading.path and has_path(reading.path))
    location = next(existing, readings[0])
    _check_numbers(text, location)
    return location


def format_location(location: Location) -> str:
    """Return the text of a location; `parse_location` reads it back, given `has_path` if the text is ambiguous."""
    path, lines = location.path, location.lines
    if location.blob:
        return f"{location.blob}:{location.chunk}"
    if location.chunk is not None:
        return f"{path}:chunk_{location.chunk}"
    if location.symbol:
        return f"{path}#{location.symbol}"
    if lines is None:
        return path
    if lines.first != lines.last:
        return f"{path}:{lines.first}-{lines.last}"
    if location.column is not None:
        return f"{path}:{lines.first}:{location.column}"
    # Behind an object id a colon would begin the number of a chunk, and behind a line that of a column.
    is_ambiguous = _BLOB.fullmatch(path) or _NUMBERED.fullmatch(path)
    return f"{path}#L{lines.first}" if is_ambiguous else f"{path}:{lines.first}"


def _iter_readings(text: str) -> Iterator[Location]:
    """Yield the readings of a text, the preferred one first, the text as a plain path last."""
    blob, _, digits = text.rpartition(":")
    if _BLOB.fullmatch(blob) and _DIGITS.fullmatch(digits):
        yield Location(blob=blob, chunk=_number(digits))
    if match := _CHUNK.fullmatch(text):
        yield Location(match["path"], chunk=_number(match["chunk"]))
    if match := _COLUMN.fullmatch(text):
        line = _number(match["line"])
        yield Location(match["path"], LineRange(line, line), column=_number(match["column"]))
    for form in (_FRAGMENT_LINES, _COLON_LINES):
        if match := form.fullmatch(text):
            first = _number(match["first"])
            yield Location(match["path"], LineRange(first, _number(match["last"]) if match["last"] else first))
    for mark in re.finditer("#", text):
        if 0 < mark.start() < len(text) - 1:
            yield Location(text[: mark.start()], symbol=text[mark.end() :])
    yield Location(text)


def _number(digits: str) -> int:
    """Return the value of digits, or a number out of range: `int` refuses more than 4,300 digits with a ValueError."""
    return min(int(digits[-_MAX_DIGITS:]), _OUT_OF_RANGE) if not digits[:-_MAX_DIGITS].strip("0") else _OUT_OF_RANGE


def _check_numbers(text: str, location: Location) -> None:
    """Refuse line and chunk numbers that no file can have. Raises UsageError."""
    if location.chunk is not None and location.chunk > MAX_LINE:
        raise UsageError(f"chunk number out of range in `{text}`", hint="chunks are numbered from 0")
    if location.lines is None:
        return
    first, last = location.lines
    if not 1 <= first <= MAX_LINE or last > MAX_LINE:
        raise UsageError(f"line number out of range in `{text}`", hint="lines are numbered from 1")
    if location.column is not None and not 1 <= location.column <= MAX_LINE:
        raise UsageError(f"column out of range in `{text}`", hint="columns are numbered from 1")
    if last < first:
        raise UsageError(f"last line before the first in `{text}`", hint="for example src/app.py:10-40")
