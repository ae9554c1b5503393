"""Syntax trees of texts: from a parser, by lines or by tags, whichever a language has."""

from typing import Final

from gitmem.chunking.grammar import Grammar, Node, UnparsedError
from gitmem.chunking.line_tree import read_lines
from gitmem.chunking.template_tree import read_template
from gitmem.chunking.text_node import TextNode
from gitmem.named_tuple import NamedTuple

_MAX_BYTES: Final = 4 << 20
"""Larger texts are split into windows."""


class Syntax(NamedTuple):
    """Root of a syntax tree, and the grammar that describes its nodes."""

    root: Node
    grammar: Grammar


def read_syntax(data: bytes, grammar: Grammar, seconds: float, memory: int) -> Syntax:
    """Return the syntax of a text, by lines if there are errors and the grammar has rules for that.

    Raises UnparsedError.
    """
    if len(data) > _MAX_BYTES:
        raise UnparsedError("too large to parse")
    if grammar.lines is not None:
        return Syntax(read_lines(data, grammar.lines), grammar)
    if grammar.tags is not None:
        return Syntax(read_template(data, grammar.tags), grammar)
    from gitmem.chunking.parse import parse_tree  # the parser library takes 40 ms to load

    root = parse_tree(data, grammar.parser, seconds, memory).root_node
    if grammar.otherwise is not None and grammar.otherwise.lines is not None and root.has_error:
        return Syntax(read_lines(data, grammar.otherwise.lines), grammar.otherwise)
    return Syntax(root, grammar)


def nodes_of_types(root: Node, grammar: Grammar, types: frozenset[str]) -> list[Node]:
    """Return the nodes of some types in the order of the text."""
    if isinstance(root, TextNode):
        return [*root.find(types)]
    from gitmem.chunking.parse import find_nodes

    return find_nodes(root, grammar.parser, types)
