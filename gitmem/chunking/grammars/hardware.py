"""Verilog, SystemVerilog and VHDL: modules, entities, classes, functions and tasks."""

from typing import Final

from gitmem.chunking.grammar import (
    LEAF,
    Match,
    Node,
    container,
    dynamic,
    leaf,
    make_grammar,
    mergeable,
    namespace,
)
from gitmem.chunking.grammars.line_grammar import make_line_grammar
from gitmem.chunking.node_names import from_child, from_field, from_path, text_of


def _process(node: Node, data: bytes) -> Match | None:
    """Match a process with a label, which is its name."""
    label = next((child for child in node.named_children if child.type == "label"), None)
    return Match(LEAF, "function", text_of(label, data).rstrip(" :"), node) if label is not None else None


_QUALIFIERS: Final = r"(?:(?:virtual|static|protected|local|automatic|context|export)\s+)*"
_RESULT: Final = r"(?:[\w$:#(),.'\[\] \t*+/-]{0,200}?[\s\]])?"
_MODULES: Final = r"macromodule|module|program|package"

GRAMMARS: Final = {
    # Read by lines: the parser finds errors in most files of SystemVerilog, and one type of another package
    # among the ports hides the whole module. Blocks end by their words alone: a `);` at the margin ends the ports.
    "verilog": make_line_grammar(
        r"//|/\*|\*",
        ("module", rf"(?:{_MODULES})\s+(?:(?:automatic|static)\s+)?(?P<name>\w+)"),
        ("interface", r"interface\s+(?:(?:class|automatic|static)\s+)?(?P<name>\w+)"),
        ("class", r"(?:virtual\s+)?class\s+(?:(?:automatic|static)\s+)?(?P<name>\w+)"),
        ("function", rf"{_QUALIFIERS}(?:function|task)\s+{_RESULT}(?:\w+::)?(?P<name>\w+)\s*(?:\(|;|$)"),
        ("constant", r"`define\s+(?P<name>\w+)"),
        ("constant", r"typedef\s+(?!class\b)[^;{]{0,200}?\b(?P<name>\w+)\s*(?:\[[^\]\n]*\]\s*)*;"),
        ("constant", r"\}\s*(?P<name>\w+)\s*;"),
        closing=r"end(?:module|package|class|interface|function|task|program)\b",
        parts=rf"(?!(?:{_MODULES}|interface|(?:virtual\s+)?class|typedef)\b|`define\b|\}}\s*\w+\s*;"
        rf"|{_QUALIFIERS}(?:function|task)\b).",
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
