"""Blank the conditional directives that a parser does not know where they stand.

Those of Objective-C and Swift do not know them between methods, and that of C# not within a statement or declaration.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final

_LANGUAGES: Final = ("objc", "swift")
_DIRECTIVE: Final = re.compile(rb"\n[ \t]*+#[ \t]*(?:if|ifdef|ifndef|else|elif|elseif|endif)\b(?:[^\n\\]|\\.)*")
_TEXT: Final = re.compile(rb"[^\n]")

_OF_CSHARP: Final = re.compile(rb"^[ \t]*+#[ \t]*+(if|elif|else|endif|line)\b[^\n]*", re.MULTILINE)
_NO_CODE: Final = (b"//", b"/*", b"*", b"#")
"""Beginnings of lines that are no code: comments and other directives."""

_MAX_LINES: Final = 50
"""Lines without code that are passed over, one by one for each branch."""

_COMMENT: Final = re.compile(rb"\s//[^\n]*")
_BEFORE_WHOLE: Final = frozenset({b"", b";", b"{", b"}", b"]", b":"})
_ENDS_OF_WHOLE: Final = frozenset({b"", b";", b"}", b"]"})
"""Last characters of code before declarations or statements, the label of a case among them, and of these."""

_CONTINUED: Final = re.compile(rb"\s*+(?:(?:catch|else|finally|when|get|set|add|remove)\b|[^\w\s\[({/#])")
"""Beginning of a branch that continues what is before it."""


def without_conditions(text: bytes, grammar: str) -> bytes:
    """Return source of the same length, with blanks for conditional directives.

    All branches remain. Of those in the middle of a statement or declaration of C#, only the first one does.
    """
    if grammar == "csharp":
        return _without_spans(text, _inner_conditions(text)) if b"#" in text else text
    if grammar not in _LANGUAGES:
        return text
    return _DIRECTIVE.sub(lambda line: _TEXT.sub(b" ", line[0]), text)


def _without_spans(text: bytes, spans: Iterable[tuple[int, int]]) -> bytes:
    """Return text with blanks in some spans; lines stay."""
    blanked = bytearray(text)
    for start, end in spans:
        blanked[start:end] = _TEXT.sub(b" ", text[start:end])
    return bytes(blanked)


def _inner_conditions(text: bytes) -> Iterator[tuple[int, int]]:
    """Yield the spans of C# to blank: lines of generated code, and conditions within a statement or declaration."""
    opened: list[list[re.Match[bytes]]] = []
    for directive in _OF_CSHARP.finditer(text):
        if directive[1] == b"line":
            yield directive.span()
        elif directive[1] == b"if":
            opened.append([directive])
        elif opened:
            opened[-1].append(directive)
            if directive[1] == b"endif":
                first, *others = condition = opened.pop()
                if not _is_between_declarations(text, condition):
                    yield first.span()
                    yield others[0].start(), others[-1].end()


def _is_between_declarations(text: bytes, condition: Sequence[re.Match[bytes]]) -> bool:
    """Return whether a condition, `#if` to `#endif`, is around whole declarations or statements."""
    if _last_character(text, 0, condition[0].start()) not in _BEFORE_WHOLE:
        return False
    return all(_is_whole(text, one.end(), two.start()) for one, two in pairwise(condition))


def _is_whole(text: bytes, start: int, end: int) -> bool:
    """Return whether a branch has whole declarations or statements."""
    if text.count(b"{", start, end) != text.count(b"}", start, end) or _CONTINUED.match(text, start, end):
        return False
    return _last_character(text, start, end) in _ENDS_OF_WHOLE


def _last_character(text: bytes, start: int, end: int) -> bytes:
    """Return the last character of code in a span, b"" if there is none in its last lines."""
    for _ in range(_MAX_LINES):
        if end <= start:
            break
        first = text.rfind(b"\n", start, end) + 1 or start
        line = text[first:end].strip()
        if line and not line.startswith(_NO_CODE):
            return _COMMENT.sub(b"", line).rstrip()[-1:]
        end = first - 1
    return b""
