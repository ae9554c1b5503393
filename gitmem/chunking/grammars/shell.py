"""Bash and its relatives: functions, also those defined inside `if`."""

from typing import Final

from gitmem.chunking.grammar import leaf, make_grammar

GRAMMARS: Final = {
    "bash": make_grammar(
        "bash",
        {"function_definition": leaf("function")},
        # Functions are often defined only if a program exists.
        transparent="if_statement else_clause",
        bodies="compound_statement",
    )
}
