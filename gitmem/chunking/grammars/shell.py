"""Bash and its relatives."""

from typing import Final

from gitmem.chunking.grammar import leaf, make_grammar

GRAMMARS: Final = {
    "bash": make_grammar(
        "bash",
        {"function_definition": leaf("function")},
        transparent="if_statement else_clause",
        bodies="compound_statement",
    )
}
