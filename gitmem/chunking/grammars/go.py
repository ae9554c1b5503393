"""Go: the type of its receiver qualifies the name of a method."""

from typing import Final

from gitmem.chunking.grammar import LEAF, MERGEABLE, TRANSPARENT, Match, Node, dynamic, leaf, make_grammar, mergeable
from gitmem.chunking.node_names import name_of, plain_type, text_of

_VALUE_SPECS: Final = ("const_spec", "var_spec")
_CHUNK_TYPES: Final = {"struct_type": "struct", "interface_type": "interface"}


def _method(node: Node, data: bytes) -> str:
    receiver = node.child_by_field_name("receiver")
    own = next((child for child in receiver.children if child.type == "parameter_declaration"), None)
    type_node = own.child_by_field_name("type") if own is not None else None
    # `func (s *Server) Run()`: the method belongs to `Server`.
    owner = plain_type(text_of(type_node, data).strip("()")) if type_node is not None else ""
    name = name_of(node, data)
    return f"{owner}.{name}" if owner else name


def _spec(node: Node, data: bytes) -> Match:
    type_node = node.child_by_field_name("type")
    chunk_type = _CHUNK_TYPES.get(type_node.type if type_node is not None else "", "type")
    return Match(MERGEABLE if chunk_type == "type" else LEAF, chunk_type, name_of(node, data), node)


def _types(node: Node, data: bytes) -> Match | None:
    """Match `type X struct` as one unit. A group of types is transparent."""
    specs = [child for child in node.children if child.type in ("type_spec", "type_alias")]
    if len(specs) == 1:
        return _spec(specs[0], data)
    return Match(TRANSPARENT, "", "", node)


def _values(node: Node, data: bytes) -> Match | None:
    """Match `const x = 1` as one unit. A group is transparent, so that each of its names is one."""
    inner = next((child for child in node.children if child.type == "var_spec_list"), node)
    specs = [child for child in inner.children if child.type in _VALUE_SPECS]
    if len(specs) == 1:
        return Match(MERGEABLE, "constant", _names(specs[0], data), specs[0])
    return Match(TRANSPARENT, "", "", node)


def _names(spec: Node, data: bytes) -> str:
    """Return the names of `a, b = 1, 2`."""
    names = (text_of(child, data) for child in spec.children_by_field_name("name") if child.is_named)
    return ", ".join(name for name in names if name != "_")


GRAMMARS: Final = {
    "go": make_grammar(
        "go",
        {
            "function_declaration": leaf("function"),
            "method_declaration": leaf("method", _method),
            "type_declaration": dynamic(_types),
            "type_spec": dynamic(_spec),
            "type_alias": mergeable("type"),
            "const_declaration": dynamic(_values),
            "var_declaration": dynamic(_values),
            "const_spec": mergeable("constant", _names),
            "var_spec": mergeable("constant", _names),
        },
        transparent="var_spec_list",
        methods=False,
    )
}
