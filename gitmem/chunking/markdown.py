"""Find the headings of Markdown.

A line scanner instead of a parser, at a fraction of its cost: only headings, code fences and front matter matter here.
ATX headings, setext headings and fences follow CommonMark.
"""

import re
from typing import Final

from gitmem.chunking.headings import MAX_HEADING, MAX_TITLE, Heading
from gitmem.chunking.split import Edge

_FRONT_MATTER: Final = re.compile(rb"(?:\xef\xbb\xbf)?(---|\+\+\+)[ \t]*\r?\n(?:.*\n)*?\1[ \t]*(?:\r?\n|\Z)")
_MARK: Final = re.compile(
    rb"^ {0,3}(?:(?P<hash>#{1,6})(?:[ \t]+(?P<title>[^\n]*?))?[ \t]*\r?$"
    rb"|(?P<fence>`{3,}|~{3,})(?P<info>[^\n]*)$"
    rb"|(?P<under>=+|-{2,})[ \t]*\r?$)",
    re.MULTILINE,
)
_CLOSING_HASHES: Final = re.compile(rb"(?:^|[ \t]+)#+$")
_INLINE: Final = re.compile(
    r"(?P<ticks>`+)[ ]?(?P<code>.*?)[ ]?(?P=ticks)(?!`)"  # code is literal, tags and underscores in it too
    r"|\\(?P<escaped>[!-/:-@\[-`{-~])"
    r"|!\[[^\]]*\]\([^)]*\)"  # images, mostly badges
    r"|\[(?P<linked>(?:[^\[\]]|\[[^\]]*\])*)\](?:\([^)]*\)|\[[^\]]*\])"
    r"|</?[A-Za-z][^<>]*>|<!--.*?-->"
    r"|\{[%#:{][^}]*\}+"  # identifiers and instructions of site generators: `{#intro}`, `{% badge %}`
    r"|\*+|(?<!\w)(?P<under>_{1,3})(?P<stressed>[^_\s](?:.*?[^_\s])?)(?P=under)(?!\w)"  # not inside a word
)
_NOT_A_TITLE: Final = (b"#", b"-", b"*", b">", b"|", b"<", b"```", b"+")
"""Starts of lines that are not the text of a setext heading: other headings, list items, quotes, tables, HTML."""


def find_headings(data: bytes) -> tuple[list[Heading], list[Edge]]:
    """Return the headings outside fences, and the starts and ends of fences as edges for splitting."""
    front_matter = _FRONT_MATTER.match(data)
    at = front_matter.end() if front_matter else 0
    headings: list[Heading] = []
    fences: list[Edge] = []
    fence = b""  # the opening fence while inside one
    for match in _MARK.finditer(data, at):
        mark = match["fence"]
        if fence:
            # Only a fence of the same character, at least as long and without an info string closes (CommonMark 4.5).
            if mark and mark[:1] == fence[:1] and len(mark) >= len(fence) and not match["info"].strip():
                fence = b""
                fences.append((match.end() + 1, 1))
        elif mark:
            if mark[:1] == b"~" or b"`" not in match["info"]:
                fence = mark
                fences.append((match.start(), 1))
        elif match["hash"]:
            headings.append(
                (match.start(), len(match["hash"]), _title(_CLOSING_HASHES.sub(b"", match["title"] or b"")))
            )
        elif match["under"]:
            above = max(data.rfind(b"\n", at, max(at, match.start() - 1)) + 1, at)
            text = data[above : match.start()].strip()
            if text and not text.startswith(_NOT_A_TITLE):
                headings.append((above, 1 if match["under"].startswith(b"=") else 2, _title(text)))
    return headings, fences


def _title(raw: bytes) -> str:
    """Return the text of a heading without its markup: code spans, links, emphasis, HTML."""
    text = raw.decode("utf-8", "replace").strip()[:MAX_HEADING]
    return " ".join(_INLINE.sub(_without_markup, text).split())[:MAX_TITLE]


def _without_markup(match: re.Match[str]) -> str:
    """Return the text of one piece of inline markup."""
    if match["code"] is not None or match["escaped"]:
        return match["code"] or match["escaped"] or ""
    if match["stressed"] and len(match["under"]) == 2 and match["stressed"].isidentifier():
        return match[0]  # `__init__` is far more often a name than a stressed word
    # The text of a link may contain markup in its turn: [`name`](...).
    return _INLINE.sub(_without_markup, match["linked"] or match["stressed"] or "")
