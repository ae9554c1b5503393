"""Find the declaration of a chunk and the first sentence of its doc comment. Pure.

Both are guessed from the lines and the symbol alone: a parse could do better, but is not worth its time for ten
results. If the guess fails (no line contains the name), the lines that match the query represent the chunk.
"""

import re
from collections.abc import Sequence
from typing import Final

from gitmem.lazy_pattern import lazy_pattern
from gitmem.named_tuple import NamedTuple

SCANNED_LINES: Final = 200
"""Lines searched for a declaration: enough to pass a long doc comment, too few to walk through a whole class."""

MAX_DECLARATION_LINES: Final = 3
MAX_DOC_LINES: Final = 2

_WORD: Final = lazy_pattern(r"\w")
_RUN: Final = lazy_pattern(r"\w+")

# `--` opens a comment (SQL, Lua, Haskell), but `--i` is a decrement; so does `#`, but not in `#include` or `#[derive]`.
_LINE_COMMENT: Final = lazy_pattern(r"//|--(?![^\s|-])|;|%|#(?![A-Za-z\[!{])")
_OPENER: Final = lazy_pattern(r"""(?:@\w*doc\s+)?(?:~[sS]|[rRuU])?(\"""|''')|(/\*|\{-|--\[\[|<!--|=begin\b)""")
_CLOSERS: Final = {'"""': '"""', "'''": "'''", "/*": "*/", "{-": "-}", "--[[": "]]", "<!--": "-->", "=begin": "=end"}
"""Delimiters of comments and documentation strings that may span several lines."""

_COMMENT_START: Final = lazy_pattern(r"""\s*(?://|/\*|\*|--|#(?![A-Za-z\[!{])|\"\"\"|'''|;|%|<!--)""")
"""Beginning of a line that is a comment or belongs to one, in nearly all code."""

_BARE_TAG: Final = lazy_pattern(r"</?\w+\s*/?>")
_FIELD: Final = lazy_pattern(r"\W*(?:[@:\\]\w|\.\. )")
"""First field of a doc comment, which ends its prose: `@param`, `:param`, `\\param`, `.. note`."""

_SENTENCE_END: Final = lazy_pattern(r"""[.!?:]\s*(?:\*/|-\}|\]\]|-->|\"\"\"|''')?$""")


class Signature(NamedTuple):
    """Indices (from 0) of the lines of a declaration and of the first sentence of its documentation."""

    declaration: list[int]
    doc: list[int]


def has_text(line: str) -> bool:
    """Return whether a line has words. Blank lines, lone braces and bare tags (`/// <summary>`, `</div>`) have none."""
    return _WORD.search(_BARE_TAG.sub("", line) if "<" in line else line) is not None


def unqualified_names(symbol: str) -> list[str]:
    """Return the names a chunk defines without their containers: b and c for `A.b, c`."""
    return [re.split(r" > |\.", name)[-1] or name for name in symbol.split(", ")] if symbol else []


def find_signature(lines: Sequence[str], symbol: str) -> Signature:
    """Find the declaration and doc of the first name of a symbol in a chunk's lines; either may be empty."""
    lines = lines[:SCANNED_LINES]
    comment = comment_mask(lines)
    start = find_name_line(lines, comment, unqualified_names(symbol)[0]) if symbol else None
    if start is None:
        return Signature([], _first_sentence(lines, comment, 0))
    declaration = _declaration(lines, start)
    # Most languages document above the declaration; Python and its like at the start of the body.
    return Signature(declaration, _doc_above(lines, comment, start) or _doc_below(lines, comment, declaration[-1] + 1))


def find_declaration(lines: Sequence[str], name: str) -> list[int]:
    """Return the lines of the declaration of a name without looking for its doc; of unknown ones the first with words.

    Cheaper than `find_signature`: a container may have hundreds of members.
    """
    words = [position for position, line in enumerate(lines[:SCANNED_LINES]) if has_text(line)]
    named = (position for position in words if name in lines[position] and not _COMMENT_START.match(lines[position]))
    start = next((position for position in named if _is_whole_word(name, lines[position])), None)
    return words[:1] if start is None else _declaration(lines, start)


def find_name_line(lines: Sequence[str], comment: Sequence[bool], name: str) -> int | None:
    """Return the index of the first line containing a name, None without such a line.

    Lines of code come before comments. A comment counts if no code does, because a heading may look like one.
    """
    positions = [position for position, line in enumerate(lines) if name in line and _is_whole_word(name, line)]
    return next((position for position in positions if not comment[position]), positions[0] if positions else None)


def _is_whole_word(name: str, line: str) -> bool:
    """Return whether a name contained in a line is a whole word of it; an operator needs no word boundary."""
    return _RUN.fullmatch(name) is None or name in _RUN.findall(line)


def comment_mask(lines: Sequence[str]) -> list[bool]:
    """Return for each line whether it consists of comment or documentation only."""
    mask, closer = [], ""  # closer: the delimiter that ends the open block comment
    for line in lines:
        text = line.strip()
        if not closer:
            opener = _OPENER.match(text)
            if opener is None:
                mask.append(_LINE_COMMENT.match(text) is not None)
                continue
            closer = _CLOSERS[opener.group(opener.lastindex or 0)]
            text = text[opener.end() :]
        _, closing, rest = text.partition(closer)
        closer = "" if closing else closer
        mask.append(not has_text(rest))  # `/* x */ code` is not a comment line
    return mask


def _declaration(lines: Sequence[str], start: int) -> list[int]:
    """Return the lines from `start` until its brackets are closed, at most MAX_DECLARATION_LINES."""
    positions, depth = [start], 0
    for position in range(start, min(start + MAX_DECLARATION_LINES, len(lines))):
        line = lines[position]
        if position > start and has_text(line):
            positions.append(position)
        depth += sum(line.count(bracket) for bracket in "([") - sum(line.count(bracket) for bracket in ")]")
        if depth <= 0:
            break
    return positions


def _doc_above(lines: Sequence[str], comment: Sequence[bool], end: int) -> list[int]:
    """Return the first sentence of the last comment before a line."""
    last = next((position for position in reversed(range(end)) if comment[position]), None)
    if last is None:
        return []
    first = next((position + 1 for position in reversed(range(last)) if not comment[position]), 0)
    return _first_sentence(lines, comment, first)


def _doc_below(lines: Sequence[str], comment: Sequence[bool], start: int) -> list[int]:
    """Return the first sentence of the comment that begins a body."""
    body = range(start, len(lines))
    first = next((position for position in body if has_text(lines[position]) or comment[position]), len(lines))
    return _first_sentence(lines, comment, first)


def _first_sentence(lines: Sequence[str], comment: Sequence[bool], first: int) -> list[int]:
    """Return the lines of a comment from its first words to the end of the sentence, at most MAX_DOC_LINES."""
    sentence: list[int] = []
    for position in range(first, len(lines)):
        line = lines[position]
        if not comment[position] or (sentence and (not has_text(line) or _FIELD.match(line))):
            break
        # The delimiter goes first: `=begin` and `@doc` are words, yet no text.
        if has_text(_OPENER.sub("", line, count=1)):
            sentence.append(position)
            if len(sentence) == MAX_DOC_LINES or _SENTENCE_END.search(line):
                break
    return sentence
