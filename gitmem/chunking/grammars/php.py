"""PHP: functions are also assigned to variables."""

from typing import Final

from gitmem.chunking.grammar import LEAF, MERGEABLE, Match, Node, container, dynamic, leaf, make_grammar, mergeable
from gitmem.chunking.grammars.java import method_or_signature
from gitmem.chunking.node_names import from_items, text_of


def _statement(node: Node, data: bytes) -> Match | None:
    inner = node.children[0] if node.child_count else None
    if inner is None or inner.type != "assignment_expression":
        return None
    left, right = inner.child_by_field_name("left"), inner.child_by_field_name("right")
    if left is None or right is None or left.type != "variable_name":
        return None
    # `$f = function (...) {...}` and `$f = fn (...) => ...`
    if right.type in ("anonymous_function", "anonymous_function_creation_expression", "arrow_function"):
        return Match(LEAF, "function", text_of(left, data).lstrip("$"), right)
    return None


def _properties(node: Node, data: bytes) -> str:
    return from_items("property_element")(node, data).replace("$", "")


def _constants(node: Node, data: bytes) -> Match | None:
    return Match(MERGEABLE, "constant", from_items("const_element")(node, data), node)


GRAMMARS: Final = {
    "php": make_grammar(
        "php",
        {
            "class_declaration": container("class"),
            "interface_declaration": container("interface"),
            "trait_declaration": container("trait"),
            "enum_declaration": container("enum"),
            "function_definition": leaf("function"),
            "method_declaration": dynamic(method_or_signature),
            "property_declaration": mergeable("field", _properties),
            "const_declaration": dynamic(_constants),
            "enum_case": mergeable("constant"),
            "expression_statement": dynamic(_statement),
        },
        transparent="declaration_list enum_declaration_list namespace_definition compound_statement if_statement",
        bodies="compound_statement",
        anonymous="anonymous_class",
    )
}
