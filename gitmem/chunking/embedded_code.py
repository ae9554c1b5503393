"""Divide templates with code between their tags: ERB with Ruby, EJS with JavaScript, Razor with C#."""

import re
from typing import Final

from gitmem.chunking.layers import Layer, Span, gaps, make_layer, only

_CODE_LANGUAGES: Final = {"erb": "ruby", "ejs": "javascript"}
_NO_CODE: Final = b"%#"
"""What follows the beginning of a tag that is no code: a comment, or the text `<%` itself."""

_CLASS: Final = "_"
"""Name of the class of a component in its code, where it has none."""

_MAX_TAGS: Final = 20_000
_BLOCK: Final = re.compile(rb"^[ \t]*@(?:code|functions)\s*\{", re.MULTILINE)
_CSHARP_TOKEN: Final = re.compile(
    rb"//[^\n]*+|/\*(?:[^*]++|\*(?!/))*+\*/|\"(?:[^\"\\\n]|\\.)*+\"|'(?:[^'\\\n]|\\.)*+'|[{}]"
)
"""Comments, strings and braces."""


def divide_tagged(data: bytes, language: str) -> list[Layer]:
    """Return a template, then the code between its tags. That code is in pieces, so only its names are read.

    A tag ends a statement, but for one that opens a block: `<% if a %>`.
    """
    template = Layer(language, data, [(0, len(data))])
    spans: list[Span] = []
    start = data.find(b"<%")
    while start >= 0 and len(spans) < _MAX_TAGS:
        end = data.find(b"%>", start + 2)
        if end < 0:
            break
        if data[start + 2 : start + 3] not in _NO_CODE or end == start + 2:
            spans.append((start, end + 2))
        start = data.find(b"<%", end + 2)
    if not spans:
        return [template]
    code = bytearray(only(data, spans))
    for start, end in spans:
        # Signs at either end say how the result is written.
        inner = data[start + 2 : end - 2]
        first = end - 2 - len(inner.lstrip(b"=-_"))
        last = max(first, start + 2 + len(inner.rstrip(b"-_")))
        code[start:first] = b" " * (first - start)
        code[last:end] = b";".ljust(end - last)
    return [template, Layer(_CODE_LANGUAGES[language], bytes(code), spans, names_only=True)]


def divide_razor(data: bytes, language: str) -> list[Layer]:
    """Return the markup of a page or component, then the members of its class: the blocks `@code` and `@functions`."""
    spans: list[Span] = []
    code = bytearray(data)
    at = 0
    while (block := _BLOCK.search(data, at)) is not None:
        start = data.index(b"@", block.start())
        end = _end_of_block(data, block.end())
        if end < 0:
            break
        spans.append((start, end))
        _begin_class(code, start, block.end())
        at = end
    markup = make_layer(language, data, gaps(spans, len(data)))
    return [markup, Layer("csharp", only(bytes(code), spans), spans, wrapper=_CLASS)] if spans else [markup]


def _begin_class(code: bytearray, start: int, end: int) -> None:
    """Write the beginning of a class in place of `@code {`, and of blanks behind it, because it is longer."""
    while code[end : end + 1].isspace():
        end += 1
    places = [at for at in range(start, end) if code[at] not in b"\r\n"]
    beginning = f"class {_CLASS}{{".encode()
    if len(beginning) <= len(places):
        for at, letter in zip(places, beginning.ljust(len(places)), strict=True):
            code[at] = letter


def _end_of_block(data: bytes, at: int) -> int:
    """Return the end of a block of C# whose brace is before an offset, -1 without one."""
    depth = 1
    for token in _CSHARP_TOKEN.finditer(data, at):
        if token[0] in (b"{", b"}"):
            depth += 1 if token[0] == b"{" else -1
            if not depth:
                return token.end()
    return -1
