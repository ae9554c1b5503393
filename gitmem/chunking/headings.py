"""Headings of a text: where a section begins, how deep it is, and its title."""

from typing import Final

from gitmem.chunking.symbols import shortened

Heading = tuple[int, int, str]
"""Offset, level and title."""

HeadingPath = list[tuple[int, str]]
"""Levels and titles of the headings above a text, the outermost first."""

MAX_TITLE: Final = 120
MAX_HEADING: Final = 600
"""Characters of a heading that are read: links are long."""


def enter_heading(path: HeadingPath, level: int, title: str) -> None:
    """Make a heading the last of those above a text; it ends all of its level and below."""
    path[:] = [*(step for step in path if step[0] < level), (level, title)]


def path_symbol(path: HeadingPath) -> str:
    """Return the symbol of the text below some headings: their titles, without the outer ones if they are long."""
    return shortened(" > ".join(title for _, title in path if title), " > ")
