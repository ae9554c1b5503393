"""PHP: functions are also assigned to variables, and tests of Pest are calls with a description."""

from typing import Final

from gitmem.chunking.grammar import LEAF, MERGEABLE, Match, Node, container, dynamic, leaf, make_grammar, mergeable
from gitmem.chunking.grammars.described_tests import match_test
from gitmem.chunking.grammars.java import method_or_signature
from gitmem.chunking.node_names import from_items, text_of, unquoted

_FUNCTIONS: Final = ("anonymous_function", "anonymous_function_creation_expression", "arrow_function")


def _statement(node: Node, data: bytes) -> Match | None:
    inner = node.children[0] if node.child_count else None
    while inner is not None and inner.type == "member_call_expression":  # `it("...", ...)->with(...)`
        inner = inner.child_by_field_name("object")
    if inner is not None and inner.type == "function_call_expression":
        return _described_test(inner, data)
    if inner is None or inner.type != "assignment_expression":
        return None
    left, right = inner.child_by_field_name("left"), inner.child_by_field_name("right")
    if left is None or right is None or left.type != "variable_name":
        return None
    # `$f = function (...) {...}` and `$f = fn (...) => ...`
    if right.type in _FUNCTIONS:
        return Match(LEAF, "function", text_of(left, data).lstrip("$"), right)
    return None


def _described_test(call: Node, data: bytes) -> Match | None:
    """Match `it("adds prices", function () {...})` of Pest."""
    called, arguments = call.child_by_field_name("function"), call.child_by_field_name("arguments")
    first = arguments.named_children[:2] if arguments is not None else []
    values = [child.named_children[-1] for child in first if child.named_child_count]
    if called is None or len(values) < 2 or "string" not in values[0].type or values[1].type not in _FUNCTIONS:
        return None
    return match_test([text_of(called, data)], unquoted(text_of(values[0], data)), values[1])


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
