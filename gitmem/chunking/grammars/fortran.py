"""Fortran: a unit has its name in its first statement."""

from typing import Final

from gitmem.chunking.grammar import Node, container, leaf, make_grammar, namespace
from gitmem.chunking.node_names import text_of

_NAMES: Final = frozenset({"name", "type_name"})


def _stated_name(node: Node, data: bytes) -> str:
    """Return the name in the statement with which a unit begins."""
    statement = next((child for child in node.named_children if child.type.endswith("_statement")), None)
    names = [child for child in statement.named_children if child.type in _NAMES] if statement is not None else []
    return text_of(names[0], data) if names else ""


GRAMMARS: Final = {
    "fortran": make_grammar(
        "fortran",
        {
            "module": namespace("module", _stated_name),
            "submodule": namespace("module", _stated_name),
            "program": namespace("module", _stated_name),
            "function": leaf("function", _stated_name),
            "subroutine": leaf("function", _stated_name),
            "module_procedure": leaf("function", _stated_name),
            "derived_type_definition": container("struct", _stated_name),
        },
        transparent="translation_unit internal_procedures preproc_if preproc_ifdef",
    )
}
