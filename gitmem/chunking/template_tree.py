"""Read templates by their tags: blocks and macros begin and end with a tag, and the text between them is loose.

The markup around the tags is not parsed, for tags open elements in one branch and close them in another. The result has
the form of a syntax tree, as that of `line_tree` has.
"""

import re
from collections.abc import Iterator
from typing import Final

from gitmem.chunking.grammar import TagRules
from gitmem.chunking.text_node import COMMENT, LINES, TextNode
from gitmem.named_tuple import NamedTuple

_MAX_DEPTH: Final = 32
"""Blocks inside of each other that are told apart."""

_PARAGRAPH: Final = re.compile(rb"\S[^\n]*(?:\n[ \t\r]*+[^\n]+)*+")
_KINDS: Final = {
    "file": "import", "component": "import", "statement": "import", "called": "call", "type": "type",
    "defined": "function", "member": "read", "expression": "expression", "value": "expression",
}  # fmt: skip
"""Kind of the occurrences in a tag by its group."""


class _Block(NamedTuple):
    """Open block: its keyword, and the definition that it is or is in."""

    keyword: bytes
    node: TextNode


def read_template(data: bytes, rules: TagRules) -> TextNode:
    """Return the tree of a template."""
    return _Reader(data, rules).read()


class _Reader:
    def __init__(self, data: bytes, rules: TagRules) -> None:
        self._data = data
        self._rules = rules
        self._at = 0  # end of the text that is in nodes
        self._captures: dict[str, list[TextNode]] = {}
        root = TextNode("file", 0, len(data), None)
        root.captures = lambda: self._captures
        self._blocks = [_Block(b"", root)]

    def read(self) -> TextNode:
        """Return the root."""
        for tag, end in self._find_tags():
            groups = tag.groupdict()
            group = tag.lastgroup or ""
            if groups.get("opens"):
                self._open(groups["opens"], tag)
            elif groups.get("closes"):
                self._close(groups["closes"], tag.start(), end)
            elif group == "comment":
                self._add_text(self._node, tag.start())
                self._node.children.append(TextNode(COMMENT, tag.start(), end, self._node))
                self._at = end
            elif group in _KINDS:
                node = TextNode(group, *tag.span(group), self._node)
                self._captures.setdefault(_KINDS[group], []).append(node)
        self._end_blocks(1, len(self._data), len(self._data))
        self._add_text(self._node, len(self._data))
        return self._node

    def _find_tags(self) -> Iterator[tuple[re.Match[bytes], int]]:
        """Yield the tags and their ends. A comment without an end is text."""
        at, endless = 0, set[bytes]()
        while (tag := self._rules.tag.search(self._data, at)) is not None:
            at = tag.end()
            closing = self._rules.comments.get(tag[0]) if tag.lastgroup == "comment" else None
            if closing is not None:
                stop = -1 if closing in endless else self._data.find(closing, at)
                if stop < 0:
                    endless.add(closing)
                    continue
                at = stop + len(closing)
            yield tag, at

    @property
    def _node(self) -> TextNode:
        """The innermost open definition, or the root."""
        return self._blocks[-1].node

    def _open(self, keyword: bytes, tag: re.Match[bytes]) -> None:
        outer = node = self._node
        if len(self._blocks) > _MAX_DEPTH:
            return
        if keyword in self._rules.units and tag["name"]:
            self._add_text(outer, tag.start())
            node = TextNode(self._rules.units[keyword], tag.start(), tag.end(), outer)
            node.name = TextNode("name", *tag.span("name"), node)
            outer.children.append(node)
        self._blocks.append(_Block(keyword, node))

    def _close(self, keyword: bytes, start: int, end: int) -> None:
        """End the innermost block that a tag at `start:end` may close."""
        keyword = self._rules.closers.get(keyword, keyword)
        for place in range(len(self._blocks) - 1, 0, -1):
            if keyword in (b"", self._blocks[place].keyword):
                self._end_blocks(place, start, end)
                return

    def _end_blocks(self, place: int, start: int, end: int) -> None:
        """End the block at a place, at `end`, and those inside of it, which lack an end of their own, at `start`."""
        while len(self._blocks) > place:
            node = self._blocks.pop().node
            if node is not self._node:
                node.end_byte = end if len(self._blocks) == place else start
                self._add_text(node, node.end_byte)

    def _add_text(self, node: TextNode, end: int) -> None:
        """Add the text up to an offset to a definition, by paragraphs."""
        for paragraph in _PARAGRAPH.finditer(self._data, self._at, end):
            node.children.append(TextNode(LINES, *paragraph.span(), node))
        self._at = end
