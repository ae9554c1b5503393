"""Where a text may be cut well: before headings, code blocks, turns of a chat, quotes, paragraphs. Pure."""

import re
from typing import Final, NamedTuple

SECTION: Final = 4
TURN: Final = 3
BLOCK: Final = 2
PARAGRAPH: Final = 1

_LINE: Final = re.compile(r"[^\n]*\n|[^\n]+\Z")
_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_HEADING: Final = re.compile(r" {0,3}#{1,6}(?:[ \t]|$)")
_SPEAKER: Final = re.compile(r"(?:\[[^\]\n]{1,40}\] ?)?\**[A-Z][\w .'-]{0,39}(?: \([^)\n]{1,40}\))?\**: ?\S?")
_QUOTE: Final = re.compile(r" {0,3}>")


class Break(NamedTuple):
    """The start of a line and how well the text may be cut before it."""

    offset: int
    strength: int


def find_breaks(text: str) -> list[Break]:
    """Every good place, in order. Inside a code block there is none."""
    breaks: list[Break] = []
    fence = ""
    before = ""
    for found in _LINE.finditer(text):
        line = found.group().rstrip("\r\n")
        mark = _FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence) and not mark[2].strip():
                fence = ""
                breaks.append(Break(found.end(), BLOCK))
        else:
            fence = mark[1] if mark and not (mark[1][0] == "`" and "`" in mark[2]) else ""
            strength = BLOCK if fence else _strength(line, before)
            if strength and found.start():
                breaks.append(Break(found.start(), strength))
        before = line
    return _strongest(breaks)


def _strength(line: str, before: str) -> int:
    """How well the text may be cut before a line."""
    if not line.strip():
        return 0
    if _HEADING.match(line):
        return SECTION
    if _SPEAKER.match(line):
        return TURN
    if bool(_QUOTE.match(line)) != bool(_QUOTE.match(before)):
        return BLOCK
    return 0 if before.strip() else PARAGRAPH


def _strongest(breaks: list[Break]) -> list[Break]:
    """One break a place."""
    best: dict[int, int] = {}
    for found in breaks:
        best[found.offset] = max(found.strength, best.get(found.offset, 0))
    return [Break(offset, strength) for offset, strength in best.items()]
