"""Nodes of trees that are read from the text alone, without a parser, in the form of its syntax nodes."""

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from typing import Final

from gitmem.chunking.grammar import Node

LINES: Final = "lines"
COMMENT: Final = "comment"
Captures = Mapping[str, Sequence[Node]]
"""Nodes by kind of occurrence, as patterns capture them in the trees of a parser."""


def _no_captures() -> Captures:
    return {}


class TextNode:
    """Node of such a tree: a definition, adjoining lines of other text, or a comment.

    That of the root finds its `captures` when they are asked for.
    """

    __slots__ = ("captures", "children", "end_byte", "indent", "name", "parent", "start_byte", "type")

    is_named: Final = True
    descendant_count: Final = 0

    def __init__(
        self, node_type: str, start: int, end: int, parent: "TextNode | None", indent: int = -1, name: Node = None
    ) -> None:
        self.type = node_type
        self.start_byte = start
        self.end_byte = end
        self.parent = parent
        self.indent = indent
        self.name = name
        self.children: list[TextNode] = []
        self.captures: Callable[[], Captures] = _no_captures

    @property
    def byte_range(self) -> tuple[int, int]:
        return self.start_byte, self.end_byte

    @property
    def child_count(self) -> int:
        return len(self.children)

    @property
    def named_children(self) -> "list[TextNode]":
        return self.children

    @property
    def named_child_count(self) -> int:
        return len(self.children)

    def child_by_field_name(self, name: str) -> "TextNode | None":
        """Return the node of the name, the only field of a definition."""
        named: TextNode | None = self.name
        return named if name == "name" else None

    def descendant_for_byte_range(self, _start: int, _end: int) -> None:
        """Return None: within a line nothing is known."""

    def find(self, types: Container[str]) -> "list[TextNode]":
        """Return the nodes of some types in the order of the text."""
        return [node for node in self._descendants() if node.type in types]

    def _descendants(self) -> "Iterator[TextNode]":
        todo = [self]
        while todo:
            node = todo.pop()
            yield node
            todo += reversed(node.children)
