"""Julia: functions have two forms, and a string before a definition documents it."""

from typing import Final

from gitmem.chunking.grammar import (
    CONTAINER,
    LEAF,
    MERGEABLE,
    PREFIX,
    WRAPPER,
    Match,
    Node,
    Rule,
    dynamic,
    make_grammar,
    namespace,
)
from gitmem.chunking.node_names import spoken_name, text_of

_AROUND_NAME: Final = frozenset(
    "signature call_expression where_expression typed_expression type_head parametrized_type_expression"
    " binary_expression".split()
)
"""Nodes whose first child has the name that is defined: `f` of `f(x::T)::Int where T`, `P` of `P{T} <: Q`."""

_MAX_AROUND: Final = 8
_TOP: Final = frozenset({"source_file", "block", "const_statement"})


def _defined_name(node: Node, data: bytes) -> str:
    """Return the name in the head of a definition, its first child."""
    for _ in range(_MAX_AROUND):
        if not node.named_child_count:
            break
        node = node.named_children[0]
        if node.type not in _AROUND_NAME:
            break
    return text_of(node, data)


def _assignment(node: Node, data: bytes) -> Match | None:
    """Match `f(x) = ...`, and `x = ...` outside of functions."""
    left = node.named_children[0] if node.named_child_count else None
    for _ in range(_MAX_AROUND):
        if left is None or left.type not in ("where_expression", "typed_expression") or not left.named_child_count:
            break
        left = left.named_children[0]
    if left is None:
        return None
    if left.type == "call_expression":
        return Match(LEAF, "function", _defined_name(node, data), node)
    is_global = left.type == "identifier" and _is_top(node)
    return Match(MERGEABLE, "constant", text_of(left, data), node) if is_global else None


_DEFINING: Final = {
    "function_definition": (LEAF, "function"),
    "macro_definition": (LEAF, "macro"),
    "struct_definition": (LEAF, "struct"),
    "abstract_definition": (MERGEABLE, "type"),
    "primitive_definition": (MERGEABLE, "type"),
}
_TESTS: Final = ("@testset", "@testitem")


def _macro_call(node: Node, data: bytes) -> Match | None:
    """Match a definition behind macros (`@inline f(x) = ...`, `@kwdef struct A`), an enumeration, or a set of tests."""
    for _ in range(_MAX_AROUND):
        arguments = node.named_children[-1].named_children if node.named_child_count > 1 else []
        if not arguments:
            return None
        macro, inner = text_of(node.named_children[0], data), arguments[-1]
        if macro in _TESTS:
            name = spoken_name(text_of(arguments[0], data)) if arguments[0].type == "string_literal" else ""
            return Match(CONTAINER, "namespace", name, inner) if name else None
        if macro == "@enum":
            return Match(MERGEABLE, "enum", _defined_name(arguments[0], data), node)
        if inner.type in _DEFINING:
            return Match(*_DEFINING[inner.type], _defined_name(inner, data), inner)
        if inner.type == "assignment":
            return _assignment(inner, data)
        if inner.type != "macrocall_expression":
            return None
        node = inner
    return None


def _string(node: Node, _data: bytes) -> Match | None:
    """Match a string that is a statement of a file or a module: documentation."""
    return Match(PREFIX, "", "", node) if _is_top(node) else None


def _is_top(node: Node) -> bool:
    """Return whether a statement is one of a file or a module, not of a function."""
    parent = node.parent
    while parent is not None and parent.type == "const_statement":
        parent = parent.parent
    if parent is None or parent.type not in _TOP:
        return False
    return parent.type == "source_file" or (parent.parent is not None and parent.parent.type == "module_definition")


GRAMMARS: Final = {
    "julia": make_grammar(
        "julia",
        {
            "module_definition": namespace("module"),
            **{
                node_type: Rule(shape, chunk_type, _defined_name)
                for node_type, (shape, chunk_type) in _DEFINING.items()
            },
            "macrocall_expression": dynamic(_macro_call),
            "const_statement": Rule(WRAPPER),
            "assignment": dynamic(_assignment),
            "string_literal": dynamic(_string),
        },
        transparent="source_file",
        joins="function_definition assignment",
    )
}
