"""Follow lines of a file outside of definitions: text, loose code, files without a grammar. Pure.

Lines become an element of their own, whose predecessor is where a line diff puts them, as `git log -L` does it.
"""

from difflib import SequenceMatcher
from typing import Final

from gitmem.chunking.element import Element
from gitmem.history.version import FileVersion, Version

LINES: Final = "text"
"""Chunk type of such an element."""

_MAX_DIFF: Final = 4000
"""Lines between the first and the last difference that are still compared one by one: the cost is quadratic."""


def element_of_lines(data: bytes, first: int, last: int) -> Element:
    """Return lines `first` to `last` (1-based, inclusive) as an element."""
    lines = data.splitlines(keepends=True)
    start = sum(map(len, lines[: first - 1]))
    end = start + sum(map(len, lines[first - 1 : last]))
    return Element("", "", LINES, start, start, start, end, first, min(last, len(lines)), holds=False)


def find_lines(version: Version, older: FileVersion) -> Version | None:
    """Return the lines of an older version of the file from which these came; None if they are new."""
    new, old = version.source.data.splitlines(), older.data.splitlines()
    first, stop = version.element.first_line - 1, version.element.last_line
    prefix = _common(new, old)
    suffix = _common(new[prefix:][::-1], old[prefix:][::-1])
    shift = len(old) - len(new)
    if stop <= prefix:
        return _at(older, first, stop)
    if first >= len(new) - suffix:
        return _at(older, first + shift, stop + shift)
    start, end = len(old), 0
    for tag, new_first, new_stop, old_first, old_stop in _blocks(new, old, prefix, suffix):
        low, high = max(first, new_first), min(stop, new_stop)
        if low >= high and not (tag == "delete" and first < new_first < stop):
            continue
        if tag == "equal":
            old_first, old_stop = old_first + low - new_first, old_first + high - new_first
        elif tag == "insert":
            continue
        start, end = min(start, old_first), max(end, old_stop)
    return _at(older, start, end) if start < end else None


def _blocks(new: list[bytes], old: list[bytes], prefix: int, suffix: int) -> list[tuple[str, int, int, int, int]]:
    """Return the edits from new to old lines: tag as seen from the new file, and both ranges."""
    new_stop, old_stop = len(new) - suffix, len(old) - suffix
    blocks = [("equal", 0, prefix, 0, prefix)]
    if max(new_stop, old_stop) - prefix > _MAX_DIFF:
        blocks.append(("replace", prefix, new_stop, prefix, old_stop))
    else:
        names = {"equal": "equal", "replace": "replace", "insert": "delete", "delete": "insert"}
        matcher = SequenceMatcher(None, new[prefix:new_stop], old[prefix:old_stop], autojunk=False)
        for tag, a, b, c, d in matcher.get_opcodes():
            blocks.append((names[tag], a + prefix, b + prefix, c + prefix, d + prefix))
    return [*blocks, ("equal", new_stop, len(new), old_stop, len(old))]


def _common(one: list[bytes], other: list[bytes]) -> int:
    """Return the number of equal lines at the start."""
    for number, (line, counterpart) in enumerate(zip(one, other, strict=False)):
        if line != counterpart:
            return number
    return min(len(one), len(other))


def _at(older: FileVersion, first: int, stop: int) -> Version:
    return Version(older, element_of_lines(older.data, first + 1, stop))
