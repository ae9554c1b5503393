"""C, C++ and their relatives, in which a name is nested in a chain of declarators."""

import re
from typing import Final

from gitmem.chunking.described_heads import read_description
from gitmem.chunking.grammar import (
    CONTAINER,
    LEAF,
    MERGEABLE,
    NAMESPACE,
    Match,
    Node,
    dynamic,
    make_grammar,
    mergeable,
    namespace,
)
from gitmem.chunking.grammars.macro_names import (
    hidden_function,
    hidden_type,
    is_namespace_macro,
    is_reserved,
    unmasked,
)
from gitmem.chunking.node_names import name_of, spoken_name, text_of

_TYPES: Final = {"class_specifier": "class", "struct_specifier": "struct", "union_specifier": "struct",
                 "enum_specifier": "enum"}  # fmt: skip
_NAME: Final = re.compile(r"[\w.~$]+")
_POINTER: Final = re.compile(rb"\([\w\s]*\*\s*(\w+)\s*\)\s*\(")


def _innermost(node: Node) -> tuple[Node, bool]:
    """Return the node at the end of the chain of declarators, and whether one of them declares a function."""
    called = False
    for _ in range(12):
        # The conversion `operator bool` has a declarator without a name.
        inner = node.child_by_field_name("declarator") if node.type != "operator_cast" else None
        if inner is None and node.type in ("reference_declarator", "parenthesized_declarator", "attributed_declarator"):
            inner = node.named_children[0] if node.named_child_count else None
        if inner is None:
            break
        called = called or inner.type == "function_declarator"
        node = inner
    return node, called


def _dotted(text: str) -> str:
    """Return a name with dots and without template arguments: `ns.Foo.bar` for `ns::Foo<T>::bar`. '' if invalid."""
    head, operator, tail = text.partition("operator")
    # `operatorOf` is an ordinary name, `operator<` is not, and its angle bracket must stay.
    if operator and tail[:1].isalnum():
        head, operator, tail = text, "", ""
    # The name of a conversion includes its parameters in the grammar: `operator bool() const`.
    if tail and not tail.startswith("("):
        tail = tail.partition("(")[0].rstrip()
    if "<" in head:
        head = _without_angles(head)
    name = head.replace(" ", "").replace("::", ".").lstrip(".") + operator + tail
    return name if operator or _NAME.fullmatch(name) else ""


def _without_angles(text: str) -> str:
    outside, depth = [], 0
    for char in text:
        depth += (char == "<") - (char == ">")
        if depth == 0 and char != ">":
            outside.append(char)
    return "".join(outside)


def _function(node: Node, data: bytes) -> Match | None:
    target, called = _innermost(node)
    if target is node:
        return None
    description = read_description(target, data)
    if description:
        return Match(LEAF, "function", spoken_name(description), node)
    name = _dotted(text_of(target, data))
    if is_reserved(name) or not called:
        hidden = _hidden(node, name, data)
        if hidden is not None:
            return hidden
    if is_reserved(name):
        # After a syntax error, the parser may take a statement for a definition.
        name = hidden_function(node, data)
        if not name:
            return None
    chunk_type = "method" if "." in name and "operator" not in name.partition(".")[0] else "function"
    return Match(LEAF, chunk_type, unmasked(name, node, data), node)


def _hidden(node: Node, name: str, data: bytes) -> Match | None:
    """Match a type or namespace that a macro before or inside it made look like a function; None for functions."""
    type_node = node.child_by_field_name("type")
    # `class API Ring {...}` and `BEGIN_NAMESPACE struct Ring {...}`: here a word of the head became the type.
    if not is_reserved(name) and (type_node is None or type_node.type not in _TYPES):
        return None
    word, own = hidden_type(node, data)
    if not own:
        return None
    if word == "namespace":
        return Match(NAMESPACE, "namespace", own, node)
    return Match(LEAF, "class" if word == "class" else "enum" if word == "enum" else "struct", own, node)


