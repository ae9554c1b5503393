"""Python and Starlark, which have the same syntax."""

from gitmem.chunking.grammar import MERGEABLE, Match, Node, container, dynamic, leaf, make_grammar, mergeable
from gitmem.chunking.node_names import from_field, text_of


def _statement(node: Node, data: bytes) -> Match | None:
    """Match `NAME = value` and `NAME: type = value`."""
    inner = node.children[0] if node.type == "expression_statement" and node.child_count else node
    if inner.type != "assignment":
        return None
    left = inner.child_by_field_name("left")
    if left is None or left.type not in ("identifier", "attribute"):
        return None
    return Match(MERGEABLE, "constant", text_of(left, data), inner)


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
    name: make_grammar(name, _UNITS, transparent=_TRANSPARENT, wrappers="decorated_definition")
    for name in ("python", "starlark")
}
