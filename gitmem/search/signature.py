"""Where a chunk says what it is: its signature and the first sentence of its doc comment. Pure.

Read off the lines and the symbol alone. What a grammar would add is not worth parsing a file again for ten results;
where the guess fails (a name that no line holds), there is no lead, and the lines that match stand for the chunk.
"""

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

SCANNED_LINES: Final = 200
"""The signature is looked for in so many lines: beyond a doc comment of that length, and not through a whole class."""

MAX_DECLARATION_LINES: Final = 3
MAX_DOC_LINES: Final = 2

_WORD: Final = re.compile(r"\w")
_RUN: Final = re.compile(r"\w+")
_LINE_COMMENT: Final = re.compile(r"//|--(?![^\s|-])|;|%|#(?![A-Za-z\[!{])")
_OPENER: Final = re.compile(r"""(?:@\w*doc\s+)?(?:~[sS]|[rRuU])?(\"""|''')|(/\*|\{-|--\[\[|<!--|=begin\b)""")
_CLOSERS: Final = {'"""': '"""', "'''": "'''", "/*": "*/", "{-": "-}", "--[[": "]]", "<!--": "-->", "=begin": "=end"}
"""What opens a comment or documentation string that may have several lines, and what closes it."""

_BARE_TAG: Final = re.compile(r"</?\w+\s*/?>")
_FIELD: Final = re.compile(r"\W*(?:[@:\\]\w|\.\. )")
"""Where a doc comment turns from sentences to fields: `@param`, `:param`, `\\param`, `.. note`."""

_SENTENCE_END: Final = re.compile(r"""[.!?:]\s*(?:\*/|-\}|\]\]|-->|\"\"\"|''')?$""")


class Signature(NamedTuple):
    """Places of lines, from 0: of the signature, and of the first sentence of what documents it."""

    signature: list[int]
    doc: list[int]


def has_text(line: str) -> bool:
    """Whether a line says anything: blank lines, lone braces and bare tags (`/// <summary>`, `</div>`) do not."""
    return _WORD.search(_BARE_TAG.sub("", line) if "<" in line else line) is not None


def unqualified_names(symbol: str) -> list[str]:
    """The names a chunk defines, without what contains them: `A.b, c` has b and c."""
    return [re.split(r" > |\.", name)[-1] or name for name in symbol.split(", ")] if symbol else []


def find_signature(lines: Sequence[str], symbol: str) -> Signature:
    """Find signature and doc of the first name of a symbol in a chunk's lines; either may be empty."""
    lines = lines[:SCANNED_LINES]
    comment = comment_mask(lines)
    start = find_name_line(lines, comment, unqualified_names(symbol)[0]) if symbol else None
    if start is None:
        return Signature([], _first_sentence(lines, comment, 0))
    signature = _signature(lines, start)
    return Signature(signature, _doc_above(lines, comment, start) or _doc_below(lines, comment, signature[-1] + 1))


def find_name_line(lines: Sequence[str], comment: Sequence[bool], name: str) -> int | None:
    """The place of the first line that holds a name, of code if there is one: a heading may look like a comment."""
    places = [place for place, line in enumerate(lines) if name in line and _stands_in(name, line)]
    return next((place for place in places if not comment[place]), places[0] if places else None)


def _stands_in(name: str, line: str) -> bool:
    """Whether a line that contains a name has it as a whole word; an operator needs no gap around it."""
    return _RUN.fullmatch(name) is None or name in _RUN.findall(line)


def comment_mask(lines: Sequence[str]) -> list[bool]:
    """Which lines are comment or documentation and nothing else."""
    marks, closer = [], ""
    for line in lines:
        text = line.strip()
        if not closer:
            opened = _OPENER.match(text)
            if opened is None:
                marks.append(_LINE_COMMENT.match(text) is not None)
                continue
            closer = _CLOSERS[opened.group(opened.lastindex or 0)]
            text = text[opened.end() :]
        _, closed, behind = text.partition(closer)
        closer = "" if closed else closer
        marks.append(not has_text(behind))
    return marks


def _signature(lines: Sequence[str], start: int) -> list[int]:
    """The lines from one on until its brackets are closed, as far as they are few."""
    places, depth = [start], 0
    for place in range(start, min(start + MAX_DECLARATION_LINES, len(lines))):
        if place > start and has_text(lines[place]):
            places.append(place)
        depth += sum(lines[place].count(mark) for mark in "([") - sum(lines[place].count(mark) for mark in ")]")
        if depth <= 0:
            break
    return places


def _doc_above(lines: Sequence[str], comment: Sequence[bool], end: int) -> list[int]:
    """The first sentence of the last comment before a line."""
    last = next((place for place in reversed(range(end)) if comment[place]), None)
    if last is None:
        return []
    first = next((place + 1 for place in reversed(range(last)) if not comment[place]), 0)
    return _first_sentence(lines, comment, first)


def _doc_below(lines: Sequence[str], comment: Sequence[bool], start: int) -> list[int]:
    """The first sentence of the comment that a body begins with."""
    first = next((place for place in range(start, len(lines)) if has_text(lines[place]) or comment[place]), len(lines))
    return _first_sentence(lines, comment, first)


def _first_sentence(lines: Sequence[str], comment: Sequence[bool], first: int) -> list[int]:
    """Lines of a comment from its first words to the end of the sentence, as far as they are few."""
    taken: list[int] = []
    for place in range(first, len(lines)):
        line = lines[place]
        if not comment[place] or (taken and (not has_text(line) or _FIELD.match(line))):
            break
        if has_text(_OPENER.sub("", line, count=1)):
            taken.append(place)
            if len(taken) == MAX_DOC_LINES or _SENTENCE_END.search(line):
                break
    return taken
