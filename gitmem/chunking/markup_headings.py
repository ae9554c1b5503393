"""Find the headings of reStructuredText, AsciiDoc, LaTeX, Typst, Org, Texinfo, manual pages and Perl's POD.

Line scanners, as for Markdown. The rules are those of the reStructuredText specification (sections), of the AsciiDoc
language (section titles, two-line titles, delimited blocks), of the manuals of Texinfo, Org and Typst, of man(7),
mdoc(7) and perlpod.
"""

import re
from typing import Final

from gitmem.chunking.headings import MAX_HEADING, MAX_TITLE, Heading
from gitmem.chunking.split import Edge
from gitmem.lazy_pattern import lazy_pattern

_ADORNMENT: Final = lazy_pattern(rb"^([!-/:-@\[-`{-~])\1{2,}(?=[ \t]*\r?$)", re.MULTILINE)
_SHORT: Final = 4
"""Characters of an underline that may be shorter than its title (docutils)."""

_ASCIIDOC: Final = lazy_pattern(
    rb"^(?P<level>={1,6}|#{1,6})[ \t]+(?P<title>\S[^\n]*)$"
    rb"|^(?P<block>(?P<delimiter>[-.=*_+/])(?P=delimiter){3,}|`{3,}|\|===)[^\n]*$"
    rb"|^(?P<under>[=~^+-]{2,})[ \t]*\r?$",
    re.MULTILINE,
)
_VERBATIM: Final = b"-.+/`"
"""Delimiters of the blocks in which nothing is a title. Other blocks hold no section either, but may be left open."""

_UNDERLINES: Final = b"=-~^+"
"""Characters of two-line titles of AsciiDoc by level."""

_LATEX: Final = lazy_pattern(
    rb"^[ \t]*\\(?P<command>part|chapter|(?:sub){0,2}section|paragraph)\*?(?:\[[^\]\n]*\])?"
    rb"\{(?P<title>(?:[^{}\n]|\{[^{}\n]*\})*)\}|^[ \t]*\\begin\{(?P<block>verbatim|lstlisting|minted)\}",
    re.MULTILINE,
)
_LATEX_LEVELS: Final = (b"part", b"chapter", b"section", b"subsection", b"subsubsection", b"paragraph")
_LATEX_INLINE: Final = lazy_pattern(r"\\(?:label|index|cite\w*|footnote)\{[^{}]*\}|\\[A-Za-z]+\*?\s*|[{}~$]")
_TYPST: Final = lazy_pattern(
    rb"^[ \t]*(?P<level>=+)[ \t]+(?P<title>\S[^\n]*?)(?:[ \t]*<[\w:.-]+>)?[ \t]*\r?$|^[ \t]*(?P<fence>`{3,})[^`\n]*$",
    re.MULTILINE,
)
_TYPST_INLINE: Final = lazy_pattern(r"(?P<marks>[`*]|(?<!\w)_)(?P<text>[^`*_]+)(?P=marks)(?!\w)")
_ORG: Final = lazy_pattern(
    rb"^(?:(?P<stars>\*+)[ \t]+(?:(?:TODO|DONE)[ \t]+)?(?P<title>\S[^\n]*?)(?:[ \t]+:[\w@#%:]+:)?[ \t]*\r?$"
    rb"|[ \t]*#\+(?P<mark>begin|end)_(?P<block>\w+))",
    re.MULTILINE | re.IGNORECASE,
)
_TEXINFO: Final = lazy_pattern(
    rb"^@(?P<command>top|chapter|unnumbered|appendix|(?:unnumbered|appendix)?(?:sub){0,2}sec(?:tion)?"
    rb"|(?:chap|(?:sub){0,2})heading)[ \t]+(?P<title>\S[^\n]*)$",
    re.MULTILINE,
)
_TEXINFO_INLINE: Final = lazy_pattern(r"@\w+\{(?P<text>[^{}]*)\}")
_ROFF: Final = lazy_pattern(rb"^[.'](?P<command>S[Hh]|S[Ss])[ \t]+(?P<title>\S[^\n]*)$", re.MULTILINE)
_ROFF_INLINE: Final = lazy_pattern(r"\\f(?:\[\w*\]|\(..|.)|\\[&%:/,]|^\s*\"|\"\s*$")
_POD: Final = lazy_pattern(rb"^=(?P<command>head[1-6])[ \t]+(?P<title>\S[^\n]*)$", re.MULTILINE)
_ROLE: Final = lazy_pattern(r":[A-Za-z][\w:+.-]*:(?=`)")
_RST_INLINE: Final = lazy_pattern(r"(?P<marks>`{1,2}|\*{1,2})(?P<text>\S(?:.*?\S)?)(?P=marks)_{0,2}")
_TARGET: Final = lazy_pattern(r"\s<[^<>]*>$")
_ASCIIDOC_INLINE: Final = lazy_pattern(
    r"(?:https?://|link:|xref:|image:{1,2})[^\s\[]*\[(?P<linked>[^\]]*)\]|<<[^,>]*,?(?P<reference>[^>]*)>>|\[\[[^\]]*\]\]"
    r"|(?P<marks>``|`|\*\*|\*|(?<!\w)_)(?P<text>\S(?:.*?\S)?)(?P=marks)(?!\w)"
)
_POD_INLINE: Final = lazy_pattern(r"[A-Z](?:<<+\s+(?P<wide>.*?)\s+>>+|<(?P<text>[^<>]*)>)")


