"""Ruby: nested classes and modules, `private def`, and constants built with a block."""

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
from gitmem.chunking.grammars.described_tests import match_test
from gitmem.chunking.node_names import from_field, name_of, text_of, unquoted


def _scoped(node: Node, data: bytes) -> str:
    return name_of(node, data).replace("::", ".")


def _call(node: Node, data: bytes) -> Match | None:
    """Match `private def x` as the method, and tests (`it "signs cookies" do`). Other calls are loose text."""
    arguments = node.child_by_field_name("arguments")
    body, called = node.child_by_field_name("block"), node.child_by_field_name("method")
    if body is not None:
        if called is None or arguments is None or not arguments.named_child_count:
            return None
        name = unquoted(text_of(arguments.named_children[0], data)).replace("::", ".")
        return match_test([text_of(called, data)], name, body)
    # `private` is a method call with the definition as its argument.
    if arguments is not None and arguments.named_child_count == 1:
        inner = arguments.named_children[0]
        if inner.type in ("method", "singleton_method"):
            return Match(LEAF, "function", name_of(inner, data), inner)
    return None


def _constant(node: Node, data: bytes) -> Match | None:
    """Match `X = Struct.new do ... end` as a class, other constants as such."""
    left = node.child_by_field_name("left")
    if left is None or left.type != "constant":
        return None
    right = node.child_by_field_name("right")
    name = text_of(left, data)
    if right is not None and right.type == "call" and right.child_by_field_name("block") is not None:
        return Match(CONTAINER, "class", name, right)
    return Match(MERGEABLE, "constant", name, node)


GRAMMARS: Final = {
    "ruby": make_grammar(
        "ruby",
        {
            "module": container("module", _scoped),
            "class": container("class", _scoped),
            "method": leaf("function"),
            "singleton_method": leaf("function"),
            "alias": mergeable("function", from_field("name")),
            "call": dynamic(_call),
            "assignment": dynamic(_constant),
        },
        transparent="body_statement singleton_class begin if unless then else elsif",
        bodies="body_statement do_block block",
    )
}
