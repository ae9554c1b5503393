"""Merged patterns capture the same nodes as each pattern by itself, and patterns that a grammar lacks are left out."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from gitmem.chunking.grammar import Node
from gitmem.chunking.grammars import find_grammar
from gitmem.chunking.languages import language_of
from gitmem.chunking.occurrence_patterns import PATTERNS
from gitmem.chunking.occurrence_walk import parse_patterns
from gitmem.chunking.parse import capture, find_query, find_usable_query, parse_tree
from gitmem.chunking.pattern_merge import merge_patterns
from tests.chunking.test_samples import EXPECTED, SAMPLES


def merge(*patterns: str) -> list[str]:
    """Return merged patterns as lines."""
    return merge_patterns(step for steps in parse_patterns(patterns).values() for step in steps).split("\n")


def ids(captures: Mapping[str, Sequence[Node]]) -> dict[str, list[int]]:
    return {kind: sorted(node.id for node in nodes) for kind, nodes in captures.items()}


def test_patterns_that_differ_in_their_last_child_become_one() -> None:
    assert merge("(a f: (b) @x)", "(a f: (c (d) @y))", "(a f: (c (e) @x))") == ["(a f: [(b) @x (c [(d) @y (e) @x])])"]
    assert merge("(a (b) @x f: (c))", "(a (b) @x f: (d))") == ["(a (b) @x f: [(c) (d)])"]


def test_patterns_that_differ_elsewhere_stay_apart() -> None:
    for pair in (
        ["(a f: (b) @x)", "(a g: (b) @x)"],
        ["(a . (b) @x)", "(a (b) @x)"],
        ["(a (b) @x) @y", "(a (c) @x)"],
        ["(a !f (b) @x)", "(a (c) @x)"],
        ["(a (b) (c) @x)", "(a (d) (c) @x)"],
        ["(a) @x", "(a (b) @x)"],
    ):
        assert merge(*pair) == pair


@pytest.mark.parametrize("name", [name for name in EXPECTED if language_of(name) in PATTERNS])
def test_merged_patterns_capture_the_same_nodes(name: str) -> None:
    language, data = language_of(name), Path(SAMPLES / name).read_bytes()
    patterns = [source.replace("@_", f"@{kind}") for kind, source in PATTERNS[language].items()]
    grammar = find_grammar(language)
    assert grammar is not None
    root = parse_tree(data, grammar.parser, 5).root_node
    one = find_query(grammar.parser, "\n".join(patterns))
    other = find_query(grammar.parser, "\n".join(merge(*patterns)))
    assert one is not None
    assert other is not None
    expected = ids(capture(one, root, len(data))[0])
    assert expected
    assert ids(capture(other, root, len(data))[0]) == expected


def test_patterns_that_cannot_occur_in_a_grammar_are_left_out() -> None:
    patterns = ["(call name: (_) @x)", "(identifier) @name", "(nothing) @x", "(call function: (identifier) @call)"]
    query = find_usable_query("python", patterns)
    assert query is not None
    captures, _ = capture(query, parse_tree(b"f(a)\n", "python", 5).root_node, 5)
    assert {kind: len(nodes) for kind, nodes in captures.items()} == {"call": 1, "name": 2}
    assert find_usable_query("python", patterns[:1]) is None
