"""Find the nodes that the patterns of a language capture: by a walk for a few files, by a compiled query for more."""

from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from itertools import chain
from typing import Final

from gitmem.chunking.grammar import CONTAINER, LEAF, MERGEABLE, NAMESPACE, Grammar, Node
from gitmem.chunking.grammars import find_grammar
from gitmem.chunking.occurrence_patterns import PATTERNS, generic_patterns
from gitmem.chunking.occurrence_walk import RepeatedFieldError, Table, find_by_walk, parse_patterns
from gitmem.chunking.parse import Query, capture, find_query, find_usable_query, language_nodes
from gitmem.chunking.pattern_merge import merge_patterns
from gitmem.chunking.reference_patterns import DEFINITIONS, REFERENCES
from gitmem.types import NOTEBOOK_LANGUAGE

_UNITS: Final = (LEAF, CONTAINER, MERGEABLE, NAMESPACE)
KIND_OF_UNIT: Final = {
    "function": "function", "method": "function", "macro": "function",
    "class": "class", "interface": "class", "struct": "class", "enum": "class", "trait": "class", "type": "class",
    "module": "class", "namespace": "class",
    "property": "value", "field": "value", "constant": "value",
}  # fmt: skip
"""Kind of a definition by the chunk type of its unit. A block of methods (`impl`) defines no name of its own."""


_WALKED_BYTES: Final = 1 << 16
"""Bytes of a language that a process walks before it compiles the patterns. For most languages the walk of 100 to 400
KB costs as much as compiling does, so whichever comes first wastes little (the ski rental problem)."""

_walked: Counter[str] = Counter()
"""Bytes walked so far by language. A count decides only how names are found, never which."""


def find_captures(language: str, root: Node, end: int) -> Mapping[str, list[Node]]:
    """Return the nodes of a tree that the patterns of a language capture, up to a byte, by kind of occurrence."""
    is_whole = end >= root.end_byte
    if is_whole and _walked[language] + end <= _WALKED_BYTES:
        _walked[language] += end
        with suppress(RepeatedFieldError):
            return find_by_walk(_table(language), root)
    query = _query(language)
    if query is None:
        return {}
    captures, complete = capture(query, root, end)
    if not complete and is_whole:
        # The library gave up matches of nested code. A file must not depend on the files before it, hence the walk.
        with suppress(RepeatedFieldError):
            return find_by_walk(_table(language), root)
    return captures


def has_names(language: str) -> bool:
    """Return whether files of a language define and mention names. Data formats and style sheets do not."""
    grammar = find_grammar(language)
    named = grammar is not None and (not grammar.merged_type or language in REFERENCES)
    return named or language == NOTEBOOK_LANGUAGE


def load_patterns(language: str) -> None:
    """Compile the patterns of a language, for a process and its copies that will see many of its files."""
    _walked[language] = _WALKED_BYTES
    _query(language)


_NAME_NODES: Final = {("swift", "function"): "simple_identifier", ("swift", "class"): "type_identifier"}
"""Nodes that name a definition, by grammar and kind. In that of Swift, other types are in the field `name` as well."""


_UNNAMED: Final = frozenset({
    ("d", "unittest_declaration"), ("dart", "type_alias"), ("haskell", "foreign_import"),
    ("haskell", "pattern_synonym"), ("objc", "property_declaration"),
})  # fmt: skip
"""Units without a field `name`, by grammar. One pattern that cannot occur makes compiling all others thrice as long."""


@cache
def _patterns(language: str) -> Sequence[str]:
    """Return the patterns of a language, each with the kind of its occurrences."""
    grammar = find_grammar(language)
    if grammar is None or grammar.lines is not None or not has_names(language):
        return ()
    node_types = frozenset(language_nodes(grammar.parser))
    patterns = list(_unit_patterns(grammar, node_types))
    sources = PATTERNS.get(language) or REFERENCES.get(language) or generic_patterns(node_types)
    for kind, source in chain(sources.items(), DEFINITIONS.get(language, {}).items()):
        patterns += [line.replace("@_", f"@{kind}") for line in _lines(source)]
    return patterns


@cache
def _table(language: str) -> Table:
    """Return the patterns of a language for a walk."""
    return parse_patterns(_patterns(language))


@cache
def _query(language: str) -> Query | None:
    """Return the compiled patterns of a language, None if there are none."""
    grammar, patterns = find_grammar(language), _patterns(language)
    if grammar is None or not patterns:
        return None
    merged = merge_patterns(step for steps in _table(language).values() for step in steps)
    # In a few grammars some unit has no field `name`. Its pattern alone is left out.
    return find_query(grammar.parser, merged) or find_usable_query(grammar.parser, patterns)


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
        kind = KIND_OF_UNIT.get(rule.chunk_type)
        is_named = rule.name is None and (grammar.parser, node_type) not in _UNNAMED
        if kind and rule.shape in _UNITS and is_named and node_type in node_types:
            name = _NAME_NODES.get((grammar.parser, kind), "_")
            yield f"({node_type} name: ({name}) @{kind})"
