"""Names of C and C++ definitions that a macro hides from the parser.

The parser sees the text before the preprocessor. An attribute macro shifts the words of a declaration by one, so that a
keyword becomes the name: `LUA_API int (lua_error)(...)` declares `int`. A macro that defines a function looks like one:
`TEST(Ring, Rotates) {...}`. Both are recognised by names that the language does not allow or the projects do not use.
"""

import re
from typing import Final

from gitmem.chunking.grammar import Node
from gitmem.chunking.node_names import text_of

_RESERVED: Final = frozenset(
    "alignas auto bool break case catch char class const constexpr continue default delete do double else enum explicit"
    " export extern float for friend goto if inline int long mutable namespace new noexcept operator override private"
    " protected public register return short signed sizeof static struct switch template this throw try typedef"
    " typename union unsigned using virtual void volatile while".split()
)
"""Keywords of C++, most of them of C, too. A definition of that name is something else, or the parser went astray."""

_CAPITALS: Final = re.compile(r"[A-Z][A-Z0-9_]{2,}")
_NAMESPACE_MACRO: Final = re.compile(r"[A-Z0-9_]*(?:NAMESPACE|(?:^|_)NS)(?:_[A-Z0-9_]*)?")

_TYPE: Final = re.compile(rb"\b(class|struct|union|enum|namespace)\s+(?:[A-Z][A-Z0-9_]*(?:\([^()]*\))?\s+)*([\w:]+)")
_PARENTHESISED: Final = re.compile(rb"\(\s*\**\s*(\w+)\s*\)\s*\(")
_NUMBERED: Final = re.compile(rb"\b\w+\s*\(\s*\d[\d,\s]*\)[\s*]*(\w+)\s*\(")
"""An attribute with numbers, and the function behind it: `printflike(1, 2) log_debug(`."""

_HEAD_BYTES: Final = 400
"""Bytes of a definition in which its name is looked for."""

_MAX_ARGUMENTS: Final = 4


def is_reserved(name: str) -> bool:
    """Return whether the own name of a symbol is a keyword."""
    return name.rpartition(".")[2] in _RESERVED


def hidden_type(node: Node, data: bytes) -> tuple[str, str]:
    """Return keyword and name of a type or namespace that was parsed as a function; ("", "") if it is none."""
    match = _TYPE.search(_head(node, data))
    return (match[1].decode(), match[2].decode("utf-8", "replace").replace("::", ".")) if match else ("", "")


def hidden_function(node: Node, data: bytes) -> str:
    """Return the name of a function that was parsed as a keyword, '' if there is none."""
    head = _head(node, data)
    match = _NUMBERED.search(head) or _PARENTHESISED.search(head)
    name = match[1].decode("utf-8", "replace") if match else ""
    return "" if name in _RESERVED else name


def unmasked(name: str, node: Node, data: bytes) -> str:
    """Return the name that a macro defines or follows, else the given one, by which the parser calls the definition."""
    if not _CAPITALS.fullmatch(name):
        return hidden_function(node, data) or name if _has_numbers(node) else name
    # `bool Ready() GUARDED_BY(mutex) {...}`: the parser takes the last declarator, and the first one for an error.
    for child in node.children:
        first = next((each for each in child.children if each.type == "function_declarator"), None)
        if child.type == "ERROR" and first is not None:
            return text_of(first.children[0], data)
    # Constructors have no return type either.
    if node.child_by_field_name("type") is not None or _is_constructor(name, node, data):
        return name
    arguments = _plain_arguments(node, data)
    return ".".join(arguments) if "TEST" in name and len(arguments) == 2 else next(iter(arguments), name)


def is_namespace_macro(name: str) -> bool:
    """Return whether a namespace is named by a macro: users never write that name."""
    return _NAMESPACE_MACRO.fullmatch(name) is not None


def _head(node: Node, data: bytes) -> bytes:
    """Return the start of a definition, up to its body."""
    return data[node.start_byte : min(node.end_byte, node.start_byte + _HEAD_BYTES)].partition(b"{")[0]


def _parameters(node: Node) -> Node | None:
    declarator = node.child_by_field_name("declarator")
    return declarator.child_by_field_name("parameters") if declarator is not None else None


def _has_numbers(node: Node) -> bool:
    """Return whether the parameters contain a syntax error with a number, as those of an attribute macro do."""
    parameters = _parameters(node)
    if parameters is None or not parameters.has_error:
        return False
    return any(each.type == "number_literal" for child in parameters.children[:4] for each in child.children[:2])


def _is_constructor(name: str, node: Node, data: bytes) -> bool:
    members = node.parent
    owner = members.parent if members is not None and members.type == "field_declaration_list" else None
    target = owner.child_by_field_name("name") if owner is not None else None
    return target is not None and text_of(target, data).partition("<")[0] == name


def _plain_arguments(node: Node, data: bytes) -> list[str]:
    """Return those of the first arguments that are names."""
    parameters = _parameters(node)
    children = parameters.named_children[:_MAX_ARGUMENTS] if parameters is not None else []
    types = [child.child_by_field_name("type") for child in children if child.named_child_count == 1]
    return [text_of(each, data) for each in types if each is not None and each.type == "type_identifier"]
