"""A page of HTML as text for reading: Markdown without escapes, so that a name stands as it is."""

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from gitmem.errors import UsageError

if TYPE_CHECKING:
    from justhtml import Node

_UNSAID: Final = frozenset("head title script style noscript noembed noframes iframe template".split())
_BLOCKS: Final = frozenset(
    "address article aside blockquote body caption center dd details dialog div dl dt fieldset figcaption figure footer"
    " form h1 h2 h3 h4 h5 h6 header hr html legend li main nav ol option p pre section select summary table tbody td"
    " textarea tfoot th thead tr ul".split()
)
_NO_CELL_HOLDS: Final = frozenset("blockquote h1 h2 h3 h4 h5 h6 ol pre table ul".split())
"""A row of a table that has one of these in it only lays out the page."""

_DEEPEST_MARK: Final = 8
"""Quotes and lists within each other beyond this are not set in any further."""


class Page(NamedTuple):
    """The text of a page, and its title, empty where it has none."""

    text: str
    title: str


def read_page(text: str, name: str) -> Page:
    """What a page says; `name` is what errors call it. Raises UsageError."""
    from justhtml import JustHTML

    if "\0" in text:
        raise UsageError(f"`{name}` is binary data", hint="extract its text first")
    page = JustHTML(text, sanitize=False)
    title = page.query_one("title")
    return Page(_readable(page.root), " ".join(title.to_text().split()) if title is not None else "")


def _readable(root: "Node") -> str:
    """What a page says, as Markdown without escapes: a name stands as it is."""
    page = _Page()
    waiting = [(root, False)]
    while waiting:
        node, done = waiting.pop()
        if done:
            page.close(node)
        elif node.name == "#text":
            page.add(node.text)
        elif node.name not in _UNSAID:
            page.open(node)
            waiting.append((node, True))
            waiting += [(child, False) for child in reversed(node.children or ())]
    page.end_block()
    return "".join(page.parts)


class _Page:
    """The text of a page as its elements open and close."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        """Pieces of the text so far, to be joined."""
        self._kind = ""
        self._inline: list[str] = []
        self._marker = ""
        self._lists: list[int | None] = []
        self._rows: list[list[list[str]] | None] = []
        """Cells of the rows that are open, each with its paragraphs; None where a row is but the layout of a page."""
        self._quotes = 0
        self._fences = 0

    def add(self, text: str) -> None:
        """Text as the page holds it."""
        self._inline.append(text if self._fences else text.replace("\n", " "))

    def open(self, node: "Node") -> None:
        """An element begins."""
        name = node.name
        if name == "br":
            self._inline.append("\n")
        elif name == "a":
            self._inline.append("")
        elif name == "img":
            self._inline.append((node.attrs or {}).get("alt") or "")
        elif name in _BLOCKS:
            self.end_block()
            if not self._fences:
                self._begin(name)
            if name == "pre":
                self._fences += 1

    def _begin(self, name: str) -> None:
        if name in _NO_CELL_HOLDS:
            self._spread_row()
        if name in ("ul", "ol"):
            self._lists.append(0 if name == "ol" else None)
        elif name == "li":
            self._marker = self._next_item()
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
        """An element ends."""
        name = node.name
        if name == "a":
            self._end_link((node.attrs or {}).get("href") or "")
        elif name == "pre" and self._fences == 1:
            self._end_fence()
        elif name in _BLOCKS:
            self.end_block()
            if name == "pre":
                self._fences -= 1
            elif not self._fences:
                self._end(name)

    def _end(self, name: str) -> None:
        if name in ("ul", "ol"):
            self._lists.pop()
        elif name == "tr":
            self._end_row()
        elif name == "blockquote":
            self._quotes -= 1
        elif name == "li" or name[1:].isdigit():
            self._marker = ""

    def end_block(self) -> None:
        """The text since the last block becomes one; within a code block it becomes a line."""
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
            self._say(self._marker + text.replace("\n", " "))
        elif text:
            self._say(self._marker + text, "item" if self._marker else "")

    def _say(self, text: str, kind: str = "") -> None:
        quote = "> " * min(self._quotes, _DEEPEST_MARK)
        between = "\n" if kind and kind == self._kind else "\n\n"
        self.parts += [between if self.parts else "", quote, text.replace("\n", "\n" + quote)]
        self._kind = kind
        self._marker = ""

    def _next_item(self) -> str:
        indent = "  " * min(len(self._lists) - 1, _DEEPEST_MARK)
        number = self._lists[-1] if self._lists else None
        if number is None:
            return indent + "- "
        self._lists[-1] = number + 1
        return f"{indent}{number + 1}. "

    def _end_link(self, target: str) -> None:
        said = self._inline[-1].strip() if self._inline else ""
        if said and said != target and target.startswith(("http://", "https://")) and not self._fences:
            self._inline.append(f" <{target}>")

    def _end_fence(self) -> None:
        code = "".join(self._inline).strip("\n")
        self._inline.clear()
        self._fences = 0
        if code.strip():
            longest = max(map(len, re.findall("`+", code)), default=0)
            fence = "`" * max(3, longest + 1)
            self._say(f"{fence}\n{code}\n{fence}")

    def _spread_row(self) -> None:
        """A row that holds more than words is layout: its cells become paragraphs."""
        if self._rows:
            row, self._rows[-1] = self._rows[-1], None
            for text in (text for cell in row or () for text in cell):
                self._say(text)

    def _end_row(self) -> None:
        row = self._rows[-1] or []
        if sum(map(bool, row)) > 1:
            self._say(" | ".join(" ".join(cell).replace("\n", " ") for cell in row).strip(), "row")
        else:
            self._spread_row()
        self._rows.pop()