def find_rst_headings(data: bytes) -> tuple[list[Heading], list[Edge]]:
    """Return the headings of reStructuredText. The first style of adornment in the file is that of the first level."""
    headings: list[Heading] = []
    styles: list[tuple[bytes, bool]] = []
    floor = 0  # end of the heading before: its underline does not belong to the next
    for match in _ADORNMENT.finditer(data):
        title_start = _previous_line(data, match.start(), floor)
        if title_start < 0:
            continue
        raw = data[title_start : match.start()]
        title = _decoded(raw)
        above = _previous_line(data, title_start, floor)
        over = _ADORNMENT.match(data, above) if above >= 0 else None
        is_overlined = over is not None and over[1] == match[1]
        is_separate = above < 0 or not data[above:title_start].strip()
        size = match.end() - match.start()
        if not title or _ADORNMENT.match(data, title_start) or (size < len(title) and size < _SHORT):
            continue
        if not is_overlined and (not is_separate or raw[:1] in b" \t"):
            continue
        style = (match[1], is_overlined)
        if style not in styles:
            styles.append(style)
        start = above if is_overlined else title_start
        headings.append((start, styles.index(style) + 1, _plain_rst(title)))
        floor = match.end()
    return headings, []


def find_asciidoc_headings(data: bytes) -> tuple[list[Heading], list[Edge]]:
    """Return the headings of AsciiDoc outside of verbatim blocks, and the edges of these blocks."""
    headings: list[Heading] = []
    edges: list[Edge] = []
    block = b""  # the delimiter while inside a verbatim block
    for match in _ASCIIDOC.finditer(data):
        line = match[0].rstrip()
        if block:
            if line == block:
                block = b""
                edges.append((match.end() + 1, 1))
            continue
        if match["level"]:
            title = _decoded(match["title"]).rstrip("=# ")
            headings.append((match.start(), len(match["level"]), _shortened(_ASCIIDOC_INLINE.sub(_text, title))))
            continue
        start = _underlined(data, match.start(), line)
        if start >= 0:
            title = _shortened(_ASCIIDOC_INLINE.sub(_text, _decoded(data[start : match.start()])))
            headings.append((start, _UNDERLINES.index(line[:1]) + 1, title))
        elif match["block"] and line[:1] in _VERBATIM:
            block = line if line[:1] != b"`" else line[: len(line) - len(line.lstrip(b"`"))]
            edges.append((match.start(), 1))
    return headings, edges


def find_pod_headings(data: bytes) -> tuple[list[Heading], list[Edge]]:
    """Return the headings of POD."""
    return [
        (match.start(), int(match["command"][-1:]), _shortened(_POD_INLINE.sub(_text, _decoded(match["title"]))))
        for match in _POD.finditer(data)
    ], []


def find_latex_headings(data: bytes) -> tuple[list[Heading], list[Edge]]:
    """Return the headings of LaTeX outside of verbatim environments."""
    headings: list[Heading] = []
    floor = 0
    for match in _LATEX.finditer(data):
        if match.start() < floor:
            continue
        if match["block"]:
            end = data.find(b"\\end{" + match["block"] + b"}", match.end())
            floor = end if end >= 0 else len(data)
            continue
        title = _LATEX_INLINE.sub("", _decoded(match["title"]))
        headings.append((match.start(), _LATEX_LEVELS.index(match["command"]) + 1, _shortened(title)))
    return headings, []


