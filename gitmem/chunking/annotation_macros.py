"""Turn the macros of C and C++ that annotate the declaration behind them into comments.

`UFUNCTION(BlueprintCallable)`, `Q_OBJECT` and `G_BEGIN_DECLS` have no semicolon. A parser without a preprocessor takes
them for functions or types, so the declaration behind them loses its name, or the whole class its members.

Such a macro is in capitals at the beginning of a line, and has arguments or stands alone. Behind it, or behind others
of its kind, a declaration or directive begins, or a class ends. A comment there belongs to the declaration, as the
macro does.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

from gitmem.chunking.attribute_macros import LANGUAGES
from gitmem.chunking.commented_spans import HiddenName, end_of_arguments, names_in_spans, with_comments

# It begins with a line feed, which is found faster than the beginning of a line; on the first line there is none.
_MACRO: Final = re.compile(rb"\n[ \t]*+([A-Z_][A-Z0-9_]{2,})(?:[ \t]*(\()|[ \t\r]*(?=\n|\Z))")
"""A macro that may be one: before a parenthesis, or alone on its line."""

_DEFINING: Final = re.compile(rb"DECLARE|DEFINE|IMPLEMENT")
"""Words of macros that define their arguments."""

_CONTINUED: Final = (b"\\", b"\\\r")
"""Ends of a line that the next one continues: the value of another macro."""

_MAX_UNCLOSED: Final = 50
"""Macros without a closing parenthesis after which no more are looked for: such a file is not code."""

_GAP: Final = re.compile(rb"(?:\s|//[^\n]*|/\*(?:[^*]|\*(?!/)){0,4000}+\*/)*+")

_KEYWORDS: Final = (
    rb"(?:class|struct|enum|union|template|virtual|static|explicit|constexpr|inline|friend|using|typedef|extern"
    rb"|namespace|mutable)(?![\w(])"
)
_SECTIONS: Final = rb"(?:public|private|protected|signals|Q_SIGNALS)(?:[ \t]+\w+)?[ \t]*:"
_STATEMENTS: Final = rb"(?:return|else|case|goto|throw|new|delete|do|if|for|while|switch|sizeof|co_\w+|and|or|not)\b"
_TYPE: Final = (
    rb"(?:(?:const|volatile|struct|enum)[ \t]+){0,4}[A-Za-z_][\w:]*(?:<[^;{}()]{0,200}>)?(?:[ \t]*[*&]+[ \t]*|[ \t]+)"
)
_NAME: Final = (
    rb"(?:(?:const|int|long|short|char|[A-Z_][A-Z0-9_]+)[ \t]+){0,6}[A-Za-z_~][\w:]*[ \t]*(?:[({;=,)]|\[\w|:(?!:))"
)
_DECLARATION: Final = re.compile(
    rb"%b|%b|@(?:interface|protocol|property|implementation|class)\b|(?!%b)%b%b"
    % (_KEYWORDS, _SECTIONS, _STATEMENTS, _TYPE, _NAME)
)
"""The beginning of a declaration."""

_END_OF_CLASS: Final = re.compile(rb"}\s*;")
_END_OF_PART: Final = re.compile(rb"}\s*;|#")
"""Code behind a macro that is the last one of a class, or before a directive."""

_NO_CODE: Final = re.compile(rb"//[^\n]*|/\*.*?\*/|^[ \t]*#[^\n]*", re.DOTALL | re.MULTILINE)
_ENUM: Final = re.compile(rb"\benum\b[^{};]*\{\Z")
_REACH: Final = 400
"""Bytes before a macro in which the end of the code above it is looked for."""


def with_commented_annotations(text: bytes, data: bytes, grammar: str) -> bytes:
    """Return source of the same length, with comments for the annotations; see `with_comments`."""
    return with_comments(text, data, _find_spans(data)) if grammar in LANGUAGES else text


def find_annotation_names(data: bytes) -> Iterator[HiddenName]:
    """Yield the names in annotations: macros with arguments are called."""
    return names_in_spans(data, _find_spans(data), "call")


@lru_cache(maxsize=1)
def _find_spans(data: bytes) -> Sequence[tuple[int, int]]:
    """Return the spans of the annotations. The last ones are kept: the parser and the search for names ask for them."""
    spans: list[tuple[int, int]] = []
    waiting: list[tuple[int, int]] = []
    following, unclosed = -1, 0
    for macro in _MACRO.finditer(data):
        if _DEFINING.search(macro[1]) or data.endswith(_CONTINUED, 0, macro.start()):
            continue
        end = end_of_arguments(data, macro.end()) if macro[2] else macro.end(1)
        if not end:
            unclosed += 1
            if unclosed > _MAX_UNCLOSED:
                break
            continue
        if macro.start(1) != following:
            waiting.clear()
        waiting.append((macro.start(1), end))
        gap = _GAP.match(data, end)
        following = gap.end() if gap else end
        is_last = (
            _END_OF_CLASS.match(data, following)
            if macro[2]
            else _END_OF_PART.match(data, following) and _is_item(data, waiting[0][0])
        )
        if is_last or _DECLARATION.match(data, following):
            spans += waiting
            waiting.clear()
    return spans


def _is_item(data: bytes, start: int) -> bool:
    """Return whether a macro alone on its line stands for members or declarations: it may be an enumerator."""
    above = _NO_CODE.sub(b"", data[max(0, start - _REACH) : start]).rstrip()
    return above[-1:] in (b"", b";", b"}") or (above.endswith(b"{") and not _ENUM.search(above))
