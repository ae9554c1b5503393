"""Blank the conditional directives of Objective-C: the parser knows them between functions, but not between methods."""

import re
from typing import Final

_LANGUAGE: Final = "objc"
_DIRECTIVE: Final = re.compile(rb"\n[ \t]*+#[ \t]*(?:if|ifdef|ifndef|else|elif|endif)\b(?:[^\n\\]|\\.)*")
_TEXT: Final = re.compile(rb"[^\n]")


def without_conditions(text: bytes, grammar: str) -> bytes:
    """Return source of the same length, with blanks for conditional directives, so that all branches remain."""
    if grammar != _LANGUAGE:
        return text
    return _DIRECTIVE.sub(lambda line: _TEXT.sub(b" ", line[0]), text)
