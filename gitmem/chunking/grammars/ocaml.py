"""OCaml: modules hold definitions, an interface (`.mli`) declares them with their types."""

from typing import Final

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
)
from gitmem.chunking.node_names import from_path, text_of, unquoted

_FUNCTIONS: Final = frozenset({"fun_expression", "function_expression"})


_module_name: Final = from_path("module_binding", "module_name")


def _value(node: Node, data: bytes) -> Match | None:
    """Match `let a = 1 and b x = x`; a test is named by its description. `let () =` defines nothing."""
    bindings = [child for child in node.named_children if child.type == "let_binding"]
    names = [_bound_name(binding, data) for binding in bindings]
    if not names or not names[0]:
        return None
    is_function = any(_is_function(binding) for binding in bindings)
    name = ", ".join(filter(None, names))
    return Match(LEAF, "function", name, node) if is_function else Match(MERGEABLE, "constant", name, node)


def _bound_name(binding: Node, data: bytes) -> str:
    pattern = binding.child_by_field_name("pattern")
    if pattern is None or pattern.type not in ("value_name", "parenthesized_operator", "string"):
        return ""
    return unquoted(text_of(pattern, data)).strip("( )")


def _is_function(binding: Node) -> bool:
    body, pattern = binding.child_by_field_name("body"), binding.child_by_field_name("pattern")
    return (
        any(child.type == "parameter" for child in binding.named_children)
        or (body is not None and body.type in _FUNCTIONS)
        or (pattern is not None and pattern.type == "string")
    )


def _module(node: Node, data: bytes) -> Match:
    """Match a module with members; without them it is another name of a module."""
    has_members = any(
        inner.type in ("structure", "signature", "functor")
        for binding in node.named_children
        for inner in binding.named_children
    )
    name = _module_name(node, data)
    return Match(CONTAINER if has_members else MERGEABLE, "module", name, node)


_UNITS: Final = {
    "module_definition": dynamic(_module),
    "module_type_definition": container("interface", from_path("module_type_name")),
    "value_definition": dynamic(_value),
    "value_specification": mergeable("function", from_path("value_name")),
    "external": mergeable("function", from_path("value_name")),
    "type_definition": mergeable("type", from_path("type_binding", "type_constructor")),
    "exception_definition": mergeable("type", from_path("constructor_declaration", "constructor_name")),
    "class_definition": container("class", from_path("class_binding", "class_name")),
    "class_type_definition": container("interface", from_path("class_type_binding", "class_type_name")),
    "method_definition": leaf("method", from_path("method_name")),
    "method_specification": mergeable("method", from_path("method_name")),
}
_TRANSPARENT: Final = (
    "compilation_unit structure signature module_binding functor class_binding object_expression class_type_binding"
    " class_body_type"
)

GRAMMARS: Final = {
    "ocaml": make_grammar("ocaml", _UNITS, transparent=_TRANSPARENT, comments="comment", methods=False),
    "ocaml_interface": make_grammar(
        "ocaml_interface", _UNITS, transparent=_TRANSPARENT, comments="comment", methods=False
    ),
}
