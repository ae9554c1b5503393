"""Headings of a text: where a section begins, how deep it is, and its title."""

from typing import Final

Heading = tuple[int, int, str]
"""Offset, level and title."""

HeadingPath = list[tuple[int, str]]
"""Levels and titles of the headings above a text, the outermost first."""

MAX_TITLE: Final = 120
MAX_HEADING: Final = 600
"""Characters of a heading that are read: links are long."""
