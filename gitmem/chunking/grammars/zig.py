"""Zig: types are values, so a struct is a constant with a container as value."""

from typing import Final

from gitmem.chunking.grammar import CONTAINER, LEAF, MERGEABLE, Match, Node, dynamic, make_grammar, mergeable
from gitmem.chunking.node_names import from_child, text_of, unquoted

_CHUNK_TYPES: Final = {"struct": "struct", "enum": "enum", "union": "struct", "opaque": "struct"}


def _declaration(node: Node, data: bytes) -> Match | None:
    inner = next((child for child in node.children if child.type in ("FnProto", "VarDecl")), None)
    if inner is None:
        return None
    if inner.type == "FnProto":
        target = inner.child_by_field_name("function")
        return Match(LEAF, "function", text_of(target, data) if target is not None else "", node)
    target = inner.child_by_field_name("variable_type_function")
    name = text_of(target, data) if target is not None else ""
    container = _container(inner)
    if container is None:
        return Match(MERGEABLE, "constant", name, inner)
    # The keyword is two levels below the container.
    word = next(
        (child.type for part in container.children for child in part.children if child.type in _CHUNK_TYPES), "struct"
    )
    return Match(CONTAINER, _CHUNK_TYPES[word], name, container)


def _test(node: Node, data: bytes) -> str:
    """Return the name of a test, which tells it from the function that it names (`test clap.help`)."""
    name = unquoted(from_child("STRINGLITERALSINGLE", "IDENTIFIER")(node, data))
    return f"test.{name}" if name else "test"


def _container(node: Node) -> Node | None:
    """Return the node of `struct {...}` to the right of the equals sign, inside up to four expression nodes."""
    for _ in range(4):
        node = next((c for c in reversed(node.children) if c.type in _STEPS), None)
        if node is None or node.type == "ContainerDecl":
            return node
    return None


_STEPS: Final = frozenset({"ErrorUnionExpr", "SuffixExpr", "ContainerDecl"})

GRAMMARS: Final = {
    "zig": make_grammar(
        "zig",
        {
            "Decl": dynamic(_declaration),
            "TestDecl": mergeable("function", _test),
            "ContainerField": mergeable("field", from_child("IDENTIFIER")),
        },
        comments="doc_comment container_doc_comment line_comment comment",
        prefixes="pub",
        bodies="Block",
    )
}
