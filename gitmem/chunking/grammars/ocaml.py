"""OCaml: modules hold definitions, an interface (`.mli`) declares them with their types."""

from typing import Final

from gitmem.chunking.grammar import (
    CONTAINER,
    LEAF,
    MERGEABLE,
    TRANSPARENT,
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
_type_name: Final = from_path("type_binding", "type_constructor")


def _value(node: Node, data: bytes) -> Match | None:
    """Match `let f x = x`; each of several bindings, joined by `and`, is a unit of its own."""
    bindings = [child for child in node.named_children if child.type == "let_binding"]
    if len(bindings) > 1:
        return Match(TRANSPARENT, "", "", node)
    return _binding(bindings[0], data) if bindings else None


def _binding(node: Node, data: bytes) -> Match | None:
    """Match a name or function that `let` binds; a test is named by its description. `let () =` defines nothing."""
    name = _bound_name(node, data)
    if not name:
        return None
    return Match(LEAF, "function", name, node) if _is_function(node) else Match(MERGEABLE, "constant", name, node)


def _type(node: Node, data: bytes) -> Match:
    """Match `type t = a`; each of several types, joined by `and`, is a unit of its own."""
    bindings = [child for child in node.named_children if child.type == "type_binding"]
    if len(bindings) != 1:
        return Match(TRANSPARENT, "", "", node)
    return Match(MERGEABLE, "type", _type_name(node, data), bindings[0])


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
    "let_binding": dynamic(_binding),
    "value_specification": mergeable("function", from_path("value_name")),
    "external": mergeable("function", from_path("value_name")),
    "type_definition": dynamic(_type),
    "type_binding": mergeable("type", from_path("type_constructor")),
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
    parser: make_grammar(
        parser,
        _UNITS,
        transparent=_TRANSPARENT,
        comments="comment",
        prefixes="let rec and type nonrec",
        methods=False,
    )
    for parser in ("ocaml", "ocaml_interface")
}
