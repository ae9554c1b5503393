"""QML, in which a file is a component: objects in objects, with properties, signals and functions."""

import re
from typing import Final

from gitmem.chunking.grammar import (
    CONTAINER,
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
from gitmem.chunking.node_names import text_of

_ID: Final = re.compile(rb"(?:[{;]|\n)[ \t]*id[ \t]*:[ \t]*(\w+)")
_NAMED: Final = re.compile(rb"\bid[ \t]*:|\b(?:function|signal|property|component)[ \t]")
"""What begins the members of an object that have names."""

_FUNCTION: Final = re.compile(rb"\bfunction[ \t]")
_HANDLER: Final = re.compile(rb"(?:[\w.]+\.)?on[A-Z]\w*")


def _object(node: Node, data: bytes) -> Match | None:
    """Match an object with an id as a member, the parts of others in their place. The root is the component itself."""
    start, end = node.start_byte, node.end_byte
    # The id of the root names the component in its own file alone.
    is_root = node.parent is not None and node.parent.type in ("program", "ui_annotated_object")
    name = "" if is_root else _own_id(node, data)
    if name:
        # Most objects with an id are a few lines, which are merged with their neighbours.
        shape = CONTAINER if _FUNCTION.search(data, start, end) else MERGEABLE
        return Match(shape, "property", name, node)
    return Match(TRANSPARENT, "", "", node) if is_root or _NAMED.search(data, start, end) else None


def _own_id(node: Node, data: bytes) -> str:
    """Return the id of an object, '' if only objects in it have one."""
    body = node.child_by_field_name("initializer")
    for child in body.named_children if body is not None else ():
        if child.type == "ui_binding" and data.startswith(b"id", child.start_byte):
            match = _ID.match(b"\n" + data[child.start_byte : child.end_byte])
            return match[1].decode("utf-8", "replace") if match else ""
    return ""


def _binding(node: Node, data: bytes) -> Match | None:
    """Match the handler of a signal, `onClicked: ...`, as a function; look for members in other values."""
    target = node.child_by_field_name("name")
    name = text_of(target, data) if target is not None else ""
    if _HANDLER.fullmatch(name.encode()):
        return Match(MERGEABLE, "function", name.rpartition(".")[2], node)
    return Match(TRANSPARENT, "", "", node) if _NAMED.search(data, node.start_byte, node.end_byte) else None


GRAMMARS: Final = {
    "qmljs": make_grammar(
        "qmljs",
        {
            "ui_object_definition": dynamic(_object),
            "ui_object_definition_binding": dynamic(_object),
            "ui_binding": dynamic(_binding),
            "ui_property": mergeable("property"),
            "ui_signal": mergeable("function"),
            "ui_inline_component": container("class"),
            "function_declaration": leaf("function"),
            "enum_declaration": leaf("enum"),
        },
        transparent="ui_object_initializer ui_annotated_object ui_annotated_object_member ui_object_array",
        bodies="statement_block ui_object_initializer",
    )
}
