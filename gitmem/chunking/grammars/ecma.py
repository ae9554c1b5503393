"""JavaScript, TypeScript, TSX: declarations, and the many ways of assigning a function to a name."""

from typing import Final

from gitmem.chunking.chunk_size import CALLBACK_BYTES
from gitmem.chunking.grammar import (
    CONTAINER,
    LEAF,
    MERGEABLE,
    Match,
    Node,
    container,
    dynamic,
    leaf,
    make_grammar,
    mergeable,
    namespace,
)
from gitmem.chunking.grammars.described_tests import match_test
from gitmem.chunking.node_names import from_field, name_of, text_of, unquoted

_FUNCTIONS: Final = frozenset(
    {"arrow_function", "function_expression", "generator_function", "function", "generator_function_declaration"}
)
_CLASSES: Final = frozenset({"class", "class_expression"})
_STRINGS: Final = frozenset({"string", "template_string"})


def _value(node: Node, name: str, value: Node | None, plain: str) -> Match | None:
    """Match an assigned value: a function, a class, an object with methods, or else the chunk type `plain`."""
    if value is None:
        return Match(MERGEABLE, plain, name, node)
    node_type = value.type
    if node_type in _FUNCTIONS:
        return Match(LEAF, "function", name, value)
    if node_type in _CLASSES:
        return Match(CONTAINER, "class", name, value)
    if node_type == "object" and _has_functions(value):
        return Match(CONTAINER, plain, name, value)
    # `const Row = memo((props) => ...)`: the function passed to the call is what the name stands for.
    if node_type == "call_expression":
        arguments = value.child_by_field_name("arguments")
        if arguments is not None and any(child.type in _FUNCTIONS for child in arguments.children[:4]):
            return Match(
                LEAF if value.end_byte - value.start_byte > CALLBACK_BYTES else MERGEABLE, "function", name, value
            )
    # `(value as Type)`: look at the value.
    if node_type in ("as_expression", "satisfies_expression", "parenthesized_expression"):
        return _value(node, name, value.named_children[0] if value.named_child_count else None, plain)
    return Match(MERGEABLE, plain, name, value)


def _has_functions(value: Node) -> bool:
    # Only the first entries are searched: a data object may have any number of them.
    for child in value.children[:200]:
        if child.type == "method_definition":
            return True
        if child.type == "pair":
            inner = child.child_by_field_name("value")
            if inner is not None and inner.type in _FUNCTIONS:
                return True
    return False


def _variable(node: Node, data: bytes) -> Match | None:
    """Match `const name = value` by its value. Destructuring and several names make a constant."""
    declared = [child for child in node.children[:12] if child.type == "variable_declarator"]
    if not declared:
        return None
    first = declared[0]
    target = first.child_by_field_name("name")
    if len(declared) > 1 or target is None or target.type != "identifier":
        plain = [each.child_by_field_name("name") for each in declared]
        names = ", ".join(text_of(each, data) for each in plain if each is not None and each.type == "identifier")
        return Match(MERGEABLE, "constant" if names else "module", names[:120], node)
    return _value(node, text_of(target, data), first.child_by_field_name("value"), "constant")


def _statement(node: Node, data: bytes) -> Match | None:
    """Match assignments: `exports.f = ...`, `A.prototype.b = ...`, `module.exports = {...}`."""
    inner = node.children[0] if node.child_count else None
    if inner is None:
        return None
    if inner.type == "internal_module":
        return _namespace(inner, data)
    if inner.type == "call_expression":
        return _described_test(inner, data)
    if inner.type != "assignment_expression":
        return None
    left, right = inner.child_by_field_name("left"), inner.child_by_field_name("right")
    if left is None or left.type not in ("identifier", "member_expression"):
        return None
    # `exports.f = module.exports.f = function ...`: the value is that of the last assignment.
    while right is not None and right.type == "assignment_expression":
        right = right.child_by_field_name("right")
    path = _path(text_of(left, data))
    # The main export has the name of the function or class that it is.
    named = right.child_by_field_name("name") if right is not None and path in ("module.exports", "exports") else None
    match = _value(node, text_of(named, data) if named is not None else path, right, "constant")
    # Assigning a plain value changes state. It defines nothing.
    if match is None or (
        match.shape == MERGEABLE and right is not None and right.type not in ("object", "call_expression")
    ):
        return None
    if ".prototype." in text_of(left, data) and match.chunk_type == "function":
        return match._replace(chunk_type="method")
    return match


