"""Find where a text is best cut: before headings, turns of a chat, code blocks, quotes and paragraphs. Pure."""

import re
from typing import Final

from gitmem.named_tuple import NamedTuple

SECTION: Final = 4
TURN: Final = 3
BLOCK: Final = 2
PARAGRAPH: Final = 1
"""Strengths of breaks: a stronger one is preferred wherever it is within reach."""

_LINE: Final = re.compile(r"[^\n]*\n|[^\n]+\Z")
_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_HEADING: Final = re.compile(r" {0,3}#{1,6}(?:[ \t]|$)")
_SPEAKER: Final = re.compile(r"(?:\[[^\]\n]{1,40}\] ?)?\**[A-Z][\w .'-]{0,39}(?: \([^)\n]{1,40}\))?\**: ?\S?")
"""Beginning of a turn of a chat, such as `Ann:`, `**Bob (you)**:` or `[12:04] Ann:`."""

_QUOTE: Final = re.compile(r" {0,3}>")


class Break(NamedTuple):
    """Start of a line at which the text may be cut, and the strength of the break."""

    offset: int
    strength: int


def find_breaks(text: str) -> list[Break]:
    """Return every break in order. Code blocks have none inside. Patterns follow CommonMark, read line by line."""
    breaks: list[Break] = []
    fence = ""  # opening fence of the code block that the line is in
    previous = ""
    for match in _LINE.finditer(text):
        line = match.group().rstrip("\r\n")
        mark = _FENCE.match(line)
        if fence:
            # A closing fence is at least as long as the opening one, and nothing follows it.
            if mark and mark[1].startswith(fence) and not mark[2].strip():
                fence = ""
                breaks.append(Break(match.end(), BLOCK))
        else:
            # A line of backticks that also has some later on is inline code, not a fence.
            fence = mark[1] if mark and not (mark[1][0] == "`" and "`" in mark[2]) else ""
            strength = BLOCK if fence else _line_strength(line, previous)
            if strength and match.start():
                breaks.append(Break(match.start(), strength))
        previous = line
    return _keep_strongest(breaks)


def _line_strength(line: str, previous: str) -> int:
    """Return the strength of the break before a line, 0 for none."""
    if not line.strip():
        return 0
    if _HEADING.match(line):
        return SECTION
    if _SPEAKER.match(line):
        return TURN
    if bool(_QUOTE.match(line)) != bool(_QUOTE.match(previous)):
        return BLOCK
    return 0 if previous.strip() else PARAGRAPH


def _keep_strongest(breaks: list[Break]) -> list[Break]:
    """Return one break per offset. The end of a code block and the line behind it may both have one."""
    strongest: dict[int, int] = {}
    for each in breaks:
        strongest[each.offset] = max(each.strength, strongest.get(each.offset, 0))
    return [Break(offset, strength) for offset, strength in strongest.items()]
