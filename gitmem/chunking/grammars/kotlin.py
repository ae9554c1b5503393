"""Kotlin: classes, interfaces and enums share a node type. The receiver qualifies extension functions."""

from typing import Final

from gitmem.chunking.grammar import (
    CONTAINER,
    LEAF,
    MERGEABLE,
    Match,
    Node,
    container,
    dynamic,
    leaf,
    make_grammar,
    mergeable,
)
from gitmem.chunking.node_names import fixed, from_child, plain_type, text_of


def _class(node: Node, data: bytes) -> Match | None:
    # The keyword before the name distinguishes them.
    keywords = {child.type for child in node.children[:6] if not child.is_named}
    chunk_type = "interface" if "interface" in keywords else "enum" if "enum" in keywords else "class"
    return Match(CONTAINER, chunk_type, from_child("type_identifier", "simple_identifier")(node, data), node)


def _receiver(node: Node, data: bytes) -> str:
    target = node.child_by_field_name("receiver")
    return plain_type(text_of(target, data)).rstrip("?") if target is not None else ""


def _function(node: Node, data: bytes) -> Match | None:
    name = from_child("simple_identifier")(node, data)
    owner = _receiver(node, data)
    has_body = any(child.type == "function_body" for child in node.children)
    return Match(LEAF if has_body else MERGEABLE, "function", f"{owner}.{name}" if owner else name, node)


def _property(node: Node, data: bytes) -> Match | None:
    target = next((child for child in node.children if child.type == "variable_declaration"), None)
    name = from_child("simple_identifier")(target, data) if target is not None else ""
    owner = _receiver(node, data)
    return Match(MERGEABLE, "property", f"{owner}.{name}" if owner and name else name, node)


def _companion(node: Node, data: bytes) -> str:
    return from_child("type_identifier")(node, data) or "Companion"


GRAMMARS: Final = {
    "kotlin": make_grammar(
        "kotlin",
        {
            "class_declaration": dynamic(_class),
            "object_declaration": container("class", from_child("type_identifier", "simple_identifier")),
            "companion_object": container("class", _companion),
            "function_declaration": dynamic(_function),
            "secondary_constructor": leaf("method", fixed("constructor")),
            "anonymous_initializer": mergeable("method", fixed("init")),
            "property_declaration": dynamic(_property),
            "type_alias": mergeable("type", from_child("type_identifier")),
            "enum_entry": mergeable("constant", from_child("simple_identifier")),
            "getter": mergeable("property", fixed("")),
        },
        transparent="class_body enum_class_body import_list import_header package_header",
        bodies="function_body class_body",
        anonymous="object_literal",
    )
}
