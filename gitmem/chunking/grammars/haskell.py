"""Haskell and PureScript: the signature and all equations of one name form one unit."""

from typing import Final

from gitmem.chunking.grammar import Node, container, leaf, make_grammar, mergeable
from gitmem.chunking.node_names import from_child, from_path, name_of, text_of


def _equation(node: Node, data: bytes) -> str:
    """Return the defined name, which may be that of an infix operator."""
    if node.child_by_field_name("name") is not None:
        return name_of(node, data).strip("()")  # as in its signature: both form one unit only if they agree
    for child in node.children:
        if child.type == "infix":
            sign = child.child_by_field_name("operator")
            return text_of(sign, data).strip("`") if sign is not None else ""
    return ""


def _signature(node: Node, data: bytes) -> str:
    target = node.child_by_field_name("name") or node.child_by_field_name("names")
    return text_of(target, data).strip("()") if target is not None else ""


def _instance(node: Node, data: bytes) -> str:
    name = name_of(node, data)
    patterns = node.child_by_field_name("patterns")
    return f"{name} {text_of(patterns, data)}" if patterns is not None else name


GRAMMARS: Final = {
    "haskell": make_grammar(
        "haskell",
        {
            "function": leaf("function", _equation),
            "bind": leaf("function", _equation),
            "signature": mergeable("function", _signature),
            "data_type": leaf("type"),
            "newtype": leaf("type"),
            "type_synomym": mergeable("type"),
            "type_family": mergeable("type"),
            "data_family": mergeable("type"),
            "class": container("trait"),
            "instance": container("impl", _instance),
            "derive_instance": mergeable("impl", _instance),
            "foreign_import": mergeable("function"),
            "pattern_synonym": mergeable("function"),
        },
        transparent="declarations imports class_declarations instance_declarations header exports",
        comments="comment haddock",
        prefixes="pragma",
        # Each equation is a node of its own, and the signature another.
        joins="signature function bind",
        bodies="match",
        methods=True,
    ),
    "purescript": make_grammar(
        "purescript",
        {
            "function": leaf("function", _equation),
            "signature": mergeable("function", _signature),
            "data": leaf("type"),
            "newtype": leaf("type"),
            "type_alias": mergeable("type"),
            "class_declaration": container("trait", from_path("class_head", "class_name")),
            "class_instance": container("impl", from_child("instance_name")),
            "derive_declaration": mergeable("impl", from_child("instance_name")),
            "foreign_import": mergeable("function"),
        },
        transparent="class_body",
        joins="signature function",
        methods=True,
    ),
}
