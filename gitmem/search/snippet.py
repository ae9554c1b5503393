"""The lines of a hit worth showing: from its first line on, then those that hold the question's words. Pure."""

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from gitmem.words import count_identifiers, decode, terms_of

HEAD_LINES: Final = 3
SHOWN_LINES: Final = 10
MAX_COLUMNS: Final = 200

_WORD = re.compile(r"\w+")


class SnippetLine(NamedTuple):
    """A line of the file with its 1-based number; `number` 0 stands for lines left out."""

    number: int
    text: str


def lines_of(data: bytes, start_line: int, end_line: int) -> list[str]:
    """Lines of a blob, 1-based and inclusive, without their ends; a line ends at a line feed."""
    lines = data.split(b"\n")[start_line - 1 : end_line]
    return [decode(line).removesuffix("\r") for line in lines]


def make_snippet(lines: Sequence[str], first: int, terms: Sequence[str], shown: int = SHOWN_LINES) -> list[SnippetLine]:
    """Pick at most `shown` of a chunk's lines: its head and the lines with the most of the terms, in order.

    `first` is the number of the first line. Gaps of more than a line are marked, smaller ones filled.
    """
    if len(lines) <= shown:
        return [SnippetLine(first + place, line) for place, line in enumerate(lines)]
    wanted = set(range(HEAD_LINES))
    weights = [(_weight(line, frozenset(terms)), -place) for place, line in enumerate(lines)]
    for weight, place in sorted(weights, reverse=True):
        if len(wanted) >= shown or not weight:
            break
        wanted.add(-place)
    for place in range(len(lines)):
        if len(wanted) >= shown:
            break
        wanted.add(place)
    wanted |= {place + 1 for place in wanted if place + 2 in wanted}
    return _with_gaps(sorted(wanted), lines, first)


def _weight(line: str, terms: frozenset[str]) -> int:
    held = {term for identifier in count_identifiers(line).identifiers for term in terms_of(identifier)}
    return len(held & terms)


def _with_gaps(places: Sequence[int], lines: Sequence[str], first: int) -> list[SnippetLine]:
    shown: list[SnippetLine] = []
    before = -1
    for place in places:
        if place > before + 1:
            shown.append(SnippetLine(0, ""))
        shown.append(SnippetLine(first + place, lines[place]))
        before = place
    if before < len(lines) - 1:
        shown.append(SnippetLine(0, ""))
    return shown


def matched_spans(line: str, terms: Sequence[str]) -> list[tuple[int, int]]:
    """Character spans of the identifiers in a line that share a term with the question."""
    asked = frozenset(terms)
    return [match.span() for match in _WORD.finditer(line) if asked.intersection(terms_of(match.group()))]
