"""Write the heads of declarations of Kotlin so that the parser sees where they begin and end.

It takes some annotations at the top level, with the declaration behind them, for an expression: `@Preview(x = 1)`,
`@Composable`, `private fun CartPreview() {`. They become comments, and their names are found in the text.

It ends a class at its name if annotations or modifiers of the constructor follow on the next line, as formatters write
them: `class Reader`, `@JvmOverloads`, `constructor(`. The members are lost then, or belong to a method.

Forms that it does not know are written as others: parameters of the context before a function become blanks, and so do
the sign in `a..<b`, `$$` before a string, the last comma before an arrow, `<*>` before `::`, and `actual` in a head.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

from gitmem.chunking.commented_spans import HiddenName, blanks, end_of_arguments, names_in_spans, with_comments

LANGUAGE: Final = "kotlin"
_ANNOTATED: Final = re.compile(rb"\n(?=@(?!file:))")
_ANNOTATION: Final = re.compile(rb"@(?:\w+:)?[A-Za-z_][\w.]*(\()?")
_GAP: Final = re.compile(rb"[ \t]*")
_CONSTRUCTOR: Final = re.compile(
    rb"\bclass[ \t]+\w+(?:<[^<>\n{}()]{0,200}>)?[ \t]*\r?\n\s*+"
    rb"(?=(?:(?:@\w[\w.]*(?:\([^()\n]{0,200}\))?|private|internal|protected|public)\s+){1,8}constructor\b)"
)
_CONTEXT: Final = re.compile(
    rb"^[ \t]*(context\([^()\n]{1,200}\))(?=[ \t]*\r?\n|[ \t]+(?:[a-z]+[ \t]+)*(?:fun|va[lr])\b)", re.MULTILINE
)
_CONTEXT_TYPE: Final = re.compile(rb":[ \t]*(?:[a-z]\w*\.)*([A-Z]\w*)")
_NEWER: Final = re.compile(
    rb"(?<=\.\.)<|(?<![\w\"$])\$\$+(?=\")|,(?=\s*->)|<\*>(?=::)|\b(?:actual|expect)(?=[ \t]+(?:va[lr]|constructor)\b)"
)
_FEED: Final = re.compile(rb"[\r\n]")


def with_plain_heads(text: bytes, data: bytes, grammar: str) -> bytes:
    """Return source of the same length that the parser understands. `text` is `data`, perhaps with other changes."""
    if grammar != LANGUAGE:
        return text
    text = _NEWER.sub(blanks, text)
    if b"constructor" in text:
        text = _CONSTRUCTOR.sub(lambda head: _FEED.sub(b" ", head[0]), text)
    if b"context(" in text:
        text = _CONTEXT.sub(blanks, text)
    return with_comments(text, data, _find_annotations(data))


def find_hidden_heads(data: bytes) -> Iterator[HiddenName]:
    """Yield the names in the annotations that became comments, and the types of contexts."""
    yield from names_in_spans(data, _find_annotations(data), "decorator")
    for context in _CONTEXT.finditer(data) if b"context(" in data else ():
        for type_ in _CONTEXT_TYPE.finditer(data, context.start(1), context.end(1)):
            yield HiddenName(type_.start(1), type_[1], "type", context.start(1))


@lru_cache(maxsize=1)
def _find_annotations(data: bytes) -> Sequence[tuple[int, int]]:
    """Return the spans of annotations on lines of their own at the margin. The last ones are kept, for the names."""
    spans: list[tuple[int, int]] = []
    for line in _ANNOTATED.finditer(data):
        place, before = line.end(), len(spans)
        while annotation := _ANNOTATION.match(data, place):
            end = end_of_arguments(data, annotation.end()) if annotation[1] else annotation.end()
            if not end:
                break
            spans.append((place, end))
            gap = _GAP.match(data, end)
            place = gap.end() if gap else end
        if data[place : place + 1] not in (b"", b"\n", b"\r"):
            del spans[before:]
    return spans
