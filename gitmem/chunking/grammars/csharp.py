"""C#: operators and destructors are named by their signs."""

from typing import Final

from gitmem.chunking.grammar import Node, container, dynamic, leaf, make_grammar, mergeable
from gitmem.chunking.grammars.java import method_or_signature
from gitmem.chunking.node_names import fixed, from_child, from_items, text_of


def _variables(node: Node, data: bytes) -> str:
    inner = next((child for child in node.children if child.type == "variable_declaration"), None)
    return from_items("variable_declarator")(inner, data) if inner is not None else ""


def _operator(node: Node, data: bytes) -> str:
    sign = node.child_by_field_name("operator") or node.child_by_field_name("type")
    return f"operator {text_of(sign, data)}" if sign is not None else "operator"


def _destructor(node: Node, data: bytes) -> str:
    return "~" + from_child("identifier")(node, data)


GRAMMARS: Final = {
    "csharp": make_grammar(
        "csharp",
        {
            "class_declaration": container("class"),
            "record_declaration": container("class"),
            "record_struct_declaration": container("struct"),
            "struct_declaration": container("struct"),
            "interface_declaration": container("interface"),
            "enum_declaration": leaf("enum"),
            "method_declaration": dynamic(method_or_signature),
            "constructor_declaration": leaf("method"),
            "destructor_declaration": leaf("method", _destructor),
            "operator_declaration": leaf("method", _operator),
            "conversion_operator_declaration": leaf("method", _operator),
            "indexer_declaration": leaf("property", fixed("this")),
            "property_declaration": mergeable("property"),
            "event_declaration": mergeable("property"),
            "event_field_declaration": mergeable("field", _variables),
            "field_declaration": mergeable("field", _variables),
            "delegate_declaration": mergeable("type"),
            "local_function_statement": leaf("function"),
        },
        transparent="declaration_list namespace_declaration preproc_if preproc_else preproc_elif global_statement",
        bodies="block arrow_expression_clause accessor_list",
    )
}
