"""Syntax trees of texts: from a parser, by lines or by tags, whichever a language has."""

from typing import Final

from gitmem.chunking.grammar import Grammar, Node, UnparsedError
from gitmem.chunking.line_tree import read_lines
from gitmem.chunking.template_tree import read_template
from gitmem.chunking.text_node import TextNode

_MAX_BYTES: Final = 4 << 20
"""Larger texts are split into windows."""


def read_tree(data: bytes, grammar: Grammar, seconds: float, memory: int) -> Node:
    """Return the root of a syntax tree. Raises UnparsedError."""
    if len(data) > _MAX_BYTES:
        raise UnparsedError("too large to parse")
    if grammar.lines is not None:
        return read_lines(data, grammar.lines)
    if grammar.tags is not None:
        return read_template(data, grammar.tags)
    from gitmem.chunking.parse import parse_tree  # the parser library takes 40 ms to load

    return parse_tree(data, grammar.parser, seconds, memory).root_node


def nodes_of_types(root: Node, grammar: Grammar, types: frozenset[str]) -> list[Node]:
    """Return the nodes of some types in the order of the text."""
    if isinstance(root, TextNode):
        return [*root.find(types)]
    from gitmem.chunking.parse import find_nodes

    return find_nodes(root, grammar.parser, types)
