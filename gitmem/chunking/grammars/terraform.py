"""Terraform: each block of a file is a definition, named as references spell it (`aws_vpc.main`, `var.region`)."""

from collections.abc import Mapping
from typing import Final

from gitmem.chunking.grammar import CONTAINER, LEAF, MERGEABLE, Match, Node, dynamic, make_grammar
from gitmem.chunking.node_names import from_child, text_of, unquoted

_PREFIXES: Final[Mapping[str, str]] = {"resource": "", "variable": "var"}
"""What precedes the labels in the name of a block, if it is not the block's type."""

_VALUES: Final = frozenset(("output", "variable"))


def _block(node: Node, data: bytes) -> Match | None:
    """Match a block of the file. Blocks inside of another one (`lifecycle`) are its text."""
    if not _is_outermost(node):
        return None
    words = [text_of(child, data) for child in node.children[:5] if child.type in ("identifier", "string_lit")]
    if not words:
        return None
    if words == ["locals"]:
        return Match(CONTAINER, "struct", "local", _body(node))
    block_type, *labels = map(unquoted, words)
    name = ".".join(filter(None, (_PREFIXES.get(block_type, block_type), *labels)))
    return Match(LEAF, "constant" if block_type in _VALUES else "struct", name, node)


def _attribute(node: Node, data: bytes) -> Match | None:
    """Match a local value, and an assignment of a file with values of variables (`.tfvars`)."""
    block = node.parent.parent if node.parent is not None else None
    if block is None or block.type == "config_file":
        return Match(MERGEABLE, "property", _attribute_name(node, data), node)
    if _is_outermost(block) and text_of(block.children[0], data) == "locals":
        return Match(MERGEABLE, "constant", _attribute_name(node, data), node)
    return None


_attribute_name = from_child("identifier")


def _is_outermost(block: Node) -> bool:
    body = block.parent
    return body is not None and (body.parent is None or body.parent.type == "config_file")


def _body(block: Node) -> Node:
    return next((child for child in block.children if child.type == "body"), block)


GRAMMARS: Final = {
    "terraform": make_grammar(
        "hcl",
        {"block": dynamic(_block), "attribute": dynamic(_attribute)},
        prefixes="comment",  # a headline belongs to the block below, after a blank line too
        transparent="body",
        methods=False,
    )
}
