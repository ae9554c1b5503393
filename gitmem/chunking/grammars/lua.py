"""Lua and Luau: functions are fields of tables."""

from typing import Final

from gitmem.chunking.grammar import BOX, LEAF, SOFT, Found, Node, ask, make_grammar
from gitmem.chunking.node_names import from_field, text_of


def _function(node: Node, data: bytes) -> Found | None:
    target = node.child_by_field_name("name")
    name = text_of(target, data) if target is not None else ""
    return Found(LEAF, "method" if ":" in name else "function", name.replace(":", "."), node)


def _assignment(node: Node, data: bytes) -> Found | None:
    """`M.f = function() ... end`, `local t = { f = function() ... end }`."""
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
        return Found(LEAF, "function", name, value)
    if value.type == "table_constructor":
        return Found(BOX if _has_functions(value) else SOFT, "constant", name, value)
    return Found(SOFT, "constant", name, value) if "." not in name else None


def _has_functions(table: Node) -> bool:
    return any(_field_function(child) is not None for child in table.children[:100])


def _field_function(node: Node) -> Node | None:
    value = node.child_by_field_name("value") if node.type == "field" else None
    return value if value is not None and value.type == "function_definition" else None


def _field(node: Node, data: bytes) -> Found | None:
    value = _field_function(node)
    if value is None:
        return None
    return Found(LEAF, "function", from_field("name")(node, data), value)


GRAMMARS: Final = {
    name: make_grammar(
        name,
        {
            "function_declaration": ask(_function),
            "variable_declaration": ask(_assignment),
            "assignment_statement": ask(_assignment),
            "field": ask(_field),
        },
        methods=False,
    )
    for name in ("lua", "luau")
}
