"""Java."""

from typing import Final

from gitmem.chunking.grammar import LEAF, SOFT, Found, Node, ask, box, leaf, make_grammar, soft
from gitmem.chunking.node_names import fixed, from_items, named


def method_or_signature(node: Node, data: bytes) -> Found | None:
    """A method with a body is a unit however small; a bare signature only with its documentation."""
    body = node.child_by_field_name("body")
    return Found(LEAF if body is not None else SOFT, "method", named(node, data), node)


GRAMMARS: Final = {
    "java": make_grammar(
        "java",
        {
            "class_declaration": box("class"),
            "record_declaration": box("class"),
            "interface_declaration": box("interface"),
            "annotation_type_declaration": box("interface"),
            "enum_declaration": box("enum"),
            "method_declaration": ask(method_or_signature),
            "constructor_declaration": leaf("method"),
            "compact_constructor_declaration": leaf("method"),
            "annotation_type_element_declaration": soft("method"),
            "static_initializer": soft("method", fixed("static")),
            "field_declaration": soft("field", from_items("variable_declarator")),
            "constant_declaration": soft("constant", from_items("variable_declarator")),
            "enum_constant": soft("constant"),
        },
        inside="class_body interface_body enum_body enum_body_declarations annotation_type_body",
        bodies="block constructor_body class_body",
    )
}