def _described_test(call: Node, data: bytes) -> Match | None:
    """Match `describe("name", () => {...})`, `test.each(rows)("name", function () {...})` and the like."""
    arguments = call.child_by_field_name("arguments")
    values = arguments.named_children[:4] if arguments is not None else []
    body = next((value for value in values[1:] if value.type in _FUNCTIONS), None)
    if body is None or values[0].type not in _STRINGS:
        return None
    names: list[str] = []
    callee = call.child_by_field_name("function")
    for _ in range(4):
        if callee is None:
            break
        called = callee.child_by_field_name("property") or callee
        if called.type in ("identifier", "property_identifier"):
            names.append(text_of(called, data))
        callee = callee.child_by_field_name("object") or callee.child_by_field_name("function")
    return match_test(names, unquoted(text_of(values[0], data)), body)


def _path(text: str) -> str:
    """Return the name that an assignment target exports: `A.b` for `A.prototype.b`, `f` for `exports.f`."""
    if text.startswith("this."):
        return text[5:]
    # Both spellings export the same name.
    for start in ("module.exports.", "exports."):
        text = text.removeprefix(start)
    return "module.exports" if text == "module.exports" else text.replace(".prototype.", ".").removesuffix(".prototype")


def _export(node: Node, data: bytes) -> Match | None:
    """Match the exported declaration. The name of a nameless one is `default`."""
    for field in ("declaration", "value"):
        inner = node.child_by_field_name(field)
        if inner is None:
            continue
        rule = UNITS.get(inner.type)
        if rule is not None and rule.resolve is not None:
            return rule.resolve(inner, data)
        if rule is not None:
            return Match(rule.shape, rule.chunk_type, (rule.name or name_of)(inner, data) or "default", inner)
        return _value(inner, "default", inner, "constant")
    return None


def _ambient(node: Node, data: bytes) -> Match | None:
    """Match the declaration inside `declare ...`. Those of `declare global` are in no namespace."""
    for inner in node.children:
        if inner.type == "statement_block":
            block = namespace("namespace")
            return Match(block.shape, block.chunk_type, "", inner)
        rule = UNITS.get(inner.type)
        if rule is None:
            continue
        if rule.resolve is not None:
            return rule.resolve(inner, data)
        return Match(rule.shape, rule.chunk_type, (rule.name or name_of)(inner, data), inner)
    return None


def _namespace(node: Node, data: bytes) -> Match | None:
    rule = namespace("namespace")
    return Match(rule.shape, rule.chunk_type, unquoted(name_of(node, data)), node)


def _member(node: Node, data: bytes) -> Match | None:
    """Match class fields and object entries. A function as value makes a method."""
    target = node.child_by_field_name("property") or node.child_by_field_name("name") or node.child_by_field_name("key")
    name = unquoted(text_of(target, data)) if target is not None else ""
    value = node.child_by_field_name("value")
    if node.type == "pair" and (value is None or value.type not in _FUNCTIONS):
        return Match(MERGEABLE, "property", name, value or node)
    match = _value(node, name, value, "field")
    if match is not None and match.chunk_type == "function":
        return match._replace(chunk_type="method")
    return match


UNITS: Final = {
    "function_declaration": leaf("function"),
    "generator_function_declaration": leaf("function"),
    "function_signature": mergeable("function"),
    "class_declaration": container("class"),
    "abstract_class_declaration": container("class"),
    "method_definition": leaf("method"),
    "method_signature": mergeable("method"),
    "abstract_method_signature": mergeable("method"),
    "interface_declaration": container("interface"),
    "property_signature": mergeable("field"),
    "enum_declaration": leaf("enum"),
    "type_alias_declaration": mergeable("type"),
    "internal_module": dynamic(_namespace),
    "module": dynamic(_namespace),
    "lexical_declaration": dynamic(_variable),
    "variable_declaration": dynamic(_variable),
    "expression_statement": dynamic(_statement),
    "export_statement": dynamic(_export),
    "ambient_declaration": dynamic(_ambient),
    "field_definition": dynamic(_member),
    "public_field_definition": dynamic(_member),
    "pair": dynamic(_member),
    "class_static_block": leaf("method", from_field("none")),
}
GRAMMARS: Final = {
    name: make_grammar(
        name,
        UNITS,
        transparent="class_body interface_body object_type object",
        prefixes="decorator",
        joins="function_signature function_declaration method_signature method_definition",
        bodies="statement_block class_body",
    )
    for name in ("javascript", "typescript", "tsx")
}
