"""Ways to read the name of a syntax node, shared by the tables."""

import re
from typing import Final

from gitmem.chunking.grammar import Namer, Node

_MAX_NAME: Final = 120
_SPACE: Final = re.compile(r"\s+")
_NAME_TYPES: Final = frozenset(
    [
        "identifier",
        "type_identifier",
        "simple_identifier",
        "constant",
        "name",
        "property_identifier",
        "field_identifier",
        "word",
        "variable_name",
        "string",
        "symbol",
        "object_reference",
        "tag_name",
        "bare_key",
        "dotted_key",
        "string_lit",
        "IDENTIFIER",
    ]
)


def text_of(node: Node, data: bytes) -> str:
    """The node's own text on one line, bounded."""
    raw = data[node.start_byte : min(node.end_byte, node.start_byte + 4 * _MAX_NAME)]
    text = raw.decode("utf-8", "replace")
    return (_SPACE.sub(" ", text).strip() if not text.isidentifier() else text)[:_MAX_NAME]


def named(node: Node, data: bytes) -> str:
    """The `name` field, or the first child that looks like a name."""
    found = node.child_by_field_name("name")
    if found is None:
        found = next((child for child in node.children if child.type in _NAME_TYPES), None)
    return text_of(found, data) if found is not None else ""


def from_field(*path: str) -> Namer:
    """Follow fields inwards and take the text of the last."""

    def read(node: Node, data: bytes) -> str:
        for field in path:
            node = node.child_by_field_name(field)
            if node is None:
                return ""
        return text_of(node, data)

    return read


def from_child(*types: str) -> Namer:
    """The text of the first child of one of these types."""
    wanted = frozenset(types)

    def read(node: Node, data: bytes) -> str:
        found = next((child for child in node.children if child.type in wanted), None)
        return text_of(found, data) if found is not None else ""

    return read


def from_items(item: str, *, field: str = "name", limit: int = 12) -> Namer:
    """Several names of one statement (`const (a = 1; b = 2)`), joined by commas."""

    def read(node: Node, data: bytes) -> str:
        found = []
        for child in node.children:
            if child.type == item:
                target = child.child_by_field_name(field) or (child.children[0] if child.children else child)
                found.append(text_of(target, data))
                if len(found) == limit:
                    break
        return ", ".join(found)

    return read


def fixed(name: str) -> Namer:
    """A name that the node does not write: `init`, `deinit`."""
    return lambda _node, _data: name


def plain_type(text: str) -> str:
    """`&'a mut Foo<T>` to `Foo`: a type's bare name."""
    return re.split(r"[<\[({ ]", re.sub(r"^(?:&|\*|'\w+|mut\b|dyn\b|const\b|\s)+", "", text), maxsplit=1)[0]


def unquoted(text: str) -> str:
    """A string literal without its quotes."""
    return text.strip("\"'`")
