"""Pascal and Ada: a type declares its members, and a body elsewhere defines them."""

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
    namespace,
)
from gitmem.chunking.node_names import from_field, name_of, text_of

_KEYWORDS: Final = {"kRecord": "struct", "kObject": "class", "kClass": "class", "kInterface": "interface"}
_MEMBERS: Final = frozenset({"declClass", "declIntf", "declHelper"})
_name_in_header: Final = from_field("header", "name")


def _pascal_type(node: Node, data: bytes) -> Match | None:
    inner = node.child_by_field_name("type")
    name = name_of(node, data)
    if inner is not None and inner.type in _MEMBERS and inner.named_child_count == 1:
        return None  # `TCart = class;` only announces the type
    if inner is None or inner.type not in _MEMBERS:
        is_enum = inner is not None and any(child.type == "declEnum" for child in inner.named_children)
        return Match(MERGEABLE, "enum" if is_enum else "type", name, node)
    kind = next((_KEYWORDS[child.type] for child in inner.named_children if child.type in _KEYWORDS), "class")
    return Match(CONTAINER, kind, name, node)


def _pascal_body(node: Node, data: bytes) -> Match:
    name = _name_in_header(node, data)
    return Match(LEAF, "method" if "." in name else "function", name, node)


def _pascal_declaration(node: Node, data: bytes) -> Match | None:
    """Match a method of an interface, which nothing else defines. Others are declarations of what has a body."""
    around = node.parent
    return (
        Match(LEAF, "method", name_of(node, data), node) if around is not None and around.type == "declIntf" else None
    )


def _first_identifier(node: Node, data: bytes) -> str:
    """Return the first name in a declaration, which may be one level below: `task type Worker`."""
    for inner in (node, *node.named_children[:1]):
        name = next((child for child in inner.named_children if child.type == "identifier"), None)
        if name is not None:
            return text_of(name, data)
    return ""


def _specified_name(node: Node, data: bytes) -> str:
    """Return the name in the specification with which a subprogram begins."""
    head = next((child for child in node.named_children if child.type.endswith("_specification")), None)
    return name_of(head, data) if head is not None else ""


GRAMMARS: Final = {
    "pascal": make_grammar(
        "pascal",
        {
            "declType": dynamic(_pascal_type),
            "defProc": dynamic(_pascal_body),
            "declProc": dynamic(_pascal_declaration),
            # Named here, so that only those outside of functions are definitions.
            "declConst": mergeable("constant", name_of),
            "declVar": mergeable("constant", name_of),
        },
        transparent="root unit program library interface implementation declTypes declConsts declVars declClass"
        " declIntf declHelper declSection",
    ),
    "ada": make_grammar(
        "ada",
        {
            "package_declaration": namespace("module"),
            "package_body": namespace("impl"),  # the specification defines the name
            "subprogram_body": leaf("function", _specified_name),
            "subprogram_declaration": leaf("function", _specified_name),
            "expression_function_declaration": leaf("function", _specified_name),
            "null_procedure_declaration": leaf("function", _specified_name),
            "subprogram_renaming_declaration": mergeable("function", _specified_name),
            "full_type_declaration": mergeable("type", _first_identifier),
            "private_type_declaration": mergeable("type", _first_identifier),
            "private_extension_declaration": mergeable("type", _first_identifier),
            "subtype_declaration": mergeable("type", _first_identifier),
            "protected_body": container("class", _first_identifier),
            "task_body": leaf("class", _first_identifier),
            "exception_declaration": mergeable("constant", _first_identifier),
            "object_declaration": mergeable("constant", name_of),
            "number_declaration": mergeable("constant", _first_identifier),
            "generic_instantiation": mergeable("module"),
        },
        transparent="compilation compilation_unit non_empty_declarative_part generic_package_declaration"
        " generic_subprogram_declaration",
        methods=False,
    ),
}
