"""Functions that read the name of a syntax node, shared by the tables."""

import re
from typing import Final

from gitmem.chunking.grammar import Namer, Node

_MAX_NAME: Final = 200
"""Length of a name, in characters. The names of tests may be sentences."""

_LONGEST_SENTENCE: Final = 60
_NO_NAME: Final = re.compile(r"\$?\{.*?\}+|#\{.*?\}|, | > |[\"`\\\x00-\x1f]")
"""Interpolations, and characters that would end a name or a symbol."""

_VARIABLE: Final = re.compile(r"(?<![\w.])[a-z]\w*(?![\w(])")
_SPACE: Final = re.compile(r"\s+")
_NAME_TYPES: Final = frozenset(
    "identifier type_identifier simple_identifier constant name property_identifier field_identifier word variable_name"
    " string symbol object_reference tag_name bare_key dotted_key string_lit IDENTIFIER".split()
)
"""Node types that are names in one grammar or another."""


def text_of(node: Node, data: bytes) -> str:
    """Return the node's own text on one line, of limited length; that of a name in backticks without these."""
    # A character has at most four bytes in UTF-8. Reading more of a long node would be wasted.
    raw = data[node.start_byte : min(node.end_byte, node.start_byte + 4 * _MAX_NAME)]
    text = raw.decode("utf-8", "replace")
    if text.isidentifier():
        return text[:_MAX_NAME]
    text = _SPACE.sub(" ", text).strip()
    # Swift, Kotlin and Scala quote keywords and sentences that are used as names.
    quoted = len(text) > 2 and text.startswith("`") and text.find("`", 1) == len(text) - 1
    return (text[1:-1] if quoted else text)[:_MAX_NAME]


def name_of(node: Node, data: bytes) -> str:
    """Return the text of the `name` field or of the first child whose type is that of a name, '' without either."""
    target = node.child_by_field_name("name")
    if target is None:
        target = next((child for child in node.children if child.type in _NAME_TYPES), None)
    if target is None:
        return ""
    text = text_of(target, data)
    return unquoted(text) if target.type == "string" else text


def from_field(*path: str) -> Namer:
    """Return a namer that follows fields inwards and reads the text of the last."""

    def read(node: Node, data: bytes) -> str:
        for field in path:
            node = node.child_by_field_name(field)
            if node is None:
                return ""
        return text_of(node, data)

    return read


def from_child(*types: str) -> Namer:
    """Return a namer that reads the first child of one of the node types."""
    name_types = frozenset(types)

    def read(node: Node, data: bytes) -> str:
        target = next((child for child in node.children if child.type in name_types), None)
        return text_of(target, data) if target is not None else ""

    return read


def from_path(*path: str) -> Namer:
    """Return a namer that follows the first child of each of some node types inwards and reads the last."""

    def read(node: Node, data: bytes) -> str:
        for node_type in path:
            inner = next((child for child in node.children if child.type == node_type), None)
            if inner is None:
                return ""
            node = inner
        return text_of(node, data)

    return read


def from_items(item: str, *, field: str = "name", limit: int = 12) -> Namer:
    """Return a namer for statements with several names (`const (a = 1; b = 2)`), joined by commas.

    It reads the `field` of each child of type `item`, or else the first node inside that child.
    """

    def read(node: Node, data: bytes) -> str:
        names = []
        for child in node.children:
            if child.type == item:
                target = child.child_by_field_name(field) or (child.children[0] if child.children else child)
                names.append(text_of(target, data))
                if len(names) == limit:
                    break
        return ", ".join(names)

    return read


def from_pattern(field: str) -> Namer:
    """Return a namer that reads the variables in the pattern of a field, joined by commas: `a, b` for `(a, b)`."""
    read = from_field(field)

    def read_variables(node: Node, data: bytes) -> str:
        text = read(node, data)
        return ", ".join(_VARIABLE.findall(text)) if "(" in text else text

    return read_variables


def fixed(name: str) -> Namer:
    """Return a namer for nodes that do not contain their name: `init`, `deinit`."""
    return lambda _node, _data: name


def plain_type(text: str) -> str:
    """Return the bare name of a type: `Foo` for `&'a mut Foo<T>`."""
    return re.split(r"[<\[({ ]", re.sub(r"^(?:&|\*|'\w+|mut\b|dyn\b|const\b|\s)+", "", text), maxsplit=1)[0]


def key_of(node: Node, data: bytes) -> str:
    """Return the text of the `key` field without quotes, '' without one."""
    target = node.child_by_field_name("key")
    return unquoted(text_of(target, data)) if target is not None else ""


def spoken_name(text: str) -> str:
    """Return a text in words as a part of a symbol: the first 60 characters, without interpolations."""
    name = " ".join(_NO_NAME.sub(" ", text).split())
    if len(name) > _LONGEST_SENTENCE:
        name = name[: _LONGEST_SENTENCE + 1].rpartition(" ")[0] or name[:_LONGEST_SENTENCE]
    return name.strip(" .")


def unquoted(text: str) -> str:
    """Return a string literal without its quotes."""
    return text.strip("\"'`")
