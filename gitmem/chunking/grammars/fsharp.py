"""F#: `let` defines functions and values, and a type has its name in one of several inner nodes."""

from typing import Final

from gitmem.chunking.grammar import (
    CONTAINER,
    LEAF,
    MERGEABLE,
    TRANSPARENT,
    Match,
    Node,
    dynamic,
    leaf,
    make_grammar,
    namespace,
)
from gitmem.chunking.node_names import from_child, text_of

_BODIES: Final = frozenset(
    "anon_type_defn delegate_type_defn enum_type_defn interface_type_defn record_type_defn type_abbrev_defn"
    " union_type_defn".split()
)
_TYPES: Final = {"union_type_defn": "enum", "enum_type_defn": "enum", "record_type_defn": "struct"}


def _let(node: Node, data: bytes) -> Match | None:
    head = next((child for child in node.named_children if child.type.endswith("_declaration_left")), None)
    if head is None or not head.named_child_count:
        return None
    if head.type == "function_declaration_left":
        return Match(LEAF, "function", text_of(head.named_children[0], data), node)
    return Match(MERGEABLE, "constant", text_of(head.named_children[0], data), node)


def _type(node: Node, data: bytes) -> Match | None:
    """Match a type; each of several types, joined by `and`, is a unit of its own."""
    inner = _bodies(node)
    if len(inner) > 1:
        return Match(TRANSPARENT, "", "", node)
    match = _type_body(inner[0], data) if inner else None
    return match and match._replace(node=node)


def _bodies(node: Node) -> list[Node]:
    return [child for child in node.named_children if child.type in _BODIES]


def _joined_type(node: Node, data: bytes) -> Match | None:
    is_joined = node.parent is not None and len(_bodies(node.parent)) > 1
    return _type_body(node, data) if is_joined else Match(TRANSPARENT, "", "", node)


def _type_body(node: Node, data: bytes) -> Match | None:
    name = next((child for child in node.named_children if child.type == "type_name"), None)
    if name is None:
        return None
    return Match(CONTAINER, _TYPES.get(node.type, "class"), from_child("identifier")(name, data), node)


def _member(node: Node, data: bytes) -> str:
    """Return the name of a member without that of its object: `Run` of `this.Run`."""
    inner = next((child for child in node.named_children if child.type.endswith("_defn")), node)
    name = inner.child_by_field_name("name")
    return text_of(name, data).rpartition(".")[2] if name is not None else ""


GRAMMARS: Final = {
    parser: make_grammar(
        parser,
        {
            "namespace": namespace("module", from_child("long_identifier")),
            "named_module": namespace("module", from_child("long_identifier")),
            "module_defn": namespace("module", from_child("identifier")),
            "function_or_value_defn": dynamic(_let),
            "type_definition": dynamic(_type),
            **dict.fromkeys(_BODIES, dynamic(_joined_type)),
            "member_defn": leaf("method", _member),
        },
        transparent="file declaration_expression type_extension type_extension_elements interface_implementation",
        comments="line_comment block_comment xml_doc",
        prefixes="attributes type and",
        bodies="",
    )
    for parser in ("fsharp", "fsharp_signature")
}
