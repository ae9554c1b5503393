"""Tell whether a query may quote code or a message, as it is written somewhere. Pure.

A message that a program printed has values in it, and often the name of an exception before it. The code has other text
for the values, and may break the message over several lines.
"""

import re
from functools import lru_cache
from typing import Final

from gitmem.lazy_pattern import lazy_pattern
from gitmem.named_tuple import NamedTuple
from gitmem.search.stop_words import content_words
from gitmem.words import find_identifiers, terms_of

_MIN_CODE_WORDS: Final = 2
_MIN_PHRASE_WORDS: Final = 4
_MIN_MESSAGE_WORDS: Final = 2
"""Fewest words of a line of code; and stop words apart, of what may be a phrase, and of what is surely a message."""

_MAX_VALUE: Final = 200
"""Most characters that the code has in place of a value."""

_MAX_SNIPPET: Final = 4000
"""Longest code of several lines, in characters."""

_LEAST_CODE_LINES: Final = 0.6
"""Least share of its lines that have signs of code; others may be a bare word (`else`)."""

_CODE: Final = lazy_pattern(r"\w\(|[{}\[\]=<>|\\]|[,;]$|->|\?\.|&&|\w::\w")
"""Signs that prose hardly has. It has names in code, calls without arguments among them."""

_KIND: Final = lazy_pattern(
    r"(?:Uncaught |Unhandled |Caused by: |fatal )*"
    r"(?:[\w$.:]*(?:Error|Exception|Warning|Failure)|error|fatal|panic|warning|abort)(?:\[\w+\])?: +",
    re.IGNORECASE,
)
"""Beginning of a message: the kind of error."""

_VALUE: Final = lazy_pattern(r"(?<!\w)'[^']{0,200}'|(?<!\w)\"[^\"]{0,200}\"|`[^`]{0,200}`|\S*\d\S*|(?<!\S)~?/\S+")
"""Text in quotes, numbers and paths: the code may have a place-holder for it."""

_VALUE_IN_BRACKETS: Final = lazy_pattern(
    r"(?<!\S)[\[<({](?:'[^']{0,200}'|\"[^\"]{0,200}\"|[^\s\])>}(]*[\d/][^\s\])>}(]*)[\])>}][.,:;]?(?!\S)"
)
"""A value in brackets, which are no sign of code: `[2021-03]`, `<'name'>`."""

_BRACKETS: Final = frozenset("[<({")

_HOLE: Final = "\0"
"""Stands for a value."""

CODE: Final = "code"
MESSAGE: Final = "message"
PHRASE: Final = "phrase"
"""Forms of quotations. A phrase may be a message, or some words that prose puts together."""

_SPACE: Final = rb"\s++"
_JOIN: Final = rb"[\"'`][^\S\n]*+[+.\\]*+[^\S\n]*+\n\s*+(?:[+.]\s*+)?+[a-zA-Z$@]{0,2}[\"'`]"
"""Line break between strings that are put together."""

_BREAK: Final = rb"(?:\s++(?:(?:#++|//++|\*++|--++)\s++)?+|\s*+" + _JOIN + rb"\s*+)"
"""Space in a message: also that around the beginning of a comment, and between strings."""

_JOINED: Final = lazy_pattern(_JOIN)


class Quotation(NamedTuple):
    """Text that a query may quote, its form, and the terms of its words.

    In anything but code values are holes, and between two of them the text must be on one line.
    """

    text: str
    form: str
    terms: frozenset[str]

    def is_in(self, data: bytes, start: int, end: int) -> bool:
        """Return whether a part of a text has the quotation: whole words, with any space between them."""
        first, *others = map(self._pattern, self.text.split(_HOLE))
        return any(_follow(others, data, match.end(), end) for match in first.finditer(data, start, end))

    def _pattern(self, part: str) -> re.Pattern[bytes]:
        return _compile(part.strip(), _SPACE if self.form == CODE else _BREAK)


def _follow(parts: list[re.Pattern[bytes]], data: bytes, place: int, end: int) -> bool:
    """Return whether some parts follow a place, each at most a value behind the one before."""
    for part in parts:
        match = part.search(data, place, min(end, place + _MAX_VALUE + 4 * len(part.pattern)))
        if match is None or not _is_value(data[place : match.start()]):
            return False
        place = match.end()
    return True


def _is_value(text: bytes) -> bool:
    return len(text) <= _MAX_VALUE and b"\n" not in _JOINED.sub(b"", text)


@lru_cache(maxsize=64)
def _compile(text: str, space: bytes) -> re.Pattern[bytes]:
    words = (re.escape(word.encode("utf-8", "replace")) for word in text.split())
    before = rb"(?<!\w)" if text[:1].isalnum() else b""
    behind = rb"(?!\w)" if text[-1:].isalnum() else b""
    return re.compile(before + space.join(words) + behind)


def find_quotation(query: str) -> Quotation | None:
    """Return the text that a query of one line may quote; None if it is too short for that."""
    text = query[1:-1].strip() if len(query) > 2 and query[0] == query[-1] and query[0] in "`'\"" else query
    kind = _KIND.match(text) if ": " in text else None
    bare = _VALUE_IN_BRACKETS.sub(" ", text) if not _BRACKETS.isdisjoint(text) else text
    if kind is None and _CODE.search(bare):
        return Quotation(text, CODE, _terms(text)) if len(find_identifiers(text)) >= _MIN_CODE_WORDS else None
    parts = _VALUE.sub(_HOLE, text if kind is None else text[kind.end() :])
    form = PHRASE if kind is None and _HOLE not in parts else MESSAGE
    words = parts.strip(" .!" + _HOLE)
    least = _MIN_PHRASE_WORDS if form == PHRASE else _MIN_MESSAGE_WORDS
    return Quotation(words, form, _terms(words)) if len(content_words(words)) >= least else None


def find_snippet(query: str) -> Quotation | None:
    """Return the code of several lines that a query is; None if it is too long for that, or has other lines."""
    lines = [line for line in query.splitlines() if line.strip()]
    if len(query) > _MAX_SNIPPET:
        return None
    are_code = sum(_CODE.search(line.strip()) is not None for line in lines)
    text = " ".join(line.strip() for line in lines)
    is_snippet = are_code >= _LEAST_CODE_LINES * len(lines) and len(find_identifiers(text)) >= _MIN_CODE_WORDS
    return Quotation(text, CODE, _terms(text)) if is_snippet else None


def _terms(text: str) -> frozenset[str]:
    return frozenset(term for word in content_words(text) for term in terms_of(word))
