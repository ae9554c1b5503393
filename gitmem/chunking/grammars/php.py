"""PHP."""

from typing import Final

from gitmem.chunking.grammar import LEAF, SOFT, Found, Node, ask, box, leaf, make_grammar, soft
from gitmem.chunking.grammars.java import method_or_signature
from gitmem.chunking.node_names import from_items, text_of


def _statement(node: Node, data: bytes) -> Found | None:
    inner = node.children[0] if node.child_count else None
    if inner is None or inner.type != "assignment_expression":
        return None
    left, right = inner.child_by_field_name("left"), inner.child_by_field_name("right")
    if left is None or right is None or left.type != "variable_name":
        return None
    if right.type in ("anonymous_function", "anonymous_function_creation_expression", "arrow_function"):
        return Found(LEAF, "function", text_of(left, data).lstrip("$"), right)
    return None


def _properties(node: Node, data: bytes) -> str:
    return from_items("property_element")(node, data).replace("$", "")


def _constants(node: Node, data: bytes) -> Found | None:
    return Found(SOFT, "constant", from_items("const_element")(node, data), node)


GRAMMARS: Final = {
    "php": make_grammar(
        "php",
        {
            "class_declaration": box("class"),
            "interface_declaration": box("interface"),
            "trait_declaration": box("trait"),
            "enum_declaration": box("enum"),
            "function_definition": leaf("function"),
            "method_declaration": ask(method_or_signature),
            "property_declaration": soft("field", _properties),
            "const_declaration": ask(_constants),
            "enum_case": soft("constant"),
            "expression_statement": ask(_statement),
        },
        inside="declaration_list enum_declaration_list namespace_definition compound_statement if_statement",
        bodies="compound_statement",
    )
}
