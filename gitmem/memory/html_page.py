"""Convert a page of HTML to text: Markdown without escapes, so that names stay searchable as they are.

The Markdown of justhtml itself escapes underscores, keeps tables as HTML tags and takes in hidden elements.
"""

import re
from typing import TYPE_CHECKING, Final

from gitmem.errors import UsageError
from gitmem.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from justhtml import Node

_HIDDEN: Final = frozenset("head title script style noscript noembed noframes iframe template".split())
_AROUND: Final = frozenset("navigation banner contentinfo search complementary".split())
"""Roles of the parts around the content of a page (WAI-ARIA landmarks)."""

_BLOCKS: Final = frozenset(
    "address article aside blockquote body caption center dd details dialog div dl dt fieldset figcaption figure footer"
    " form h1 h2 h3 h4 h5 h6 header hr html legend li main nav ol option p pre section select summary table tbody td"
    " textarea tfoot th thead tr ul".split()
)
_LAYOUT_MARKERS: Final = frozenset("blockquote h1 h2 h3 h4 h5 h6 ol pre table ul".split())
"""Elements that a cell of data does not have. A row with one of them is layout: mails set whole texts in tables."""

_MAX_INDENT: Final = 8
"""Maximum depth to which nested quotes and lists are indented."""


class Page(NamedTuple):
    """Text of a page, and its title, which may be empty."""

    text: str
    title: str


def read_page(text: str, name: str) -> Page:
    """Convert a page to text. Errors call it `name`. Raises UsageError."""
    from justhtml import JustHTML  # imported here because it takes 0.1 s, and few documents are pages

    if "\0" in text:
        raise UsageError(f"`{name}` is binary data", hint="extract its text first")
    # Sanitizing is for text that a browser shows. Here it would only take time and drop elements.
    page = JustHTML(text, sanitize=False)
    title = page.query_one("title")
    # The content alone, if the page names it; else all but the parts around it. A page of nothing else is kept whole.
    main = page.query_one("main") or page.query_one("[role=main]")
    text = (_render(main) if main is not None else "") or _render(page.root, _is_around) or _render(page.root)
    return Page(text, " ".join(title.to_text().split()) if title is not None else "")


def _is_around(node: "Node") -> bool:
    """Return whether an element is navigation, or the head or foot of the page itself and not of an article."""
    role = (node.attrs or {}).get("role")
    outermost = node.parent is not None and node.parent.name == "body"
    return node.name == "nav" or role in _AROUND or (outermost and node.name in ("header", "footer"))


def _render(root: "Node", omits: "Callable[[Node], bool]" = lambda _node: False) -> str:
    """Return the visible text below an element as Markdown without escapes, without the elements that are omitted."""
    writer = _MarkdownWriter()
    # An own stack instead of recursion: pages of mails nest thousands of elements deep. Each element is on it twice,
    # to be opened and, after its children, closed.
    stack = [(root, False)]
    while stack:
        node, opened = stack.pop()
        if opened:
            writer.close(node)
        elif node.name == "#text":
            writer.add(node.text)
        elif node.name not in _HIDDEN and not omits(node):
            writer.open(node)
            stack.append((node, True))
            stack += [(child, False) for child in reversed(node.children or ())]
    writer.end_block()
    return "".join(writer.parts)


