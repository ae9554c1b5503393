"""Python and Starlark, which have the same syntax. In Starlark, a call with a `name` declares a target."""

from gitmem.chunking.grammar import MERGEABLE, Match, Node, container, dynamic, leaf, make_grammar, mergeable
from gitmem.chunking.node_names import from_field, name_of, text_of, unquoted


def _statement(node: Node, data: bytes) -> Match | None:
    """Match `NAME = value` and `NAME: type = value`."""
    inner = node.children[0] if node.type == "expression_statement" and node.child_count else node
    if inner.type != "assignment":
        return None
    left = inner.child_by_field_name("left")
    if left is None or left.type not in ("identifier", "attribute"):
        return None
    return Match(MERGEABLE, "constant", text_of(left, data), inner)


def _target(node: Node, data: bytes) -> Match | None:
    """Match `cc_library(name = "zlib", ...)` and assignments."""
    inner = node.children[0] if node.type == "expression_statement" and node.child_count else node
    arguments = inner.child_by_field_name("arguments") if inner.type == "call" else None
    for argument in arguments.named_children if arguments is not None else ():
        if argument.type == "keyword_argument" and name_of(argument, data) == "name":
            value = argument.child_by_field_name("value")
            is_plain = value is not None and value.type == "string"
            return Match(MERGEABLE, "function", unquoted(text_of(value, data)), inner) if is_plain else None
    return _statement(node, data)


_UNITS = {
    "function_definition": leaf("function"),
    "class_definition": container("class"),
    "type_alias_statement": mergeable("type", from_field("left")),
    "assignment": dynamic(_statement),
    "expression_statement": dynamic(_statement),
}
# Definitions inside `if TYPE_CHECKING:` or `try:` belong to the module or class around them.
_TRANSPARENT = (
    "block if_statement else_clause elif_clause try_statement except_clause finally_clause with_statement "
    "except_group_clause"
)
GRAMMARS = {
    name: make_grammar(name, units, transparent=_TRANSPARENT, wrappers="decorated_definition")
    for name, units in (("python", _UNITS), ("starlark", {**_UNITS, "expression_statement": dynamic(_target)}))
}
