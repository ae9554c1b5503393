"""Lua and Luau: functions are assigned to variables and to fields of tables, tests are calls with a description."""

from typing import Final

from gitmem.chunking.grammar import CONTAINER, LEAF, MERGEABLE, Match, Node, dynamic, make_grammar
from gitmem.chunking.grammars.described_tests import match_test
from gitmem.chunking.node_names import from_field, text_of


def _function(node: Node, data: bytes) -> Match | None:
    target = node.child_by_field_name("name")
    name = text_of(target, data) if target is not None else ""
    # `function M:f()` takes `self`, `function M.f()` does not.
    return Match(LEAF, "method" if ":" in name else "function", name.replace(":", "."), node)


def _assignment(node: Node, data: bytes) -> Match | None:
    """Match assigned values: `M.f = function() ... end`, `local t = { f = function() ... end }`."""
    inner = node
    if node.type == "variable_declaration":
        inner = next((child for child in node.children if child.type == "assignment_statement"), None)
        if inner is None:
            return None
    names = next((child for child in inner.children if child.type == "variable_list"), None)
    values = next((child for child in inner.children if child.type == "expression_list"), None)
    if names is None or values is None or names.named_child_count != 1:
        return None
    name = text_of(names, data)
    value = values.named_children[0] if values.named_child_count else None
    if value is None or value.type == "function_call":
        return None
    if value.type == "function_definition":
        return Match(LEAF, "function", name, value)
    if value.type == "table_constructor":
        return Match(CONTAINER if _has_functions(value) else MERGEABLE, "constant", name, value)
    return Match(MERGEABLE, "constant", name, value) if "." not in name else None


def _has_functions(table: Node) -> bool:
    return any(_field_function(child) is not None for child in table.children[:100])


def _field_function(node: Node) -> Node | None:
    value = node.child_by_field_name("value") if node.type == "field" else None
    return value if value is not None and value.type == "function_definition" else None


def _field(node: Node, data: bytes) -> Match | None:
    value = _field_function(node)
    if value is None:
        return None
    return Match(LEAF, "function", from_field("name")(node, data), value)


def _described_test(node: Node, data: bytes) -> Match | None:
    """Match `describe("a cart", function() ... end)` and `it` likewise, of Busted."""
    called, arguments = node.child_by_field_name("name"), node.child_by_field_name("arguments")
    values = arguments.named_children[:2] if arguments is not None else []
    if called is None or len(values) < 2 or values[0].type != "string" or values[1].type != "function_definition":
        return None
    return match_test([text_of(called, data)], text_of(values[0], data).strip("\"'[]="), values[1])


GRAMMARS: Final = {
    name: make_grammar(
        name,
        {
            "function_declaration": dynamic(_function),
            "variable_declaration": dynamic(_assignment),
            "assignment_statement": dynamic(_assignment),
            "field": dynamic(_field),
            "function_call": dynamic(_described_test),
        },
        methods=False,
    )
    for name in ("lua", "luau")
}
