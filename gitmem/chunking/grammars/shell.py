"""Bash and its relatives: functions, also those defined inside `if`, and tests of Bats."""

from typing import Final

from gitmem.chunking.described_heads import read_description
from gitmem.chunking.grammar import Node, leaf, make_grammar
from gitmem.chunking.node_names import name_of, spoken_name


def _name(node: Node, data: bytes) -> str:
    """Return the name of a function, or the description of a test of Bats."""
    target = node.child_by_field_name("name")
    description = read_description(target, data) if target is not None else ""
    return spoken_name(description) or name_of(node, data)


GRAMMARS: Final = {
    "bash": make_grammar(
        "bash",
        {"function_definition": leaf("function", _name)},
        # Functions are often defined only if a program exists.
        transparent="if_statement else_clause",
        bodies="compound_statement",
    )
}
