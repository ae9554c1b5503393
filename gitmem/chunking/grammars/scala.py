"""Scala 2 and 3: the extended type qualifies extension methods, and tests are named by their descriptions."""

from typing import Final

from gitmem.chunking.grammar import (
    CONTAINER,
    LEAF,
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
from gitmem.chunking.node_names import from_pattern, plain_type, spoken_name, text_of, unquoted


def _extension(node: Node, data: bytes) -> str:
    """Return the extended type: `Int` for `extension (x: Int)`."""
    parameters = node.child_by_field_name("parameters")
    if parameters is None:
        return ""
    # The type follows the colon: `(x: Int)`.
    return plain_type(text_of(parameters, data).strip("()").rpartition(":")[2].strip())


_BLOCKS: Final = ("block", "indented_block")
_STRINGS: Final = ("string", "interpolated_string_expression")
_GROUPS: Final = frozenset("should must can when which that -".split())
_CASES: Final = frozenset(("in", "ignore"))


def _described_test(node: Node, data: bytes) -> Match | None:
    """Match `test("adds prices") { ... }` of ScalaTest and MUnit."""
    called, body = node.child_by_field_name("function"), node.child_by_field_name("arguments")
    if called is None or called.type != "call_expression" or body is None or body.type not in _BLOCKS:
        return None
    name, values = called.child_by_field_name("function"), called.child_by_field_name("arguments")
    first = values.named_children[0] if values is not None and values.named_child_count else None
    if name is None or first is None or first.type not in _STRINGS:
        return None
    word = text_of(name, data)
    return match_test(["test" if word == "property" else word], unquoted(text_of(first, data)), body)


def _sentence(node: Node, data: bytes) -> Match | None:
    """Match `"A cart" should { ... }` and `"A cart" should "be empty" in { ... }` of ScalaTest."""
    left, operator, body = (node.child_by_field_name(field) for field in ("left", "operator", "right"))
    if left is None or operator is None or body is None or body.type not in _BLOCKS:
        return None
    text, word = text_of(left, data), text_of(operator, data)
    name = spoken_name(text.replace('"', " ")) if '"' in text else ""
    if not name or word not in _GROUPS | _CASES:
        return None
    return Match(LEAF, "function", name, body) if word in _CASES else Match(CONTAINER, "namespace", name, body)


GRAMMARS: Final = {
    "scala": make_grammar(
        "scala",
        {
            "class_definition": container("class"),
            "object_definition": container("class"),
            "package_object": container("class"),
            "trait_definition": container("trait"),
            "enum_definition": container("enum"),
            "extension_definition": namespace("impl", _extension),
            "function_definition": leaf("function"),
            "function_declaration": mergeable("function"),
            "given_definition": mergeable("constant"),
            "val_definition": mergeable("constant", from_pattern("pattern")),
            "var_definition": mergeable("field", from_pattern("pattern")),
            "val_declaration": mergeable("field"),
            "var_declaration": mergeable("field"),
            "type_definition": mergeable("type"),
            "call_expression": dynamic(_described_test),
            "infix_expression": dynamic(_sentence),
        },
        transparent="template_body enum_body package_clause with_template_body enum_case_definitions",
        prefixes="annotation",
        bodies="block indented_block template_body",
        anonymous="instance_expression",
    )
}