def _type(node: Node, data: bytes) -> Match | None:
    if node.child_by_field_name("body") is None:
        return None  # `class Ring;` says that another file defines it
    name = _dotted(named_type(node, data))
    chunk_type = _TYPES[node.type]
    return Match(LEAF if chunk_type == "enum" else CONTAINER, chunk_type, name, node)


def named_type(node: Node, data: bytes) -> str:
    """Return the `name` field, '' for an anonymous type. `name_of` would take the name of a member."""
    target = node.child_by_field_name("name")
    return text_of(target, data) if target is not None else ""


def _declaration(node: Node, data: bytes) -> Match | None:
    """Match `struct S {...} s;` as the struct, a prototype as a small function, and the rest as variables."""
    type_node = node.child_by_field_name("type")
    if type_node is not None and type_node.type in _TYPES and type_node.child_by_field_name("body") is not None:
        match = _type(type_node, data)
        if match is not None:
            return match if match.name else match._replace(name=_declared(node, data))
    target, called = _innermost(node)
    if target is node:
        return None
    chunk_type = "function" if called else "field" if node.type == "field_declaration" else "constant"
    name = _dotted(text_of(target, data))
    name = hidden_function(node, data) if is_reserved(name) else unmasked(name, node, data) if called else name
    return Match(MERGEABLE, chunk_type, name, node)


def _declared(node: Node, data: bytes) -> str:
    target, _ = _innermost(node)
    return _dotted(text_of(target, data)) if target is not node else ""


def _typedef(node: Node, data: bytes) -> Match | None:
    type_node = node.child_by_field_name("type")
    name = _declared(node, data)
    if type_node is not None and type_node.type in _TYPES and type_node.child_by_field_name("body") is not None:
        match = _type(type_node, data)
        return match._replace(name=name or match.name) if match is not None else None
    # The name of a function pointer is inside the parentheses: `typedef int (*callback)(void)`.
    if type_node is None or not name or b"(" in data[type_node.end_byte : node.end_byte]:
        pointer = _POINTER.search(data, node.start_byte, node.end_byte)
        name = pointer[1].decode("utf-8", "replace") if pointer else name
    return Match(MERGEABLE, "type", name, node)


def _macro(node: Node, data: bytes) -> Match | None:
    """Match macros with a value. One without, such as an include guard, is loose text."""
    if node.child_by_field_name("value") is None:
        return None
    return Match(MERGEABLE, "macro", name_of(node, data), node)


def _namespace(node: Node, data: bytes) -> str:
    target = node.child_by_field_name("name")
    name = text_of(target, data).replace("::", ".") if target is not None else ""
    return "" if is_namespace_macro(name) else name


C_UNITS: Final = {
    "function_definition": dynamic(_function),
    "struct_specifier": dynamic(_type),
    "union_specifier": dynamic(_type),
    "enum_specifier": dynamic(_type),
    "declaration": dynamic(_declaration),
    "type_definition": dynamic(_typedef),
    "preproc_def": dynamic(_macro),
    "preproc_function_def": mergeable("macro"),
}
_CPP: Final = C_UNITS | {
    "class_specifier": dynamic(_type),
    "field_declaration": dynamic(_declaration),
    "inline_method_definition": dynamic(_function),
    "constructor_or_destructor_definition": dynamic(_function),
    "operator_cast_definition": dynamic(_function),
    "namespace_definition": namespace("namespace", _namespace),
    "alias_declaration": mergeable("type"),
    "concept_definition": mergeable("type"),
    "using_declaration": mergeable("type", lambda _node, _data: ""),
}
C_TRANSPARENT: Final = (
    "preproc_if preproc_ifdef preproc_else preproc_elif preproc_elifdef linkage_specification declaration_list"
    " field_declaration_list"
)
GRAMMARS: Final = {
    "c": make_grammar("c", C_UNITS, transparent=C_TRANSPARENT, bodies="compound_statement field_initializer_list"),
    **{
        name: make_grammar(
            name,
            _CPP,
            transparent=C_TRANSPARENT,
            wrappers="template_declaration",
            prefixes="attribute_declaration",
            bodies="compound_statement field_initializer_list try_statement",
        )
        for name in ("cpp", "cuda", "arduino")
    },
}
