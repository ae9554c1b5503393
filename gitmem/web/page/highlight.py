"""Lines of code as HTML, with syntax highlighting and the words of a query marked. Pure.

Pygments gives the tokens, because the grammars of the index have no rules for colours. Its lexers are regular
expressions, which may take long for hostile text: longer texts and lines are shown without colours.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

from markupsafe import Markup, escape
from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.token import STANDARD_TYPES, Token
from pygments.util import ClassNotFound

from gitmem.display import visible_code
from gitmem.search.snippet import OMITTED, matched_spans

MAX_CHARACTERS: Final = 100_000
MAX_LINE: Final = 1000

_ALIASES: Final = {"shell": "bash", "csharp": "c#", "objc": "objective-c", "tsx": "tsx", "notebook": "python",
                   "commonlisp": "common-lisp", "proto": "protobuf", "roff": "groff", "apex": "java",
                   "text": ""}  # fmt: skip
"""Names of languages that Pygments calls otherwise."""

_FAMILIES: Final = {"k": "k", "s": "s", "c": "c", "m": "n", "nf": "f", "nc": "f", "nd": "d", "nb": "b", "kt": "t",
                    "nt": "k", "na": "b", "nn": "f", "o": "", "p": "", "n": "", "w": "", "": ""}  # fmt: skip
"""The few classes of the style sheet, by the beginning of the short names of Pygments."""

Segment = tuple[str, str]
"""Class, "" for none, and text."""


def highlight(lines: Sequence[str], language: str, terms: Sequence[str] = ()) -> list[Markup]:
    """Return each line as HTML. Control characters are shown as escapes."""
    texts = ["" if line == OMITTED else visible_code(line) for line in lines]
    colored = _colored(texts, language)
    return [_render(segments, matched_spans(line, terms)) for segments, line in zip(colored, texts, strict=True)]


def _colored(lines: Sequence[str], language: str) -> list[list[Segment]]:
    """Return the segments of each line."""
    plain: list[list[Segment]] = [[("", line)] for line in lines]
    lexer = _find_lexer(language)
    if lexer is None or sum(map(len, lines)) > MAX_CHARACTERS or any(len(line) > MAX_LINE for line in lines):
        return plain
    colored: list[list[Segment]] = [[]]
    for token, text in lexer.get_tokens_unprocessed("\n".join(lines)):
        name = _family(token)
        first, *rest = text.split("\n")
        colored[-1].append((name, first))
        colored += [[(name, part)] for part in rest]
    # A lexer may end lines at other characters, for example a form feed; then the lines do not correspond.
    texts = ["".join(text for _, text in segments) for segments in colored]
    return colored if texts == list(lines) else plain


@lru_cache(maxsize=64)
def _find_lexer(language: str) -> "PlainLexer | None":
    name = _ALIASES.get(language, language)
    try:
        return PlainLexer(get_lexer_by_name(name)) if name else None
    except ClassNotFound:
        return None


class PlainLexer:
    """Lexer that leaves the text as it is: others add a line feed, and remove those at the start."""

    def __init__(self, lexer: Lexer) -> None:
        self._lexer = lexer

    def get_tokens_unprocessed(self, text: str) -> Iterator[tuple[object, str]]:
        """Yield token types and texts, which together are the whole text."""
        for _, token, value in self._lexer.get_tokens_unprocessed(text):
            yield token, value


@lru_cache(maxsize=1024)
def _family(token: object) -> str:
    # Types form a tree; the nearest ancestor with a short name decides.
    short = ""
    while not short and token is not Token and token is not None:
        short = STANDARD_TYPES.get(token, "")
        token = getattr(token, "parent", None)
    return next((_FAMILIES[short[:length]] for length in (2, 1, 0) if short[:length] in _FAMILIES), "")


def _render(segments: Sequence[Segment], marks: Sequence[tuple[int, int]]) -> Markup:
    """Return the segments of a line with the marked spans, which may cross several segments."""
    # Both lists are in the order of the line, so one pass suffices.
    html, at = [], 0
    for name, text in segments:
        for part, is_marked in _split(text, at, marks):
            piece = Markup("<mark>{}</mark>").format(part) if is_marked else escape(part)
            html.append(Markup('<span class="c-{}">{}</span>').format(name, piece) if name else piece)
        at += len(text)
    return Markup("").join(html)


def _split(text: str, start: int, marks: Sequence[tuple[int, int]]) -> Iterator[tuple[str, bool]]:
    """Yield the parts of a segment that begins at a column, each with whether it is marked."""
    at, end = start, start + len(text)
    for first, last in marks:
        if last <= at or first >= end:
            continue
        if first > at:
            yield text[at - start : first - start], False
        yield text[max(first, at) - start : min(last, end) - start], True
        at = min(last, end)
    if at < end:
        yield text[at - start :], False
