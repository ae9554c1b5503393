"""Blank the comments in the values of macros of C and C++.

The value of a macro ends at a comment for the parsers. They take the code behind it, and the lines by which the value
goes on, for code outside of the macro.
"""

import re
from typing import Final

from gitmem.chunking.attribute_macros import LANGUAGES

_MACRO: Final = re.compile(
    rb"\n[ \t]*+#[ \t]*+define\b(?=[^\n]*(?:\\\r?\n|/\*))((?:[^\n\\/]|/\*(?:[^*]|\*(?!/)){0,1000}+\*/|/|\\\r?.)*+)",
    re.DOTALL,
)
_COMMENT: Final = re.compile(rb"/\*(?:[^*\n\\]|\*(?!/)|\\\r?.){0,1000}+\*/(?=(?:\s|\\\r?\n)*[^\s\\])", re.DOTALL)
"""Comment on lines that all go on, with code behind it."""

_ANY: Final = re.compile(rb"(?!\\\r?\n)[^\r\n]")
"""Byte other than those that end a line or let it go on."""


def without_macro_comments(text: bytes, data: bytes, grammar: str) -> bytes:
    """Return text of the same length, with blanks for the comments, which are found in `data`."""
    if grammar not in LANGUAGES or b"define" not in data:
        return text
    # Directives are found behind line feeds, so one is put before the first line.
    lines = b"\n" + data
    spans = [
        comment.span()
        for macro in _MACRO.finditer(lines)
        if b"/*" in macro[1]
        for comment in _COMMENT.finditer(lines, *macro.span(1))
    ]
    if not spans:
        return text
    result = bytearray(text)
    for start, end in spans:
        result[start - 1 : end - 1] = _ANY.sub(b" ", text[start - 1 : end - 1])
    return bytes(result)
