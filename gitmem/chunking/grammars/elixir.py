"""Elixir: definitions are calls, recognised by their target: `def`, `defmodule` and so on."""

from typing import Final

from gitmem.chunking.grammar import CONTAINER, LEAF, MERGEABLE, PREFIX, TRANSPARENT, Match, Node, dynamic, make_grammar
from gitmem.chunking.node_names import text_of

_MODULES: Final = {"defmodule": "module", "defprotocol": "interface", "defimpl": "impl"}
_FUNCTIONS: Final = {"def": "function", "defp": "function", "defmacro": "macro", "defmacrop": "macro",
                     "defguard": "macro", "defguardp": "macro", "defdelegate": "function", "defn": "function",
                     "defnp": "function", "test": "function"}  # fmt: skip
_MARKS: Final = frozenset({"doc", "spec", "impl", "deprecated", "tag", "typedoc", "since"})
_TYPES: Final = frozenset({"type", "typep", "opaque", "callback", "macrocallback"})


def _call(node: Node, data: bytes) -> Match | None:
    target = node.child_by_field_name("target")
    if target is None or target.type != "identifier":
        return None
    word = text_of(target, data)
    if word in _MODULES:
        return Match(CONTAINER, _MODULES[word], _first(node, data), node)
    if word in _FUNCTIONS:
        return Match(LEAF, _FUNCTIONS[word], _head(node, data), node)
    # `describe` groups tests. The definitions in a `quote` are those of the code that it generates.
    if word in ("describe", "quote"):
        return Match(TRANSPARENT, "", "", node) if word == "describe" else None
    return Match(MERGEABLE, "struct", "", node) if word in ("defstruct", "schema") else None


def _arguments(node: Node) -> list[Node]:
    inner = next((child for child in node.children if child.type == "arguments"), None)
    return list(inner.named_children) if inner is not None else []


def _first(node: Node, data: bytes) -> str:
    arguments = _arguments(node)
    return text_of(arguments[0], data).strip('"') if arguments else ""


def _head(node: Node, data: bytes) -> str:
    """Return the name in the head of a definition: `send_resp` for `send_resp(conn, x) when is_map(x)`."""
    arguments = _arguments(node)
    head = arguments[0] if arguments else None
    for _ in range(4):
        if head is None:
            return ""
        if head.type == "binary_operator":
            sign = head.child_by_field_name("operator")
            # `a <~> b` defines the operator itself; a guard and a default value do not.
            if sign is not None and text_of(sign, data) not in ("when", "\\\\"):
                return text_of(sign, data)
            head = head.child_by_field_name("left")
        elif head.type == "call":
            head = head.child_by_field_name("target")
        else:
            return text_of(head, data).strip('"')
    return ""


def _attribute(node: Node, data: bytes) -> Match | None:
    """Match module attributes: `@doc` belongs to the next function, `@type` and `@limit 10` are units."""
    inner = node.child_by_field_name("operand")
    target = inner.child_by_field_name("target") if inner is not None and inner.type == "call" else inner
    word = text_of(target, data) if target is not None else ""
    if word in _MARKS:
        return Match(PREFIX, "", "", node)
    if word in _TYPES:
        return Match(MERGEABLE, "type", _type_name(inner, data), node)
    return Match(MERGEABLE, "constant", word, node) if word not in ("moduledoc", "behaviour") else None


def _type_name(call: Node, data: bytes) -> str:
    arguments = _arguments(call)
    return text_of(arguments[0], data).partition("::")[0].partition("(")[0].strip() if arguments else ""


GRAMMARS: Final = {
    "elixir": make_grammar(
        "elixir",
        {"call": dynamic(_call), "unary_operator": dynamic(_attribute)},
        transparent="do_block",
        joins="call",
        bodies="do_block",
        methods=False,
    )
}
