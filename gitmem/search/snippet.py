"""The lines of a hit worth reading: signature, first sentence of its doc, and those with the question's words. Pure.

What it costs to read and what it must still tell are measured in `tests/bench/`.
"""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Final, NamedTuple

from gitmem.search.signature import comment_mask, find_name_line, find_signature, has_text, unqualified_names
from gitmem.words import decode, terms_of

SHOWN_LINES: Final = 6
"""Lines of a chunk shown at most."""

LEAST_LINES: Final = 4
"""Lines of a chunk shown at least: those that match best, and where none is left, the next ones of the body."""

REPEATED: Final = 0.5
"""What a word of the question is worth in a line, each time that a line shown already has it; a new word is worth 1."""

LEAST_WORTH: Final = 1.0
"""Beyond the least, a line worth less is not shown: one new word, or two that were seen once."""

_WORD: Final = re.compile(r"\w+")
_LINE_END: Final = re.compile("\n")


class SnippetLine(NamedTuple):
    """A line of the file with its 1-based number; `number` 0 stands for lines left out."""

    number: int
    text: str


def lines_of(data: bytes, start_line: int, end_line: int) -> list[str]:
    """Lines of a blob, 1-based and inclusive, without their ends; a line ends at a line feed."""
    lines = data.split(b"\n", end_line)[start_line - 1 : end_line]
    return [decode(line).removesuffix("\r") for line in lines]


def lines_touched(data: bytes, start: int, end: int) -> list[str]:
    """Lines of a blob that bytes `start` to `end` (exclusive) lie in, as `lines_of` gives them.

    What is before them, be it ever so much, is not taken apart.
    """
    stop = data.find(b"\n", end - 1)
    lines = data[data.rfind(b"\n", 0, start) + 1 : stop if stop >= 0 else len(data)].split(b"\n")
    return [decode(line).removesuffix("\r") for line in lines]


def number_lines(lines: Sequence[str], first: int) -> list[SnippetLine]:
    """All lines with their numbers."""
    return [SnippetLine(first + place, line) for place, line in enumerate(lines)]


def make_snippet(
    lines: Sequence[str], first: int, terms: Sequence[str], symbol: str = "", shown: int = SHOWN_LINES
) -> list[SnippetLine]:
    """Pick at most `shown` of a chunk's lines, in order; `first` is the number of the first.

    Lines that tell nothing, like lone braces, are never picked, and only gaps that leave out others are marked.
    """
    telling = [place for place, line in enumerate(lines) if has_text(line)]
    if len(telling) <= shown:
        return _with_gaps(telling, telling, lines, first)
    lead = find_signature(lines, symbol)
    wanted = [*lead.signature, *lead.doc][:shown]
    wanted += _matching(lines, symbol, frozenset(terms), wanted, shown - len(wanted))
    behind = max([*lead.signature, *lead.doc], default=-1)
    after = [place for place in telling if place > behind and place not in wanted]
    wanted += after[: max(0, min(LEAST_LINES, shown) - len(wanted))]
    return _with_gaps(sorted(wanted), telling, lines, first)


def _matching(lines: Sequence[str], symbol: str, asked: frozenset[str], shown: Sequence[int], room: int) -> list[int]:
    """Places of the lines that say most about the question beyond those shown, each chosen in view of those before.

    A line that defines a further name of the chunk is worth as much as a new word.
    """
    held = _terms_held(lines, asked)
    defining = _defining(lines, symbol)
    seen = Counter(term for place in shown for term in held.get(place, ()))
    alike: dict[tuple[frozenset[str], bool], list[int]] = {}  # of lines with the same words the first comes first
    for place in sorted((held.keys() | defining) - set(shown)):
        alike.setdefault((held.get(place, frozenset()), place in defining), []).append(place)

    def worth(words: frozenset[str], defines: bool) -> float:
        return sum(REPEATED ** seen[term] for term in words) + defines

    chosen: list[int] = []
    while alike and len(chosen) < room:
        most, first, best = max((worth(*kind), -places[0], kind) for kind, places in alike.items())
        if most < LEAST_WORTH and len(shown) + len(chosen) >= LEAST_LINES:
            break
        chosen.append(-first)
        del alike[best][0]
        if not alike[best]:
            del alike[best]
        seen.update(best[0])
    return chosen


def _terms_held(lines: Sequence[str], asked: frozenset[str]) -> Mapping[int, frozenset[str]]:
    """The terms of the question in each line that has any.

    Most lines have none, and need not be split and stemmed to see that: a stem keeps the letters of its word, but for
    the last one.
    """
    beginnings = [term[:-1] or term for term in asked]
    held = {}
    for place in _places_with(beginnings, lines):
        found = asked.intersection(chain.from_iterable(map(terms_of, _WORD.findall(lines[place]))))
        if found:
            held[place] = found
    return held


def _places_with(beginnings: Sequence[str], lines: Sequence[str]) -> set[int]:
    """Places of the lines in which the letters of one of these follow each other, underscores aside."""
    text = "\n".join(lines).replace("_", "").lower()
    ends = [match.start() for match in _LINE_END.finditer(text)]
    places = set()
    for beginning in beginnings:
        at = text.find(beginning)
        while at >= 0:
            place = bisect_left(ends, at)
            places.add(place)
            at = text.find(beginning, ends[place]) if place < len(ends) else -1
    return places


def _defining(lines: Sequence[str], symbol: str) -> frozenset[int]:
    """Places where the names of a merged chunk are defined, but for the first, which leads."""
    names = unqualified_names(symbol)[1:]
    if not names:
        return frozenset()
    comment = comment_mask(lines)
    return frozenset(place for name in names if (place := find_name_line(lines, comment, name)) is not None)


def _with_gaps(places: Sequence[int], telling: Sequence[int], lines: Sequence[str], first: int) -> list[SnippetLine]:
    """Lines with their numbers, and a mark wherever lines that tell something are left out."""
    shown: list[SnippetLine] = []
    left_out = sorted({*telling} - {*places})
    passed = 0
    for place in places:
        skipped = passed
        while passed < len(left_out) and left_out[passed] < place:
            passed += 1
        if passed > skipped:
            shown.append(SnippetLine(0, ""))
        shown.append(SnippetLine(first + place, lines[place]))
    if passed < len(left_out):
        shown.append(SnippetLine(0, ""))
    return shown


def matched_spans(line: str, terms: Sequence[str]) -> list[tuple[int, int]]:
    """Character spans of the identifiers in a line that share a term with the question."""
    asked = frozenset(terms)
    return [match.span() for match in _WORD.finditer(line) if asked.intersection(terms_of(match.group()))]
