"""Find an element whose text did not change in another version of its file, without parsing that version. Pure.

Most commits that change a file leave a given element alone, and a parse takes as long as reading twenty versions.
"""

from typing import Final

from gitmem.chunking.element import Element
from gitmem.history.version import FileVersion, Version

_CLOSINGS: Final = b"{};"
"""Last characters of a line that cannot be a comment or an annotation of the element below."""

_ENDS: Final = (b"}", b";", b"end")
"""Ends of elements behind which nothing can belong to them. Elsewhere the next line's indentation decides."""

_NEAR: Final = 1000
"""Bytes behind an element that are searched for the next line."""


def find_unchanged(version: Version, older: FileVersion) -> Version | None:
    """Return the element in an older version of the file if its text is there once, in the same container.

    None means that it may have changed, which only a parse decides.
    """
    element, data = version.element, version.source.data
    if older.data == data:
        return Version(older, element, version)
    text = data[element.start : element.end]
    at = older.data.find(text)
    if at < 0 or older.data.find(text, at + 1) >= 0 or data.find(text, data.find(text) + 1) >= 0:
        return None
    if not _is_bounded(older.data, at, at + len(text)):
        return None
    above, before = _line_above(older.data, at), _line_above(data, element.start)
    # A comment that the element lost stands right above the place where its text begins now.
    if above != before and above and above[-1] not in _CLOSINGS:
        return None
    # Without a bracket or keyword at its end, lines that the element lost stand right below it: a parse decides.
    end = at + len(text)
    if not text.endswith(_ENDS) and _line_below(older.data, end) != _line_below(data, element.end):
        return None
    # The definition around a member of an anonymous class names it, and may have had another name.
    if older.data.rfind(version.owner, 0, at) < 0:
        return None
    if version.header and not _is_nearest(version, older.data, at):
        return None
    return Version(older, _moved(version, older, at), version)


def _is_bounded(data: bytes, start: int, end: int) -> bool:
    """Return whether a span begins where only blanks precede it in its line, and ends with its line."""
    line = data.rfind(b"\n", 0, start) + 1
    stop = data.find(b"\n", end)
    return not data[line:start].strip() and not data[end : stop if stop >= 0 else len(data)].strip()


def _line_above(data: bytes, start: int) -> bytes:
    """Return the line before the one with an offset, without its blanks."""
    line = data.rfind(b"\n", 0, start)
    return data[data.rfind(b"\n", 0, max(line, 0)) + 1 : max(line, 0)].strip()


def _line_below(data: bytes, end: int) -> bytes:
    """Return the first line behind an offset that is not blank, with its indentation."""
    rest = data[end : end + _NEAR]
    return next((line for line in rest.split(b"\n")[1:] if line.strip()), b"").rstrip()


def _is_nearest(version: Version, data: bytes, at: int) -> bool:
    """Return whether the container's header is the last header of a container before an offset."""
    own = data.rfind(version.header, 0, at)
    others = (header for _, header in version.headers if header != version.header)
    return own >= 0 and all(data.rfind(header, own + 1, at) < 0 for header in others)


def _moved(version: Version, older: FileVersion, at: int) -> Element:
    element = version.element
    shift = at - element.start
    line = older.data.count(b"\n", 0, at) + 1
    return element._replace(
        start=at,
        code=element.code + shift,
        body=element.body + shift,
        end=element.end + shift,
        first_line=line,
        last_line=line + element.last_line - element.first_line,
    )
