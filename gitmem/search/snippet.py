"""Select the lines of a hit worth reading: declaration, first sentence of the doc, lines with the query's terms. Pure.

`tests/bench/` measures both sides of the trade: the tokens that snippets cost, and how often they show the answer.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Final

from gitmem.named_tuple import NamedTuple
from gitmem.search.line_search import lines_containing, prefixes_of
from gitmem.search.signature import comment_mask, find_name_line, find_signature, has_text, unqualified_names
from gitmem.words import decode, terms_of

MAX_LINES: Final = 6
"""Maximum number of lines of a chunk in a snippet."""

MIN_LINES: Final = 4
"""Minimum number: the best matches and, if there are too few, the next lines of the body."""

REPEAT_VALUE: Final = 0.5
"""Factor on the value of a term for each selected line that has it already; a new term has the value 1."""

MIN_VALUE: Final = 1.0
"""Least value of a line beyond the minimum number: one new term, or two that occurred once."""

OMITTED: Final = "\0"
"""Stands for each line of a chunk that is not shown. No text that is worth showing has a line of one zero byte."""

GAP: Final = "..."
"""Mark for omitted lines."""

_WORD: Final = re.compile(r"\w+")


class SnippetLine(NamedTuple):
    """A line of the file with its 1-based number; `number` 0 marks a gap."""

    number: int
    text: str


def lines_of(data: bytes, start_line: int, end_line: int) -> list[str]:
    """Return lines of a blob, 1-based and inclusive, without their ends; a line ends at a line feed."""
    lines = data.split(b"\n", end_line)[start_line - 1 : end_line]
    return [decode(line).removesuffix("\r") for line in lines]


def lines_of_span(data: bytes, start: int, end: int) -> list[str]:
    """Return the lines of a blob that contain bytes `start` to `end` (exclusive), as `lines_of` does.

    The text before them is not split, however long it is.
    """
    stop = data.find(b"\n", end - 1)
    lines = data[data.rfind(b"\n", 0, start) + 1 : stop if stop >= 0 else len(data)].split(b"\n")
    return [decode(line).removesuffix("\r") for line in lines]


def number_lines(lines: Sequence[str], first: int) -> list[SnippetLine]:
    """Return all lines with their numbers, which begin at `first`, and a mark for each run of omitted ones."""
    numbered: list[SnippetLine] = []
    for position, line in enumerate(lines):
        if line != OMITTED:
            numbered.append(SnippetLine(first + position, line))
        elif not numbered or numbered[-1].number:
            numbered.append(SnippetLine(0, ""))
    return numbered


def join_lines(lines: Sequence[str]) -> str:
    """Return lines as one text, with a mark for each run of omitted ones."""
    return "\n".join(line.text if line.number else GAP for line in number_lines(lines, 1))


def make_snippet(
    lines: Sequence[str], first: int, terms: Sequence[str], symbol: str = "", limit: int = MAX_LINES
) -> list[SnippetLine]:
    """Select at most `limit` of a chunk's lines, in order; `first` is the number of the first.

    Lines without words, such as lone braces, are never selected, and gaps that skip nothing else are not marked.
    """
    candidates = [position for position, line in enumerate(lines) if has_text(line)]
    omitted = [position for position, line in enumerate(lines) if line == OMITTED]
    if len(candidates) <= limit:
        return _with_gaps(candidates, [*candidates, *omitted], lines, first)
    # Three steps: what the chunk is, why it matches, and if room is left up to the minimum, how its body begins.
    signature = find_signature(lines, symbol)
    selected = [*signature.declaration, *signature.doc][:limit]
    selected += best_matches(lines, symbol, frozenset(terms), selected, limit - len(selected))
    signature_end = max([*signature.declaration, *signature.doc], default=-1)
    body = [position for position in candidates if position > signature_end and position not in selected]
    selected += body[: max(0, min(MIN_LINES, limit) - len(selected))]
    return _with_gaps(sorted(selected), [*candidates, *omitted], lines, first)


def best_matches(
    lines: Sequence[str], symbol: str, terms: frozenset[str], selected: Sequence[int], room: int
) -> list[int]:
    """Return the positions of the lines that add most to those selected, each chosen in view of the earlier ones.

    A line that defines another name of the chunk has the value of a new term.
    """
    terms_by_line = match_terms(lines, terms)
    definitions = _definition_lines(lines, symbol)
    occurrences = Counter(term for position in selected for term in terms_by_line.get(position, ()))

    # Greedy maximum coverage with diminishing returns: take the line of the highest value, update the counts, repeat.
    # Lines with the same terms have the same value at any time, so only the first of each group is compared.
    groups: dict[tuple[frozenset[str], bool], list[int]] = {}
    for position in sorted((terms_by_line.keys() | definitions) - set(selected)):
        groups.setdefault((terms_by_line.get(position, frozenset()), position in definitions), []).append(position)

    def value_of(words: frozenset[str], defines: bool) -> float:
        return sum(REPEAT_VALUE ** occurrences[term] for term in words) + defines

    matches: list[int] = []
    while groups and len(matches) < room:
        # Of equal values the earliest line wins.
        value, negative, best = max((value_of(*group), -positions[0], group) for group, positions in groups.items())
        if value < MIN_VALUE and len(selected) + len(matches) >= MIN_LINES:
            break
        matches.append(-negative)
        del groups[best][0]
        if not groups[best]:
            del groups[best]
        occurrences.update(best[0])
    return matches


def match_terms(lines: Sequence[str], terms: frozenset[str]) -> Mapping[int, frozenset[str]]:
    """Return the terms of the query in each line that has any."""
    prefixes = prefixes_of(terms)
    matches = {}
    for position in lines_containing(prefixes, lines):
        shared = terms.intersection(chain.from_iterable(map(terms_of, _WORD.findall(lines[position]))))
        if shared:
            matches[position] = shared
    return matches


def _definition_lines(lines: Sequence[str], symbol: str) -> frozenset[int]:
    """Return the positions that define the names of a merged chunk, except the first, which the signature shows."""
    names = unqualified_names(symbol)[1:]
    if not names:
        return frozenset()
    comment = comment_mask(lines)
    return frozenset(position for name in names if (position := find_name_line(lines, comment, name)) is not None)


def _with_gaps(
    selected: Sequence[int], candidates: Sequence[int], lines: Sequence[str], first: int
) -> list[SnippetLine]:
    """Return lines with their numbers, and a mark wherever lines with words are skipped."""
    snippet: list[SnippetLine] = []
    skipped = sorted({*candidates} - {*selected})
    passed = 0  # skipped lines before the current one
    for position in selected:
        before = passed
        while passed < len(skipped) and skipped[passed] < position:
            passed += 1
        if passed > before:
            snippet.append(SnippetLine(0, ""))
        snippet.append(SnippetLine(first + position, lines[position]))
    if passed < len(skipped):
        snippet.append(SnippetLine(0, ""))
    return snippet


def matched_spans(line: str, terms: Sequence[str]) -> list[tuple[int, int]]:
    """Return the character spans of the identifiers in a line that share a term with the query."""
    query_terms = frozenset(terms)
    return [match.span() for match in _WORD.finditer(line) if query_terms.intersection(terms_of(match.group()))]
