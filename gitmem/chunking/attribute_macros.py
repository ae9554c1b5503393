"""Blank the macros between the keyword and the name of a class in C and C++: `class LIBRARY_API Node : public Base`.

A parser without a preprocessor takes such a macro for the name of the class, and the name for a variable or function.
The members are then lost. A macro in capitals before a name that a body or base classes follow is an attribute; a type
before a method (`struct NODE Tree::find() {`), a variable of a loop or one with values (`struct POINT at{1, 2};`) is
not. No member of a class begins with a sign, a number or a word before a comma, a dot or a plus. A single word is a
value (`at{origin}`) unless it is in capitals: a macro may be the only member.
"""

import re
from typing import Final

_GRAMMARS: Final = frozenset({"c", "cpp", "objc", "cuda"})
_VALUE: Final = rb"""\s*(?:[-+!&*.({"'\d]|\w+\s*[,.+]|\w*[a-z]\w*\s*})"""
_MACRO: Final = re.compile(
    rb"(?<!\()\b(?:class|struct|union)(?:\s+[A-Z_][A-Z0-9_]{2,}(?:\([^()\n]*\))?)+"
    rb"(?=\s+[A-Za-z_]\w*(?:::\w+)*\s*(?:final\s*)?(?::(?!:)|{(?!" + _VALUE + rb")))"
)
_KEYWORD: Final = re.compile(rb"class|struct|union")
_TEXT: Final = re.compile(rb"[^\n]")


def without_attribute_macros(data: bytes, grammar: str) -> bytes:
    """Return source of the same length, with blanks for the macros of class heads."""
    if grammar not in _GRAMMARS:
        return data
    return _MACRO.sub(_blank, data)


def _blank(head: re.Match[bytes]) -> bytes:
    keyword = _KEYWORD.match(head[0])
    assert keyword is not None, "a head begins with a keyword"
    return keyword[0] + _TEXT.sub(b" ", head[0][keyword.end() :])
