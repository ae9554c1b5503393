"""Split a query into parts by their type, so that each can count as much as its type deserves. Pure.

A query may be an issue with its template, a stack trace, a log, or a message with code in it. The lines of such a text
differ more in value than the words of one sentence: a title names the subject, while a list of installed packages says
nothing about it.

The rules look at the form of a line and not at its subject, except for the words that announce an environment. A query
of one line is not split.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from gitmem.named_tuple import NamedTuple
from gitmem.search.mentions import is_frame

TITLE: Final = "title"
PROSE: Final = "prose"
CODE: Final = "code"
ERROR: Final = "error"
TRACE: Final = "trace"
LOG: Final = "log"
ENVIRONMENT: Final = "environment"
TEMPLATE: Final = "template"


class Part(NamedTuple):
    """Consecutive lines of one type."""

    kind: str
    text: str


MAX_SEEN: Final = 500
"""Characters of a line by which its type is decided: enough for any form, and it bounds the cost of hostile lines."""

_HTML_COMMENT: Final = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_HTML_TAG: Final = re.compile(r"</?(?:details|summary|pre|code|p|br|img|kbd|sub|sup|b|i)\b[^>]{0,200}>", re.IGNORECASE)
_FENCE: Final = re.compile(r"\s*(`{3,}|~{3,})")
_HEADING: Final = re.compile(r"\s{0,3}(?:#{1,6}\s+\S|\*\*[^*]+\*\*:?\s*$|__[^_]+__:?\s*$)")
_CHECKBOX: Final = re.compile(r"\s*[-*+]\s+\[[ xX]\]")
_RULER: Final = re.compile(r"[\s=*_~+|:.-]*")
"""Underlines, separators of tables, dots."""
_QUOTE: Final = re.compile(r"\s{0,3}(?:>\s?)+(?![>.])")
_PROMPT: Final = re.compile(r"\s*(?:>>>|\.\.\.|\$|In \[\d+\]:|Out\[\d+\]:)(?:\s|$)")
_INDENTED: Final = re.compile(r"(?: {4}|\t)")

_TIMESTAMP: Final = r"\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d\S*\s*|\[?\d\d:\d\d:\d\d\S*\s*"
_LOG: Final = re.compile(
    rf"\s*(?:{_TIMESTAMP}|\[?(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL)\b\]?[\s:])"
)
_ERROR: Final = re.compile(
    r"\s*(?:E\s{2,}|>\s)?(?:\S+:\d+:(?:\d+:)?\s+)?(?:Uncaught |Unhandled |fatal |internal |compiler )*"
    r"(?:[\w.$:\\]*(?:Error|Exception|Warning|Failure|Panic|Interrupt|Exit|Iteration)\b(?:\s*[:(]|\s*$)"
    r"|(?:error|panic|fatal|abort|exception)(?:\[\w+\])?:|thread .{1,80} panicked\b|panicked at\b"
    r"|Caused by:|Exception in thread|Segmentation fault|undefined (?:method|reference|symbol|local variable))"
)
_TRACE_START: Final = re.compile(
    r"\s*(?:Traceback \(|Stack ?trace|Backtrace|goroutine \d+|stack backtrace:)", re.IGNORECASE
)

_VERSION: Final = re.compile(r"\bv?\d+(?:\.\w+)+\b|\b\d+(?:\.\d+)*[-+]\w+")
_WORD: Final = re.compile(r"[^\W\d_]{2,}")
_ENVIRONMENT_HEADING: Final = re.compile(
    r"\b(?:versions?|environment|system|platform|os|operating|dependenc\w+|installation|installed"
    r"|packages|backend|info)\b",
    re.IGNORECASE,
)
_CODE_END: Final = re.compile(r"[;{}\])]\s*$|\):\s*$|=\s*\S+$")
_CODE_SIGN: Final = re.compile(r"\w\(|\w\[|\w\.\w|[=<>!+*/|&-]=?|[{};]|::|->|@\w")
_SENTENCE: Final = re.compile(r"[a-z]{2,}[,.]? [a-z]{2,} [a-z]{2,}")


def split_query(text: str) -> list[Part]:
    """Split a query; lines without words are left out. The first line is the title unless a program printed it."""
    lines = _HTML_TAG.sub(" ", _HTML_COMMENT.sub("\n", text)).strip().splitlines()
    kinds = [(kind, line) for kind, line in _classify(lines) if kind]
    if not kinds:
        return [Part(TITLE, text.strip())]  # a comment alone: the user means its words
    if kinds[0][0] in (PROSE, TEMPLATE):
        kinds[0] = (TITLE, kinds[0][1])
    return [Part(kind, "\n".join(line for _, line in own)) for kind, own in groupby(kinds, key=lambda item: item[0])]


def _classify(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the type of each line, "" for a line without words, and the line without its markup."""
    in_environment = False
    place = 0
    while place < len(lines):
        line = lines[place]
        place += 1
        fence = _FENCE.match(line)
        if fence:
            end = _fence_end(lines, place, fence[1])
            yield from _classify_block(lines[place:end], ENVIRONMENT if in_environment else CODE)
            place = end + 1
        elif _HEADING.match(line[:MAX_SEEN]):
            in_environment = _ENVIRONMENT_HEADING.search(line[:MAX_SEEN]) is not None
            yield TEMPLATE, line
        else:
            yield _kind_outside(line[:MAX_SEEN], in_environment), _QUOTE.sub("", line)


def _fence_end(lines: Sequence[str], start: int, marker: str) -> int:
    """Return the position of the line that closes a fence, or the number of lines."""
    return next((place for place in range(start, len(lines)) if lines[place].strip().startswith(marker)), len(lines))


def _classify_block(lines: Sequence[str], default: str) -> Iterator[tuple[str, str]]:
    """Yield the types of the lines of a code block. The lines between the frames of a stack trace belong to it."""
    in_trace = False
    for line in lines:
        kind = _kind_of_output(line[:MAX_SEEN])
        in_trace = kind == TRACE or (in_trace and kind in ("", PROSE) and not _PROMPT.match(line))
        if kind == PROSE:
            kind = TRACE if in_trace else default
        yield (kind, line)


def _kind_outside(line: str, in_environment: bool) -> str:
    """Return the type of a line outside of code blocks."""
    kind = _kind_of_output(line)
    if kind != PROSE:
        return kind
    if _CHECKBOX.match(line):
        return TEMPLATE
    if in_environment:
        return ENVIRONMENT
    if _PROMPT.match(line):
        return CODE
    is_sentence = _SENTENCE.search(line) is not None
    if not is_sentence and (_INDENTED.match(line) or _CODE_END.search(line)) and _CODE_SIGN.search(line):
        return CODE
    return PROSE


def _kind_of_output(line: str) -> str:
    """Return what a line that a program printed is: "" without words, or PROSE if it is none of the known forms."""
    if _RULER.fullmatch(line):
        return ""
    if _TRACE_START.match(line) or is_frame(line):
        return TRACE
    if _ERROR.match(line):
        return ERROR
    if _LOG.match(line):
        return LOG
    versions = len(_VERSION.findall(line))
    if (
        versions
        and len(_WORD.findall(_VERSION.sub(" ", line))) <= 1 + 2 * versions
        and not _CODE_SIGN.search(_VERSION.sub(" ", line).strip("-= "))
    ):
        return ENVIRONMENT
    return PROSE
