"""Turn documentation into queries: remove markup, take the first sentence or two, refuse boilerplate."""

import re
from typing import Final

from gitmem.words import split_identifier

# Comment syntax at the start and end of lines, in all languages of the recipe.
_MARKERS: Final = re.compile(
    r"^\s*(?:/\*+!?<?|\*+/|\*+(?![\w*])|//[/!]*<?|#+(?![\w\[!])|--+\s?[|^]|--+\[*=*\[?|\{-\s?\|?|-\}|;+|%+|\^|\|)?\s?"
)
_CLOSERS: Final = re.compile(r"(?:\*+/|-\}|\]=*\]|\"\"\"|''')\s*$")
_OPENERS: Final = re.compile(r"^\s*(?:[rRuUbBfF]{0,2}|~[sS])(?:\"\"\"|''')")
_SECTION: Final = re.compile(
    r"""^(?:
        @(?!link|code|brief|summary|description|desc)\w+ | \\(?!brief)\w+ | :\w+[^:]*: |
        -\s*(?:Parameters?|Returns|Throws|Note|Warning|Important|Complexity|SeeAlso)\b.*: |
        (?:Args|Arguments|Parameters|Params|Returns?|Raises|Throws|Yields|Examples?|Usage|Notes?|See\ [Aa]lso|
            Attributes|Keyword\ Args|Options|Precondition|Complexity|Safety|Panics|Errors)\s*:?\s*$ |
        [=\-~*]{3,} | >>> | ``` | ~~~ | \.\.\ \w+:: | \#+\  | iex> | \$\  |
        <(?:param|returns?|typeparam|exception|example|seealso|value|inheritdoc)\b
    )""",
    re.VERBOSE,
)
"""Starts of lines after the prose of a comment: lists, examples and tags."""

# Markup and its replacement by the text that readers see.
_MARKUP: Final = (
    (re.compile(r"<see(?:also)?\s+(?:cref|langword|href)=\"[^\"]*?([\w]+)(?:\([^\"]*)?\"\s*/>"), r"\1"),
    (re.compile(r"<(?:paramref|typeparamref)\s+name=\"(\w+)\"\s*/>"), r"\1"),
    (re.compile(r"</?[a-zA-Z][^<>]{0,80}>"), " "),
    (re.compile(r"\{@(?:link|code|linkplain|literal|inheritDoc)\s*([^}]*)\}"), r"\1"),
    (re.compile(r":[\w:]+:`~?\.?([^`<]*)[^`]*`"), r"\1"),
    (re.compile(r"!?\[([^\]]*)\]\([^)]*\)"), r"\1"),
    (re.compile(r"\[\[?`?([\w.:/()#?! ]+)`?\]?\](?:\[[^\]]*\])?"), r"\1"),
    (re.compile(r"https?://\S+"), " "),
    (re.compile(r"`+|\*\*|''+|&nbsp;|^[@\\](?:brief|summary|description|desc)\s"), ""),
    (re.compile(r"&lt;"), "<"),
    (re.compile(r"&gt;"), ">"),
    (re.compile(r"&amp;"), "&"),
)
_SENTENCE: Final = re.compile(r"^(.{20,}?[.!?])\s+(?=[A-Z(\d])")
_BOILERPLATE: Final = re.compile(
    r"""
    copyright | licen[cs]e | spdx | all\ rights\ reserved | warranty | redistribut | permission\ is\ hereby |
    \btodo\b | fixme | \bxxx\b | ^internal\ use | ^deprecated\b | ^see\ (?:super|parent|base) | inherit\ ?doc |
    ^non-?javadoc | ^\(non | created\ by\ .{0,40}\bon\ \d | ^(?:created\ by|author|date:|file:) |
    eslint | tslint | prettier-ignore | pylint | noqa | type:\ ?ignore | nolint | rubocop | phpcs | swiftlint |
    swift-format | clang-format | resharper | shellcheck | istanbul | @ts- | strict_types | vim: | -\*- | ^globals?\  |
    ^(?:auto-?)?generated | auto-?generated | do\ not\ (?:edit|modify) | ^pragma | ^\#?(?:end)?region\b | ^mark:?\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
_NOTICE: Final = re.compile(r"(?i)copyright|licen[cs]e|\bcreated by\b|part of the .* project")
_ARTICLES: Final = ("", "The ", "the ", "A ", "a ", "An ", "an ")
_WORD_START: Final = re.compile(r"\w")
_MAX_WORDS: Final = 60


def first_sentences(text: str, name: str) -> str:
    """Return the first sentence of a comment without markers and markup, with the second one if the first is short."""
    lines: list[str] = []
    for raw in _OPENERS.sub("", text.replace("\r", "")).splitlines():
        line = _CLOSERS.sub("", _MARKERS.sub("", _CLOSERS.sub("", raw), count=1)).strip()
        if line in ("<summary>", "</summary>"):
            if line == "</summary>" and lines:
                break
            continue
        # Sections before the prose are skipped, the first one after it ends it.
        if _SECTION.match(line):
            if lines:
                break
            continue
        if not line:
            if len(" ".join(lines).split()) >= 4:
                break
            continue
        lines.append(line)
    return " ".join(_first(_plain(" ".join(lines), name)).split()[:_MAX_WORDS])


def _plain(text: str, name: str) -> str:
    for pattern, replacement in _MARKUP:
        text = pattern.sub(replacement, text)
    text = " ".join(text.split())
    return _without_subject(text, name) if name else text


def _without_subject(text: str, name: str) -> str:
    """Remove the name at the start, which is part of the answer: `Close closes the file` becomes `closes the file`."""
    start = next((len(article) for article in _ARTICLES if text.startswith(article + name)), -1)
    rest = text[start + len(name) :].removeprefix("()")
    return text if start < 0 or _WORD_START.match(rest) else rest.lstrip(" :\u2013\u2014-")


def _first(text: str) -> str:
    sentence = _SENTENCE.match(text)
    if sentence is None or len(sentence[1].split()) < 3:
        return text
    # A short first sentence often says little alone.
    first, rest = sentence[1], text[sentence.end() :]
    second = _SENTENCE.match(rest) or re.match(r"^(.{20,}[.!?])$", rest)
    if len(first.split()) < 12 and second is not None and len(second[1].split()) < 25:
        return f"{first} {second[1]}"
    return first


def is_query(text: str) -> bool:
    """Return whether a text is prose about the code: three words or more, and not about licence, tools or author."""
    if not 12 <= len(text) <= 600 or len(re.findall(r"[A-Za-z]{2,}", text)) < 3:
        return False
    # Mostly letters and ASCII: the model is for English, and formulas or code are not queries.
    letters = sum(sign.isalpha() or sign == " " for sign in text)
    ascii_ = sum(sign.isascii() for sign in text)
    if letters < 0.75 * len(text) or ascii_ < 0.95 * len(text) or re.search(r"[;{}]\s*$", text):
        return False
    return _BOILERPLATE.search(text) is None


def is_notice(comment: str) -> bool:
    """Return whether a file's comment is about its owner, its licence or its interpreter."""
    return comment.startswith("#!") or _NOTICE.search(comment) is not None


def words_of(symbol: str) -> list[str]:
    """Return the words of a qualified name: http, server, close, all for `HTTPServer.closeAll`."""
    return [part.lower() for part in split_identifier(symbol.replace("_", " ").replace(".", " "))]
