"""Java: methods with a body are units, bare signatures are mergeable."""

from typing import Final

from gitmem.chunking.grammar import LEAF, MERGEABLE, Match, Node, container, dynamic, leaf, make_grammar, mergeable
from gitmem.chunking.node_names import fixed, from_items, name_of


def method_or_signature(node: Node, data: bytes) -> Match | None:
    """Match a method: with a body it is a unit however small, without one only if its documentation makes it large."""
    body = node.child_by_field_name("body")
    return Match(LEAF if body is not None else MERGEABLE, "method", name_of(node, data), node)


GRAMMARS: Final = {
    "java": make_grammar(
        "java",
        {
            "class_declaration": container("class"),
            "record_declaration": container("class"),
            "interface_declaration": container("interface"),
            "annotation_type_declaration": container("interface"),
            "enum_declaration": container("enum"),
            "method_declaration": dynamic(method_or_signature),
            "constructor_declaration": leaf("method"),
            "compact_constructor_declaration": leaf("method"),
            "annotation_type_element_declaration": mergeable("method"),
            "static_initializer": mergeable("method", fixed("static")),
            "field_declaration": mergeable("field", from_items("variable_declarator")),
            "constant_declaration": mergeable("constant", from_items("variable_declarator")),
            "enum_constant": mergeable("constant"),
        },
        transparent="class_body interface_body enum_body enum_body_declarations annotation_type_body",
        bodies="block constructor_body class_body",
        anonymous="object_creation_expression enum_constant",
    )
}
