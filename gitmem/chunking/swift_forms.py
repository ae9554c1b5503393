"""Write forms of Swift that the parser does not know as ones of the same length that it does.

They are the empty tuple as a value, `promise.succeed(())`, attributes without arguments, `@Option() var name`, types of
errors, `throws(ParseError)`, modifiers for concurrency, `nonisolated(unsafe)`, `#error`, and macros such as
`#_sourceLocation`. The definition around one is lost or cut off otherwise.
"""

import re
from collections.abc import Iterator
from typing import Final

from gitmem.chunking.commented_spans import HiddenName

LANGUAGE: Final = "swift"
_TUPLE: Final = re.compile(
    rb"(?P<before>(?:[(,:=]|\bin|\breturn|\{|^)[ \t]*)\(\)(?![ \t]*(?:->|>|in\b|async\b|throws\b|rethrows\b))",
    re.MULTILINE,
)
"""An empty tuple as a value or type: not before an arrow, which makes it the parameters of a closure."""

_ATTRIBUTE: Final = re.compile(rb"(?P<before>@[A-Za-z_][\w.]*)\(\)")
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
        text = _ATTRIBUTE.sub(rb"\g<before>  ", text)
        # One tuple may end where the next one begins, `((), ())`. A name may stand for a value and for a type.
        text = _TUPLE.sub(rb"\g<before>_0", _TUPLE.sub(rb"\g<before>_0", text))
    for form in (_THROWS, _CONCURRENCY):
        text = form.sub(lambda found: b" " * len(found[0]), text)
    return _MESSAGE.sub(b"//", _MACRO.sub(b" ", text)) if b"#" in text else text


def find_thrown_types(data: bytes) -> Iterator[HiddenName]:
    """Yield the types of errors that the parser does not see."""
    for error in _THROWS.finditer(data):
        start = error.start("type") + error["type"].rfind(b".") + 1
        yield HiddenName(start, data[start : error.end("type")], "type", error.start())
