"""Headings of documentation pages and their sections: Markdown, reStructuredText and AsciiDoc. Pure."""

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from typing import Final, NamedTuple

ENDINGS: Final = (".md", ".mdx", ".markdown", ".rst", ".adoc")

_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})|(-{4,}|\.{4,}|\+{4,}|={4,})$")
_HASHES: Final = re.compile(r" {0,3}(#{1,6})[ \t]+(\S.*)$")
_EQUALS: Final = re.compile(r"(={1,6})[ \t]+(\S.*)$")
_UNDERLINE: Final = re.compile(r"""([=\-~^"'`#*+:.<>_])\1{2,}\s*$""")
_MARKUP: Final = re.compile(
    r"!\[[^\]]*\]\([^)]*\)"  # images
    r"|(?<=\])\([^)]*\)|(?<=\])\[[^\]]*\]"  # link targets
    r"|\{[#:][^}]*\}|\{/\*.*?\*/\}|<[^<>]*>|:\w+(?::\w+)?:(?=`)"  # anchors, tags, roles
    r"|[`*\[\]\\]|\s#+\s*$"
)


class Section(NamedTuple):
    """Heading and section, including subsections, as half-open ranges of lines from 0.

    The heading is on the lines `start:body`, its section on `body:end`.
    """

    title: str
    level: int
    start: int
    body: int
    end: int


class _Heading(NamedTuple):
    title: str
    level: int
    start: int
    body: int


def find_sections(lines: Sequence[str], path: str) -> list[Section]:
    """Return every heading of a page, by the rules of its markup."""
    ending = PurePosixPath(path).suffix
    if ending == ".rst":
        headings = list(_underlined(lines))
    else:
        headings = list(_marked(lines, _EQUALS if ending == ".adoc" else _HASHES))
    sections = []
    for place, heading in enumerate(headings):
        end = next((later.start for later in headings[place + 1 :] if later.level <= heading.level), len(lines))
        sections.append(Section(*heading, end))
    return sections


def plain(title: str) -> str:
    """Return a heading without markup and with single spaces."""
    return " ".join(_MARKUP.sub("", title).split())


def _marked(lines: Sequence[str], mark: re.Pattern[str]) -> Iterator[_Heading]:
    """Yield headings that begin with a mark, except in code blocks."""
    fence = ""
    for place, line in enumerate(lines):
        fence_match = _FENCE.match(line)
        own = (fence_match[1] or fence_match[2])[:3] if fence_match and (fence_match[1] or mark is _EQUALS) else ""
        if fence:
            fence = "" if own == fence else fence
        elif own:
            fence = own
        elif heading := mark.match(line):
            yield _Heading(plain(heading[2]), len(heading[1]), place, place + 1)


def _underlined(lines: Sequence[str]) -> Iterator[_Heading]:
    """Yield the headings of reStructuredText: a line with a line of marks below it, and possibly one above.

    Levels are in the order in which the kinds of marks first occur.
    """
    levels: dict[tuple[str, bool], int] = {}
    for place in range(1, len(lines)):
        under = _UNDERLINE.match(lines[place])
        title = lines[place - 1]
        if not under or not title.strip() or _UNDERLINE.match(title) or len(lines[place].strip()) < len(title.strip()):
            continue
        above = lines[place - 2].strip() == lines[place].strip() if place > 1 else False
        if not above and (title[0].isspace() or (place > 1 and lines[place - 2].strip())):
            continue
        level = levels.setdefault((under[1], above), len(levels) + 1)
        yield _Heading(plain(title), level, place - 2 if above else place - 1, place + 1)
