"""Turn the macros of C and C++ that annotate the declaration behind them into comments.

`UFUNCTION(BlueprintCallable)`, `Q_OBJECT` and `G_BEGIN_DECLS` have no semicolon. A parser without a preprocessor takes
them for functions or types, so the declaration behind them loses its name, or the whole class its members.

Such a macro is in capitals at the beginning of a line, and has arguments or stands alone. Behind it, or behind others
of its kind, a declaration begins. A comment there belongs to the declaration, as the macro does.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from gitmem.chunking.attribute_macros import LANGUAGES

# It begins with a line feed, which is found faster than the beginning of a line; on the first line there is none.
_MACRO: Final = re.compile(rb"\n[ \t]*+([A-Z_][A-Z0-9_]{2,})(?:[ \t]*(\()|[ \t\r]*(?=\n|\Z))")
"""A macro that may be one: before a parenthesis, or alone on its line."""

_DEFINING: Final = re.compile(rb"DECLARE|DEFINE|IMPLEMENT")
"""Words of macros that define their arguments."""

_CONTINUED: Final = (b"\\", b"\\\r")
"""Ends of a line that the next one continues: the value of another macro."""

_MAX_ARGUMENTS: Final = 2000
"""Bytes of the arguments of a macro."""

_MAX_UNCLOSED: Final = 50
"""Macros without a closing parenthesis after which no more are looked for: such a file is not code."""

_ARGUMENT: Final = re.compile(rb"""[^()"']+|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|([()])""")
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

_WORD: Final = re.compile(rb"[A-Za-z_]\w*")
_LINE: Final = re.compile(rb"[^\n]+")


class AnnotationName(NamedTuple):
    """A name in an annotation, whether it is that of a macro with arguments, and where the name and the macro begin."""

    start: int
    text: bytes
    is_call: bool
    macro: int


def with_commented_annotations(text: bytes, data: bytes, grammar: str) -> bytes:
    """Return source of the same length, with comments for the annotations.

    `text` is `data` as the parser gets it, perhaps with other changes.
    """
    spans = _find_spans(data) if grammar in LANGUAGES else ()
    if not spans:
        return text
    changed = bytearray(text)
    for start, end in spans:
        ends_line = data[end : end + 1] in (b"", b"\n", b"\r")
        for line in _LINE.finditer(data, start, end):
            size = line.end() - line.start()
            # Behind a comment of its last line the declaration would be lost.
            is_comment = size > 1 and (line.end() < end or ends_line)
            changed[line.start() : line.end()] = (b"//" if is_comment else b"  ").ljust(size)[:size]
    return bytes(changed)


def find_annotation_names(data: bytes) -> Iterator[AnnotationName]:
    """Yield the names in annotations."""
    for start, end in _find_spans(data):
        for word in _WORD.finditer(data, start, end):
            is_macro = word.start() == start
            yield AnnotationName(word.start(), word[0], is_macro and end > word.end(), start)


@lru_cache(maxsize=1)
def _find_spans(data: bytes) -> Sequence[tuple[int, int]]:
    """Return the spans of the annotations. The last ones are kept: the parser and the search for names ask for them."""
    spans: list[tuple[int, int]] = []
    waiting: list[tuple[int, int]] = []
    following, unclosed = -1, 0
    for macro in _MACRO.finditer(data):
        if _DEFINING.search(macro[1]) or data.endswith(_CONTINUED, 0, macro.start()):
            continue
        end = _end_of_arguments(data, macro.end()) if macro[2] else macro.end(1)
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
        if _DECLARATION.match(data, following) or (macro[2] and _END_OF_CLASS.match(data, following)):
            spans += waiting
            waiting.clear()
    return spans


def _end_of_arguments(data: bytes, start: int) -> int:
    """Return the end of the parenthesis that begins before an offset, 0 if there is none."""
    depth = 1
    for part in _ARGUMENT.finditer(data, start, start + _MAX_ARGUMENTS):
        if part[1]:
            depth += 1 if part[1] == b"(" else -1
            if not depth:
                return part.end()
    return 0
