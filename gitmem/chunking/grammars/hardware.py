"""Verilog, SystemVerilog and VHDL: modules, entities, classes, functions and tasks."""

from functools import partial
from typing import Final

from gitmem.chunking.grammar import (
    LEAF,
    Match,
    Namer,
    Node,
    container,
    dynamic,
    leaf,
    make_grammar,
    mergeable,
    namespace,
)
from gitmem.chunking.node_names import fixed, from_child, from_field, from_path, text_of

_MAX_NODES: Final = 60
"""Nodes in which a name is looked for: the type that a function returns may stand before it."""


def _name_of_type(node: Node, data: bytes, *, name_type: str) -> str:
    todo = list(reversed(node.named_children))
    for _ in range(_MAX_NODES):
        if not todo:
            break
        inner = todo.pop()
        if inner.type == name_type:
            return text_of(inner, data)
        todo += reversed(inner.named_children)
    return ""


def _named(name_type: str) -> Namer:
    """Return the function that finds the first node of a type below a unit."""
    return partial(_name_of_type, name_type=name_type)


def _process(node: Node, data: bytes) -> Match | None:
    """Match a process with a label, which is its name."""
    label = next((child for child in node.named_children if child.type == "label"), None)
    return Match(LEAF, "function", text_of(label, data).rstrip(" :"), node) if label is not None else None


GRAMMARS: Final = {
    "verilog": make_grammar(
        "verilog",
        {
            "module_declaration": namespace("module", _named("simple_identifier")),
            "program_declaration": namespace("module", _named("simple_identifier")),
            "package_declaration": namespace("module", _named("package_identifier")),
            "interface_declaration": container("interface", _named("interface_identifier")),
            "class_declaration": container("class", _named("class_identifier")),
            "interface_class_declaration": container("interface", _named("class_identifier")),
            "function_declaration": leaf("function", _named("function_identifier")),
            "task_declaration": leaf("function", _named("task_identifier")),
            "class_constructor_declaration": leaf("function", fixed("new")),
            "type_declaration": mergeable("type", _named("type_identifier")),
            "text_macro_definition": mergeable("macro", _named("text_macro_identifier")),
        },
        transparent="source_file description package_item package_or_generate_item_declaration module_or_generate_item"
        " module_or_generate_item_declaration non_port_module_item interface_or_generate_item interface_item class_item"
        " class_method generate_region generate_block program_item",
        comments="comment",
    ),
    "vhdl": make_grammar(
        "vhdl",
        {
            "entity_declaration": leaf("class", from_child("identifier")),
            # An architecture has a name of its own, but everything speaks of its entity.
            "architecture_body": container("impl", from_field("entity")),
            "package_declaration": namespace("module", from_child("identifier")),
            "package_body": namespace("impl", from_field("package")),
            "function_body": leaf("function", from_field("designator")),
            "procedure_body": leaf("function", from_field("designator")),
            "function_declaration": mergeable("function", from_child("identifier")),
            "procedure_declaration": mergeable("function", from_child("identifier")),
            "process_statement": dynamic(_process),
            "full_type_declaration": mergeable("type", from_child("identifier")),
            "subtype_declaration": mergeable("type", from_child("identifier")),
            "constant_declaration": mergeable("constant", from_path("identifier_list", "identifier")),
        },
        transparent="design_file design_unit declarative_part concurrent_statement_part",
        comments="comment",
        methods=False,
    ),
}
