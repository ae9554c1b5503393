"""Blank the conditional directives of Objective-C and Swift: the parsers do not know them between methods."""

import re
from typing import Final

_LANGUAGES: Final = ("objc", "swift")
_DIRECTIVE: Final = re.compile(rb"\n[ \t]*+#[ \t]*(?:if|ifdef|ifndef|else|elif|elseif|endif)\b(?:[^\n\\]|\\.)*")
_TEXT: Final = re.compile(rb"[^\n]")


def without_conditions(text: bytes, grammar: str) -> bytes:
    """Return source of the same length, with blanks for conditional directives, so that all branches remain."""
    if grammar not in _LANGUAGES:
        return text
    return _DIRECTIVE.sub(lambda line: _TEXT.sub(b" ", line[0]), text)
