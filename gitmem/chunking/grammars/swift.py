"""Swift: classes, structs, enums, actors and extensions share a node type."""

from typing import Final

from gitmem.chunking.grammar import CONTAINER, Match, Node, container, dynamic, leaf, make_grammar, mergeable
from gitmem.chunking.node_names import fixed, from_field, from_pattern, plain_type, text_of

_CHUNK_TYPES: Final = {"class": "class", "struct": "struct", "enum": "enum", "extension": "impl", "actor": "class"}


def _class(node: Node, data: bytes) -> Match | None:
    # The grammar has no node types for them, only this field.
    word = node.child_by_field_name("declaration_kind")
    target = node.child_by_field_name("name")
    name = plain_type(text_of(target, data)) if target is not None else ""
    return Match(CONTAINER, _CHUNK_TYPES.get(text_of(word, data) if word is not None else "", "class"), name, node)


GRAMMARS: Final = {
    "swift": make_grammar(
        "swift",
        {
            "class_declaration": dynamic(_class),
            "protocol_declaration": container("interface"),
            "function_declaration": leaf("function"),
            "init_declaration": leaf("method", fixed("init")),
            "deinit_declaration": leaf("method", fixed("deinit")),
            "subscript_declaration": leaf("method", fixed("subscript")),
            "protocol_function_declaration": mergeable("method"),
            "protocol_property_declaration": mergeable("property", from_field("name", "bound_identifier")),
            "property_declaration": mergeable("property", from_pattern("name")),
            "typealias_declaration": mergeable("type", from_field("name")),
            "associatedtype_declaration": mergeable("type"),
            "enum_entry": mergeable("constant"),
            "macro_declaration": leaf("macro"),
        },
        transparent="class_body protocol_body enum_class_body",
        bodies="function_body computed_property protocol_property_requirements",
    )
}
