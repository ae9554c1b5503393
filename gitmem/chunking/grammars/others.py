"""Small tables for languages whose node types alone do not determine the units."""

import re
from typing import Final

from gitmem.chunking.grammar import (
    CONTAINER,
    LEAF,
    MERGEABLE,
    NAMESPACE,
    Match,
    Node,
    container,
    dynamic,
    leaf,
    make_grammar,
    mergeable,
)
from gitmem.chunking.grammars.cfamily import C_TRANSPARENT, C_UNITS
from gitmem.chunking.grammars.described_tests import match_test
from gitmem.chunking.grammars.line_grammar import make_line_grammar
from gitmem.chunking.node_names import from_child, from_path, name_of, text_of, unquoted

_DART_STATEMENT: Final = "expression_statement"
_DART_TESTS: Final = {"group": "describe", "testWidgets": "test", "blocTest": "test"}
"""Names of functions for tests by those that other languages have for them."""


def _dart_body(node: Node, data: bytes) -> Match | None:
    """Match a body. Signature and body are siblings: the signature is a prefix, and the body is the unit."""
    head = node.prev_named_sibling
    if head is None or not head.type.endswith("signature"):
        return None
    inner = head.named_children[-1] if head.type == "method_signature" and head.named_child_count else head
    name = name_of(inner, data)
    block = node.named_children[-1] if name == "main" and node.named_child_count else node
    # A library of tests has all of them in its main function.
    if any(_dart_test(statement, data) for statement in block.named_children if statement.type == _DART_STATEMENT):
        return Match(CONTAINER, "namespace", name, block)
    return Match(LEAF, "function", name, node)


def _dart_declaration(node: Node, data: bytes) -> Match | None:
    """Match a method, getter or setter without a body, of an abstract class for example."""
    for child in node.named_children:
        if child.type in ("function_signature", "getter_signature", "setter_signature"):
            return Match(MERGEABLE, "function", name_of(child, data), node)
    return None


def _dart_variable(node: Node, data: bytes) -> Match | None:
    """Match a constant or variable of a library, by the first name of its declaration."""
    if node.parent is None or node.parent.type != "program" or not node.named_child_count:
        return None
    return Match(MERGEABLE, "constant", from_child("identifier")(node.named_children[0], data), node)


def _dart_test(node: Node, data: bytes) -> Match | None:
    """Match `group("a cart", () {...})`, `test("adds prices", () {...})` and tests of widgets and blocs."""
    called, selector = node.named_children[:2] if node.named_child_count > 1 else (None, None)
    part = selector.named_children[-1] if selector is not None and selector.named_child_count else None
    arguments = part.named_children[-1].named_children if part is not None and part.named_child_count else []
    text = text_of(arguments[0], data) if len(arguments) > 1 and called is not None else ""
    if called is None or text[:1] not in ("'", '"'):
        return None
    closure = next((each for each in arguments[1].named_children if each.type == "function_expression"), arguments[1])
    block = next(
        (inner for each in closure.named_children for inner in each.named_children if inner.type == "block"), closure
    )
    name = text_of(called, data)
    return match_test([_DART_TESTS.get(name, name)], unquoted(text), block)


def _r_assignment(node: Node, data: bytes) -> Match | None:
    sign, left = node.child_by_field_name("operator"), node.child_by_field_name("lhs")
    right = node.child_by_field_name("rhs")
    if sign is None or left is None or right is None or text_of(sign, data) not in ("<-", "=", "<<-"):
        return None
    if right.type == "function_definition":
        return Match(LEAF, "function", text_of(left, data), right)
    return Match(MERGEABLE, "constant", text_of(left, data), right)


def _r_test(node: Node, data: bytes) -> Match | None:
    """Match `test_that("name", {...})`, and `describe` and `it` likewise."""
    called, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
    inner = arguments.children[:5] if arguments is not None else []
    values = [each.child_by_field_name("value") for each in inner if each.type == "argument"]
    if called is None or len(values) != 2 or any(value is None for value in values) or values[0].type != "string":
        return None
    return match_test([text_of(called, data)], unquoted(text_of(values[0], data)), values[1])


