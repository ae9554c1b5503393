"""Write forms of Objective-C++ that the parser of Objective-C does not know as ones of the same length that it does.

They are loops over a container, `for (const auto& item : list)`, variables with values in braces,
`config conf {props};`, constructors, `const` and the like behind the parameters of a method, and namespaces, which are
blanked. Behind most of them, the rest of the file is lost.
"""

import re
from typing import Final

LANGUAGE: Final = "objc"

_TEXT: Final = re.compile(rb"[^\n]")
_LOOP: Final = re.compile(
    rb"\bfor[ \t]*\([^;(){}=:]{1,200}(?:::[^;(){}=:]{1,200}){0,9}(?P<colon>[ \t]:[ \t])(?=[^;{}]{1,400}\))"
)
_VALUE: Final = re.compile(
    rb"(?m)^[ \t]*(?!(?:typedef|enum|struct|union|class|namespace|return|else|do|extern|static|const|case)\b)"
    rb"[A-Za-z_][\w:]*(?:<[^;{}()]{1,200}>)?[ \t*&]+[A-Za-z_]\w*[ \t]*(?P<opened>\{)[^{};]{0,400}(?P<closed>\})[ \t]*;"
)
_BEHIND_METHOD: Final = re.compile(rb"(?<=\))\s*(?:(?:const|override|final|noexcept)\b\s*)+(?=[{;])")
_CONSTRUCTOR: Final = re.compile(rb"(?m)^([A-Za-z_]\w*)(?P<sign>::~?)\1(?=\s*\()")
_INITIALIZERS: Final = re.compile(
    rb"(?<=\))\s*+:(?!:)\s*+(?:[A-Za-z_][\w:]*+(?:<[^;{}()]*+>)?\s*+"
    rb"(?:\((?:[^();]++|\((?:[^();]++|\([^();]*+\))*+\))*+\)|\{[^{};]*+\})\s*+,?\s*+)++(?=\{)"
)
_NAMESPACE: Final = re.compile(rb"(?m)^[ \t]*(?:inline[ \t]+)?namespace(?:\s+[A-Za-z_][\w:]*)?\s*\{")
# Braces in comments and in literals close nothing. What is not closed ends with its line, or the file: each byte is
# read once.
_TOKEN: Final = re.compile(
    rb"""//[^\n]*+|/\*(?s:.)*?(?:\*/|\Z)|"(?:[^"\\\n]|\\(?s:.))*+"?|'(?:[^'\\\n]|\\.){1,9}+'|(?P<brace>[{}])"""
)


def with_plain_cpp(text: bytes, grammar: str) -> bytes:
    """Return source of the same length that the parser understands."""
    if grammar != LANGUAGE:
        return text
    if b" : " in text:
        text = _LOOP.sub(_plain_loop, text)
    if b"::" in text:
        # Initialisers follow the parameters, so that their constructor gets its type before.
        text = _INITIALIZERS.sub(_blanks, _CONSTRUCTOR.sub(_with_type, text))
        text = _BEHIND_METHOD.sub(_blanks, text)
    text = _VALUE.sub(_in_parentheses, text)
    return _without_namespaces(text) if b"namespace" in text else text


def _blanks(form: re.Match[bytes]) -> bytes:
    return _TEXT.sub(b" ", form[0])


def _with_type(constructor: re.Match[bytes]) -> bytes:
    """Return the name of a constructor or destructor as that of a function whose type is the class."""
    return constructor[1] + b" " * len(constructor["sign"]) + constructor[1]


def _plain_loop(loop: re.Match[bytes]) -> bytes:
    """Return the head of a loop with its variable as that of a loop of C, whose last part is the container."""
    head = loop[0][: loop.start("colon") - loop.start()]
    return re.sub(rb"[&\[\]]", b" ", head) + b";; "


def _in_parentheses(variable: re.Match[bytes]) -> bytes:
    """Return the declaration of a variable with parentheses around its value."""
    text = bytearray(variable[0])
    text[variable.start("opened") - variable.start()] = ord("(")
    text[variable.start("closed") - variable.start()] = ord(")")
    return bytes(text)


def _without_namespaces(text: bytes) -> bytes:
    """Return the text with blanks for the heads of namespaces and the braces at their ends."""
    heads = {head.end() - 1: head for head in _NAMESPACE.finditer(text)}
    plain = bytearray(text)
    opened: list[int] = []
    for token in _TOKEN.finditer(text) if heads else ():
        if token["brace"] == b"{":
            opened.append(token.start())
        elif token["brace"] and opened and (head := heads.get(opened.pop())) is not None:
            plain[head.start() : head.end()] = _blanks(head)
            plain[token.start() : token.end()] = b" "
    return bytes(plain)
