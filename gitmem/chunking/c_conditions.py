"""Blank conditions of C and C++ that are not around whole declarations, statements or members.

A parser without a preprocessor sees all branches of a condition, which it knows around whole parts of a file alone.
`#ifdef A` around `if (x) {`, with another condition around its `}`, leaves a brace open, and everything behind it is
lost: in many headers the whole file, because of `extern "C" {`. So is a file with a condition among the arguments of a
call or the initialisers of a constructor.

Where the brackets of a branch do not match, or the branches are parts of one statement, only the first one that is not
`#if 0` remains, as if it were compiled. Of a condition without another branch, and of one around entries of a list or
labels, the directives alone are blanked.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Final

LANGUAGES: Final = frozenset({"c", "cpp", "cuda", "arduino"})
_DIRECTIVE: Final = re.compile(
    rb"\n[ \t]*+(#[ \t]*+(if|ifdef|ifndef|elif|else|endif)\b(?:[^\n\\/]|/\*(?:[^*]|\*(?!/)){0,1000}+\*/|/|\\\r?.)*+)",
    re.DOTALL,
)
"""Directive, with the comment behind it, which may have several lines. Comments have bounds here, because one without
an end would be read to the end of the file from each of its places."""

_OPENING: Final = frozenset({b"if", b"ifdef", b"ifndef"})
_WORD: Final = re.compile(rb"/\*.*?\*/|//[^\n]*|([A-Za-z_]\w*)", re.DOTALL)
_DIRECTIVE_WORDS: Final = _OPENING.union(b"elif else endif defined __has_include".split())
_NEVER: Final = re.compile(rb"#\s*if\s+0\b")
_NO_CODE: Final = re.compile(
    rb"""//[^\n]*|/\*(?:[^*]|\*(?!/)){0,1000}+\*/|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'"""
    rb"|\n[ \t]*#(?:[^\n\\]|\\\r?.)*",
    re.DOTALL,
)
_ANY: Final = re.compile(rb"[^\n]")
_LINE_COMMENT: Final = re.compile(rb"\s*//[^\n]*")

_BRACKETS: Final = ((b"{", b"}"), (b"(", b")"))
_NONE: Final = (0, 0)

_ENDS: Final = frozenset({b"", b";", b"{", b"}", b")", b"]"})
"""Last characters of code before a whole part, and of one; a bracket may be that of a macro."""

_LABEL: Final = b":"
"""Last character before a whole part; a part that it ends is none, since a statement follows."""

_ALONE: Final = re.compile(rb"[A-Z_][A-Z0-9_]{2,}")
"""Macro that is a whole part by itself."""

_HEAD: Final = re.compile(rb"\b(?:if|for|while|switch)\b[^;{}]*\)\Z")
"""End of a branch that begins a statement."""

_CONTINUED: Final = re.compile(
    rb"(?:\s|//[^\n]*|/\*.*?\*/)*+(?:(?:else|catch)\b|&&|\|\||[,?|<>=)}%^]|:(?!:))", re.DOTALL
)
"""Beginning of a branch that continues the code before it."""

_MAX_LINES: Final = 30
"""Lines and comments that are passed over in the search for code above a directive."""

_COMMENT_REACH: Final = 10_000
"""Bytes in which the beginning of a comment is looked for."""

_REACH: Final = 200
"""Bytes at the end of a branch in which the head of a statement is looked for."""


class _Branch:
    """Branch of a condition: the span of its directive, and how many more brackets its code opens than it closes."""

    def __init__(self, directive: re.Match[bytes]) -> None:
        self.start, self.end = directive.start(1), directive.end(1)
        self.depth = _NONE
        self.is_never = _NEVER.match(directive[1]) is not None

    def add(self, depth: tuple[int, int]) -> None:
        """Count the brackets of some code."""
        self.depth = self.depth[0] + depth[0], self.depth[1] + depth[1]


def without_inner_conditions(text: bytes, data: bytes, grammar: str) -> bytes:
    """Return text of the same length, with blanks for such conditions, which are found in `data`."""
    if grammar not in LANGUAGES:
        return text
    spans = find_inner_conditions(data)
    if not spans:
        return text
    result = bytearray(text)
    for start, end in spans:
        result[start:end] = _ANY.sub(b" ", text[start:end])
    return bytes(result)