_R_TOPIC: Final = re.compile(rb"^#'\s*@(?:name|rdname)\s+([\w.]+)", re.MULTILINE)


def _r_documentation(node: Node, data: bytes) -> Match | None:
    """Match `NULL` or the name of a data set behind documentation, which is about the topic that it names."""
    if node.parent is None or node.parent.type != "program":
        return None
    start = node.start_byte
    while start and data.startswith(b"#'", above := data.rfind(b"\n", 0, start - 1) + 1):
        start = above
    if start == node.start_byte:
        return None
    if node.type == "string":
        name = unquoted(text_of(node, data))
        return Match(MERGEABLE, "constant", name, node) if name != "_PACKAGE" else None
    topic = _R_TOPIC.search(data, start, node.start_byte)
    # No function: that stands elsewhere, and precedes what is said about it.
    return Match(MERGEABLE, "module", topic[1].decode(), node) if topic else None


_NIX_SETS: Final = frozenset({"attrset_expression", "rec_attrset_expression", "let_expression", "apply_expression"})
_MAX_SMALL_SET: Final = 1_000
"""Bytes of a set of attributes that is one unit. The attributes of a larger one are units of their own."""


def _nix_binding(node: Node, data: bytes) -> Match | None:
    """Match `name = value;`: a function, a set of attributes, or another value."""
    path, value = node.child_by_field_name("attrpath"), node.child_by_field_name("expression")
    if path is None or value is None:
        return None
    name = text_of(path, data)
    if value.type == "function_expression":
        return Match(LEAF, "function", name, node)
    if value.type in _NIX_SETS and value.end_byte - value.start_byte > _MAX_SMALL_SET:
        return Match(NAMESPACE, "property", name, value)
    return Match(MERGEABLE, "property", name, node)


def _first_argument(node: Node, data: bytes) -> str:
    """Return the first argument of `function(name ...)` or `macro(name ...)`."""
    command = node.named_children[0] if node.named_child_count else None
    arguments = next((child for child in command.children if child.type == "argument_list"), None) if command else None
    return unquoted(text_of(arguments.named_children[0], data)) if arguments is not None else ""


_TARGETS: Final = frozenset({"add_executable", "add_library", "add_custom_target", "project"})


def _target(node: Node, data: bytes) -> Match | None:
    """Match `add_library(name ...)` and other commands of CMake that declare a target, unless a variable names it."""
    command = text_of(node.named_children[0], data).lower() if node.named_child_count else ""
    arguments = next((child for child in node.children if child.type == "argument_list"), None)
    if command not in _TARGETS or arguments is None or not arguments.named_child_count:
        return None
    name = unquoted(text_of(arguments.named_children[0], data))
    return None if "$" in name else Match(MERGEABLE, "function", name, node)


def _vim_name(node: Node, data: bytes) -> str:
    """Return the name of a function, `s:Run` or `plugin#run`."""
    return next((name_of(child, data) for child in node.named_children if child.type == "function_declaration"), "")


def _elm_name(node: Node, data: bytes) -> str:
    head = node.child_by_field_name("functionDeclarationLeft")
    return text_of(head.named_children[0], data) if head is not None and head.named_child_count else ""


# The parser ends a file at `$(info [all])` in a recipe, for example.
_MAKE_LINES: Final = make_line_grammar(
    r"#",
    ("macro", r"define\s+(?P<name>[\w.-]+)"),
    ("constant", r"(?:(?:export|override|private)\s+)*(?P<name>[\w.-]+)\s*(?::{0,3}|[?+!])="),
    ("target", r"(?![.#$-])(?P<name>[^\s:=#][^:=#\n]*?)\s*::?(?![:=])"),
    closing=r"endef\b",
    is_flat=True,
)

