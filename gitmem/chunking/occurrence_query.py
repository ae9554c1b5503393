"""Compile the patterns of a language into one query of the parser library. Only `parse` itself is as close to it."""

from collections.abc import Container, Iterator, Mapping
from functools import cache
from typing import Final

from gitmem.chunking.grammar import CONTAINER, LEAF, MERGEABLE, NAMESPACE, Grammar, Node
from gitmem.chunking.grammars import find_grammar
from gitmem.chunking.occurrence_patterns import PATTERNS, generic_patterns
from gitmem.chunking.parse import Query, capture, find_query, language_nodes

_UNITS: Final = (LEAF, CONTAINER, MERGEABLE, NAMESPACE)
_KINDS: Final = {
    "function": "function", "method": "function", "macro": "function",
    "class": "class", "interface": "class", "struct": "class", "enum": "class", "trait": "class", "type": "class",
    "module": "class", "namespace": "class",
    "property": "value", "field": "value", "constant": "value",
}  # fmt: skip
"""Kind of a definition by the chunk type of its unit. A block of methods (`impl`) defines no name of its own."""


def find_captures(language: str, root: Node, end: int) -> Mapping[str, list[Node]]:
    """Return the nodes of a tree that the patterns of a language capture, up to a byte, by kind of occurrence."""
    query = _query(language)
    return capture(query, root, end) if query is not None else {}


@cache
def _query(language: str) -> Query | None:
    """Return the compiled patterns of a language, None if there are none."""
    grammar = find_grammar(language)
    if grammar is None or grammar.merged_type:  # data formats and style sheets call nothing
        return None
    parser, node_types = grammar.parser, frozenset(language_nodes(grammar.parser))
    units = list(_unit_patterns(grammar, node_types))
    patterns = PATTERNS.get(language) or generic_patterns(node_types)
    for kind, source in patterns.items():
        units += [line.replace("@_", f"@{kind}") for line in _lines(source)]
    if not units:
        return None
    query = find_query(parser, "\n".join(units))
    if query is None:
        # Some unit has no field `name`. Each compilation analyses the grammar, so single patterns are tried only now.
        units = [pattern for pattern in units if find_query(parser, pattern) is not None]
        query = find_query(parser, "\n".join(units)) if units else None
    return query


def _lines(source: str) -> Iterator[str]:
    """Yield the single patterns of a text: each ends with a line on which its brackets are closed."""
    pattern = ""
    for line in source.split("\n"):
        pattern += line
        if pattern.count("(") == pattern.count(")"):
            yield pattern
            pattern = ""


def _unit_patterns(grammar: Grammar, node_types: Container[str]) -> Iterator[str]:
    """Yield a pattern for each definition that has its name in the field `name`."""
    for node_type, rule in grammar.table.items():
        kind = _KINDS.get(rule.chunk_type)
        if kind and rule.shape in _UNITS and rule.name is None and node_type in node_types:
            yield f"({node_type} name: (_) @{kind})"
