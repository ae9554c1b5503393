"""Write forms of Swift that the parser does not know as ones of the same length that it does.

They are the empty tuple as a value, `promise.succeed(())`, attributes without arguments, `@Option() var name`, types of
errors, `throws(ParseError)`, modifiers for concurrency, `nonisolated(unsafe)`, `#error`, and macros such as
`#_sourceLocation`. The definition around one is lost or cut off otherwise.
"""

import re
from collections.abc import Iterator
from typing import Final

from gitmem.chunking.commented_spans import HiddenName, blanks

LANGUAGE: Final = "swift"
_NO_PARAMETERS: Final = rb"\(\)(?![ \t]*(?:->|>|in\b|async\b|throws\b|rethrows\b))"
"""Empty parentheses that are not the parameters of a function or closure: before an arrow."""

_TUPLE: Final = re.compile(rb"(?<![\w)\]>}?!`\".])" + _NO_PARAMETERS)

_BEFORE_TUPLE: Final = re.compile(rb"(?:[(,:={]|\bin|\breturn|^|\n)[ \t]*\Z")
_REACH: Final = 80
"""Bytes before an empty tuple that are looked at."""

_ATTRIBUTE: Final = re.compile(rb"(?P<before>@[A-Za-z_][\w.]*)" + _NO_PARAMETERS)
_THROWS: Final = re.compile(rb"(?<=\bthrows)\((?:any[ \t]+)?(?P<type>[A-Za-z_][\w.]*)\)")
_CONCURRENCY: Final = re.compile(rb"\bnonisolated\(unsafe\)|(?<=[:>] )(?:isolated|sending)(?= [\w(])")
"""Modifiers of types and variables that came with strict checks of concurrency."""

_MACRO: Final = re.compile(rb"#(?=_[a-z]|isolation\b)")
_MESSAGE: Final = re.compile(rb"#e(?=rror\()|#w(?=arning\()")


def with_plain_forms(text: bytes, grammar: str) -> bytes:
    """Return source of the same length that the parser understands."""
    if grammar != LANGUAGE:
        return text
    if b"()" in text:
        text = _TUPLE.sub(_name_of_tuple, _ATTRIBUTE.sub(rb"\g<before>  ", text))
    if b"throws(" in text:
        text = _THROWS.sub(blanks, text)
    if b"isolated" in text or b"sending " in text:
        text = _CONCURRENCY.sub(blanks, text)
    return _MESSAGE.sub(b"//", _MACRO.sub(b" ", text)) if b"#" in text else text


def _name_of_tuple(tuple_: re.Match[bytes]) -> bytes:
    """Return a name in place of an empty tuple: it may stand for a value and for a type."""
    start = tuple_.start()
    before = tuple_.string[max(0, start - _REACH) : start]
    return b"_0" if _BEFORE_TUPLE.search(before) else tuple_[0]


def find_thrown_types(data: bytes) -> Iterator[HiddenName]:
    """Yield the types of errors that the parser does not see."""
    for error in _THROWS.finditer(data) if b"throws(" in data else ():
        start = error.start("type") + error["type"].rfind(b".") + 1
        yield HiddenName(start, data[start : error.end("type")], "type", error.start())
