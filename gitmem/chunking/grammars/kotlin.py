"""Kotlin: one node type for classes, interfaces and enums; extension functions carry their receiver."""

from typing import Final

from gitmem.chunking.grammar import BOX, LEAF, SOFT, Found, Node, ask, box, leaf, make_grammar, soft
from gitmem.chunking.node_names import fixed, from_child, plain_type, text_of


def _class(node: Node, data: bytes) -> Found | None:
    keywords = {child.type for child in node.children[:6] if not child.is_named}
    chunk_type = "interface" if "interface" in keywords else "enum" if "enum" in keywords else "class"
    return Found(BOX, chunk_type, from_child("type_identifier", "simple_identifier")(node, data), node)


def _receiver(node: Node, data: bytes) -> str:
    target = node.child_by_field_name("receiver")
    return plain_type(text_of(target, data)).rstrip("?") if target is not None else ""


def _function(node: Node, data: bytes) -> Found | None:
    name = from_child("simple_identifier")(node, data)
    owner = _receiver(node, data)
    has_body = any(child.type == "function_body" for child in node.children)
    return Found(LEAF if has_body else SOFT, "function", f"{owner}.{name}" if owner else name, node)


def _property(node: Node, data: bytes) -> Found | None:
    target = next((child for child in node.children if child.type == "variable_declaration"), None)
    name = from_child("simple_identifier")(target, data) if target is not None else ""
    owner = _receiver(node, data)
    return Found(SOFT, "property", f"{owner}.{name}" if owner and name else name, node)


def _companion(node: Node, data: bytes) -> str:
    return from_child("type_identifier")(node, data) or "Companion"


GRAMMARS: Final = {
    "kotlin": make_grammar(
        "kotlin",
        {
            "class_declaration": ask(_class),
            "object_declaration": box("class", from_child("type_identifier", "simple_identifier")),
            "companion_object": box("class", _companion),
            "function_declaration": ask(_function),
            "secondary_constructor": leaf("method", fixed("constructor")),
            "anonymous_initializer": soft("method", fixed("init")),
            "property_declaration": ask(_property),
            "type_alias": soft("type", from_child("type_identifier")),
            "enum_entry": soft("constant", from_child("simple_identifier")),
            "getter": soft("property", fixed("")),
        },
        inside="class_body enum_class_body import_list import_header package_header",
        bodies="function_body class_body",
    )
}