def find_typst_headings(data: bytes) -> tuple[list[Heading], list[Edge]]:
    """Return the headings of Typst outside of raw blocks, and the edges of these."""
    headings: list[Heading] = []
    edges: list[Edge] = []
    fence = b""
    for match in _TYPST.finditer(data):
        mark = match["fence"]
        if mark and not fence:
            fence = mark
            edges.append((match.start(), 1))
        elif mark == fence and mark:
            fence = b""
            edges.append((match.end() + 1, 1))
        elif not fence and match["level"]:
            title = _TYPST_INLINE.sub(_text, _decoded(match["title"]))
            headings.append((match.start(), len(match["level"]), _shortened(title)))
    return headings, edges


def find_org_headings(data: bytes) -> tuple[list[Heading], list[Edge]]:
    """Return the headings of Org outside of its blocks, and the edges of these."""
    headings: list[Heading] = []
    edges: list[Edge] = []
    block = b""
    for match in _ORG.finditer(data):
        name = (match["block"] or b"").lower()
        if match["stars"]:
            if not block:
                headings.append(
                    (match.start(), len(match["stars"]), _shortened(_decoded(match["title"]).strip("*/=~")))
                )
        elif match["mark"].lower() == b"begin" and not block:
            block = name
            edges.append((match.start(), 1))
        elif match["mark"].lower() == b"end" and name == block:
            block = b""
            feed = data.find(b"\n", match.end())
            edges.append((feed + 1 if feed >= 0 else len(data), 1))
    return headings, edges


def find_texinfo_headings(data: bytes) -> tuple[list[Heading], list[Edge]]:
    """Return the headings of Texinfo."""
    return [
        (
            match.start(),
            _texinfo_level(match["command"]),
            _shortened(_TEXINFO_INLINE.sub(_text, _decoded(match["title"]))),
        )
        for match in _TEXINFO.finditer(data)
    ], []


def _texinfo_level(command: bytes) -> int:
    """Return the level of a command: `@top` is above chapters, `@subsection` two below them."""
    if command == b"top":
        return 1
    return 3 + command.count(b"sub") if b"sec" in command or b"sub" in command or command == b"heading" else 2


def find_roff_headings(data: bytes) -> tuple[list[Heading], list[Edge]]:
    """Return the headings of a manual page."""
    return [
        (
            match.start(),
            1 + (match["command"] in (b"SS", b"Ss")),
            _shortened(_ROFF_INLINE.sub("", _decoded(match["title"]))),
        )
        for match in _ROFF.finditer(data)
    ], []


def _underlined(data: bytes, at: int, line: bytes) -> int:
    """Return the start of the title of which a line is the underline: about as long, behind a blank line. Else -1."""
    if line[:1] not in _UNDERLINES or line.strip(line[:1]):
        return -1
    start = _previous_line(data, at, 0)
    if start < 0:
        return -1
    title = _decoded(data[start:at])
    above = _previous_line(data, start, 0)
    is_separate = above < 0 or not data[above:start].strip() or data[above : above + 1] == b"["
    fits = abs(len(title) - len(line)) <= 1 and any(character.isalnum() for character in title)
    return start if fits and is_separate else -1


def _previous_line(data: bytes, at: int, floor: int) -> int:
    """Return the start of the line before the one that begins at a place, -1 if it is not above `floor`."""
    if at <= floor or at == 0:
        return -1
    start = data.rfind(b"\n", 0, at - 1) + 1
    return start if start >= floor else -1


def _decoded(raw: bytes) -> str:
    return raw.decode("utf-8", "replace").strip()[:MAX_HEADING]


def _plain_rst(title: str) -> str:
    def text(match: re.Match[str]) -> str:
        return _TARGET.sub("", match["text"]) if match["marks"][0] == "`" else match["text"]

    return _shortened(_RST_INLINE.sub(text, _ROLE.sub("", title)))


def _text(match: re.Match[str]) -> str:
    """Return the text of one piece of inline markup."""
    return next((text for text in match.groupdict().values() if text and text not in ("`", "``", "*", "**", "_")), "")


def _shortened(title: str) -> str:
    return " ".join(title.replace("\\", "").split())[:MAX_TITLE]