def find_tested_macros(text: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the macros that the blanked directives test: where each begins, and its name."""
    for start, end in find_inner_conditions(text):
        directive = _DIRECTIVE.match(b"\n" + text[start:end])
        words = _WORD.finditer(text, start, start + directive.end() - 1) if directive is not None else ()
        yield from ((word.start(), word[1]) for word in words if word[1] and word[1] not in _DIRECTIVE_WORDS)


@lru_cache(maxsize=1)
def find_inner_conditions(text: bytes) -> Sequence[tuple[int, int]]:
    """Return the spans to blank. None if the directives do not match each other.

    The last ones are kept: the parser and the search for names ask for the same.
    """
    if b"#" not in text:
        return ()
    lines = b"\n" + text
    directives = list(_DIRECTIVE.finditer(lines))
    if not _match(directives):
        # Those in comments may have no other half.
        directives = [each for each in directives if not _is_in_comment(lines, each.start(1))]
    if not _match(directives):
        return ()
    return [(start - 1, end - 1) for start, end in _find_spans(lines, directives)]


def _match(directives: Sequence[re.Match[bytes]]) -> bool:
    """Return whether each condition has an end."""
    depth = 0
    for each in directives:
        depth += 1 if each[2] in _OPENING else -1 if each[2] == b"endif" else 0
        if depth < 0 or (not depth and each[2] in (b"else", b"elif")):
            return False
    return not depth


def _is_in_comment(text: bytes, place: int) -> bool:
    first = max(0, place - _COMMENT_REACH)
    return text.rfind(b"/*", first, place) > text.rfind(b"*/", first, place)


def _find_spans(text: bytes, directives: Sequence[re.Match[bytes]]) -> Iterator[tuple[int, int]]:
    """Yield the spans to blank, those of inner conditions before those of outer ones."""
    conditions: list[list[_Branch]] = []
    last = 0
    for directive in directives:
        if conditions:
            conditions[-1][-1].add(_depth(text, last, directive.start(1)))
        last = directive.end(1)
        if directive[2] in _OPENING:
            conditions.append([_Branch(directive)])
            continue
        conditions[-1].append(_Branch(directive))
        if directive[2] == b"endif":
            parts = conditions.pop()
            branches = parts[:-1]
            choice = next((branch for branch in branches if not branch.is_never), branches[0])
            # A condition that stays counts in none of the outer ones: its branches close their brackets.
            is_matched = all(branch.depth == _NONE for branch in branches)
            if is_matched and _is_around_whole_parts(text, parts):
                continue
            # All branches are code that may stand together, or there is only one.
            keeps_all = is_matched and (len(branches) == 1 or _has_entries(text, parts))
            for branch, following in pairwise(parts):
                is_kept = keeps_all or branch is choice
                yield branch.start, branch.end if is_kept else following.start
            yield parts[-1].start, parts[-1].end
            if conditions:
                conditions[-1][-1].add(choice.depth)


def _depth(text: bytes, start: int, end: int) -> tuple[int, int]:
    """Return how many more braces, and how many more parentheses, the code in a span opens than it closes."""
    if all(text.count(opening, start, end) == text.count(closing, start, end) for opening, closing in _BRACKETS):
        return _NONE
    code = _code_of(text, start, end)
    braces, parentheses = (code.count(opening) - code.count(closing) for opening, closing in _BRACKETS)
    return braces, parentheses


def _code_of(text: bytes, start: int, end: int) -> bytes:
    """Return a span without comments, strings and directives."""
    return _NO_CODE.sub(b"", text[start:end])


def _is_around_whole_parts(text: bytes, parts: Sequence[_Branch]) -> bool:
    above = _code_above(text, 0, parts[0].start)
    if not _is_end(above) and not above.endswith(_LABEL):
        return False
    return all(_is_whole(text, branch.end, following.start) for branch, following in pairwise(parts))


def _is_whole(text: bytes, start: int, end: int) -> bool:
    """Return whether a branch has whole declarations, statements or members."""
    if _CONTINUED.match(text, start, end):
        return False
    above = _code_above(text, start, end)
    return _is_end(above) and not (above and _HEAD.search(_code_of(text, max(start, end - _REACH), end).rstrip()))


def _is_end(line: bytes) -> bool:
    return line[-1:] in _ENDS or _ALONE.fullmatch(line) is not None


def _has_entries(text: bytes, parts: Sequence[_Branch]) -> bool:
    """Return whether a condition is around entries of a list: enumerators, values or parameters, or around labels."""
    ends = {_code_above(text, branch.end, following.start)[-1:] for branch, following in pairwise(parts)} - {b""}
    return ends == {_LABEL} or (ends == {b","} and _code_above(text, 0, parts[0].start)[-1:] in (b",", b"{", b"("))


def _code_above(text: bytes, start: int, end: int) -> bytes:
    """Return the last line of code in a span, without comments, directives and blanks; b"" if there is none near."""
    for _ in range(_MAX_LINES):
        if end <= start:
            break
        first = text.rfind(b"\n", start, end) + 1 or start
        line = text[first:end].strip()
        # A comment may have lines that look like code.
        if line[-2:] == b"*/":
            opening = text.rfind(b"/*", max(start, end - _COMMENT_REACH), end)
            end = opening if opening >= 0 else start
            continue
        while first > start and text[first - 3 : first].rstrip()[-1:] == b"\\":  # a line that goes on
            first = text.rfind(b"\n", start, first - 1) + 1 or start
        line = text[first:end].strip()
        if b"//" in line:
            line = _LINE_COMMENT.sub(b"", line)
        if line and line[:1] != b"#":
            return line
        end = first - 1
    return b""