GRAMMARS: Final = {
    "vim": make_grammar("vim", {"function_definition": leaf("function", _vim_name)}, transparent="script_file"),
    "gleam": make_grammar(
        "gleam",
        {
            "function": leaf("function"),
            "constant": mergeable("constant"),
            "type_definition": leaf("type", from_path("type_name", "type_identifier")),
            "external_type": mergeable("type", from_path("type_name", "type_identifier")),
            "type_alias": mergeable("type", from_path("type_name", "type_identifier")),
        },
        comments="comment statement_comment module_comment",
        prefixes="attribute",
    ),
    "graphql": make_grammar(
        "graphql",
        {
            "object_type_definition": leaf("class"),
            "object_type_extension": leaf("class"),
            "interface_type_definition": leaf("interface"),
            "input_object_type_definition": leaf("struct"),
            "enum_type_definition": leaf("enum"),
            "union_type_definition": mergeable("type"),
            "scalar_type_definition": mergeable("type"),
            "directive_definition": mergeable("macro"),
            "operation_definition": leaf("function"),
            "fragment_definition": leaf("function", from_child("fragment_name")),
        },
        transparent="source_file document definition type_system_definition type_definition executable_definition"
        " type_system_extension type_extension",
    ),
    "prisma": make_grammar(
        "prisma",
        {
            "model_block": leaf("class"),
            "view_block": leaf("class"),
            "type_block": leaf("type"),
            "enum_block": leaf("enum"),
        },
    ),
    "elm": make_grammar(
        "elm",
        {
            "value_declaration": leaf("function", _elm_name),
            "type_alias_declaration": leaf("type"),
            "type_declaration": leaf("type"),
            "port_annotation": mergeable("function"),
        },
        transparent="file",
        prefixes="type_annotation",
    ),
    "make": make_grammar(
        "make",
        {
            "rule": mergeable("function", from_child("targets")),
            "variable_assignment": mergeable("constant"),
            "define_directive": mergeable("macro"),
        },
        transparent="makefile conditional",
        otherwise=_MAKE_LINES,
    ),
    **{
        name: make_grammar(name, C_UNITS, transparent=C_TRANSPARENT, bodies="compound_statement")
        for name in ("glsl", "hlsl")
    },
    "objc": make_grammar(
        "objc",
        C_UNITS
        | {
            "class_interface": container("interface", from_child("identifier")),
            "class_implementation": container("class", from_child("identifier")),
            "protocol_declaration": container("interface", from_child("identifier")),
            "method_definition": leaf("method", from_child("identifier")),
            "method_declaration": mergeable("method", from_child("identifier")),
            "property_declaration": mergeable("property"),
        },
        transparent=C_TRANSPARENT + " implementation_definition",
        bodies="compound_statement",
    ),
    "dart": make_grammar(
        "dart",
        {
            "class_definition": container("class"),
            "mixin_declaration": container("trait"),
            "extension_declaration": container("impl"),
            "extension_type_declaration": container("class"),
            "enum_declaration": container("enum"),
            "function_body": dynamic(_dart_body),
            "declaration": dynamic(_dart_declaration),
            "static_final_declaration_list": dynamic(_dart_variable),
            "initialized_identifier_list": dynamic(_dart_variable),
            _DART_STATEMENT: dynamic(_dart_test),
            "type_alias": mergeable("type"),
        },
        transparent="class_body extension_body enum_body",
        comments="comment documentation_comment",
        # Signatures are siblings of their bodies, see _dart_body.
        prefixes="method_signature function_signature getter_signature setter_signature annotation"
        " final_builtin const_builtin inferred_type type_identifier type_arguments nullable_type",
        bodies="block",
    ),
    "cmake": make_grammar(
        "cmake",
        {
            "function_def": leaf("function", _first_argument),
            "macro_def": leaf("macro", _first_argument),
            "normal_command": dynamic(_target),
        },
        comments="line_comment bracket_comment",
        transparent="if_condition body",
    ),
    "nix": make_grammar(
        "nix",
        {"binding": dynamic(_nix_binding)},
        transparent="source_code function_expression let_expression with_expression assert_expression apply_expression"
        " attrset_expression rec_attrset_expression parenthesized_expression binding_set",
        merged_type="property",
    ),
    "r": make_grammar(
        "r",
        {
            "binary_operator": dynamic(_r_assignment),
            "call": dynamic(_r_test),
            "null": dynamic(_r_documentation),
            "string": dynamic(_r_documentation),
        },
        bodies="braced_expression",
    ),
}