class _MarkdownWriter:
    """Writer of Markdown that is fed with elements in document order as they open and close.

    Inline text is collected until a block begins or ends, then written as one block with the prefix of its list item,
    heading or quotes.
    """

    def __init__(self) -> None:
        self.parts: list[str] = []
        """Text so far, in pieces to be joined."""
        self._previous_kind = ""
        """Kind of the last block written; list items and rows of one kind follow each other without an empty line."""
        self._inline: list[str] = []
        self._marker = ""
        """Prefix of the next block: a bullet, a number or the marks of a heading."""
        self._lists: list[int | None] = []
        """Last number of each open list, None for a bulleted one."""
        self._rows: list[list[list[str]] | None] = []
        """Cells of each open row, as paragraphs; None for a row that is only layout."""
        self._quotes = 0
        self._fences = 0

    def add(self, text: str) -> None:
        """Add text of the page. Line feeds count only within `pre`."""
        self._inline.append(text if self._fences else text.replace("\n", " "))

    def open(self, node: "Node") -> None:
        """Open an element."""
        name = node.name
        if name == "br":
            self._inline.append("\n")
        elif name == "a":
            self._inline.append("")  # so that the last piece at the end of the link is text of the link
        elif name == "img":
            self._inline.append((node.attrs or {}).get("alt") or "")
        elif name in _BLOCKS:
            self.end_block()
            if not self._fences:
                self._open_block(name)
            if name == "pre":
                self._fences += 1

    def _open_block(self, name: str) -> None:
        if name in _LAYOUT_MARKERS:
            self._spread_row()
        if name in ("ul", "ol"):
            self._lists.append(0 if name == "ol" else None)
        elif name == "li":
            self._marker = self._next_marker()
        elif name == "tr":
            self._rows.append([])
        elif name in ("td", "th") and self._rows:
            row = self._rows[-1]
            if row is not None:
                row.append([])
        elif name == "blockquote":
            self._quotes += 1
        elif name[0] == "h" and name[1:].isdigit():
            self._marker = "#" * int(name[1:]) + " "

    def close(self, node: "Node") -> None:
        """Close an element."""
        name = node.name
        if name == "a":
            self._end_link((node.attrs or {}).get("href") or "")
        elif name == "pre" and self._fences == 1:
            self._end_code()
        elif name in _BLOCKS:
            self.end_block()
            if name == "pre":
                self._fences -= 1
            elif not self._fences:
                self._close_block(name)

    def _close_block(self, name: str) -> None:
        if name in ("ul", "ol"):
            self._lists.pop()
        elif name == "tr":
            self._end_row()
        elif name == "blockquote":
            self._quotes -= 1
        elif name == "li" or name[1:].isdigit():
            self._marker = ""

    def end_block(self) -> None:
        """Write the collected inline text as a block; within a code block, end its line."""
        if self._fences:
            if self._inline and not self._inline[-1].endswith("\n"):
                self._inline.append("\n")
            return
        lines = (" ".join(line.split()) for line in "".join(self._inline).split("\n"))
        text = "\n".join(line for line in lines if line)
        self._inline.clear()
        row = self._rows[-1] if self._rows else None
        if text and row:
            row[-1].append(text)
        elif text and self._marker.startswith("#"):
            self._write(self._marker + text.replace("\n", " "))  # a heading has one line
        elif text:
            self._write(self._marker + text, "item" if self._marker else "")

    def _write(self, text: str, kind: str = "") -> None:
        quote = "> " * min(self._quotes, _MAX_INDENT)
        between = "\n" if kind and kind == self._previous_kind else "\n\n"
        self.parts += [between if self.parts else "", quote, text.replace("\n", "\n" + quote)]
        self._previous_kind = kind
        self._marker = ""

    def _next_marker(self) -> str:
        """Return the prefix of the next item of the innermost list."""
        indent = "  " * min(len(self._lists) - 1, _MAX_INDENT)
        number = self._lists[-1] if self._lists else None
        if number is None:
            return indent + "- "
        self._lists[-1] = number + 1
        return f"{indent}{number + 1}. "

    def _end_link(self, target: str) -> None:
        """Add the target of a link to its text, unless it is the text itself or leads nowhere without the page."""
        text = self._inline[-1].strip() if self._inline else ""
        if text and text != target and target.startswith(("http://", "https://")) and not self._fences:
            self._inline.append(f" <{target}>")

    def _end_code(self) -> None:
        """Write the collected text as a code block, with a fence longer than any run of backticks in it."""
        code = "".join(self._inline).strip("\n")
        self._inline.clear()
        self._fences = 0
        if code.strip():
            longest = max(map(len, re.findall("`+", code)), default=0)
            fence = "`" * max(3, longest + 1)
            self._write(f"{fence}\n{code}\n{fence}")

    def _spread_row(self) -> None:
        """Turn the innermost row into layout: write the paragraphs of its cells as blocks."""
        if self._rows:
            row, self._rows[-1] = self._rows[-1], None
            for text in (text for cell in row or () for text in cell):
                self._write(text)

    def _end_row(self) -> None:
        """Write a row of data as one line; a row with text in at most one cell is layout."""
        row = self._rows[-1] or []
        if sum(map(bool, row)) > 1:
            self._write(" | ".join(" ".join(cell).replace("\n", " ") for cell in row).strip(), "row")
        else:
            self._spread_row()
        self._rows.pop()
