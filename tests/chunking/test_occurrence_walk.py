"""A walk of a tree finds the nodes that the parser library finds with the compiled patterns."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from gitmem.chunking.chunk import chunk_blob
from gitmem.chunking.grammar import Node
from gitmem.chunking.grammars import find_grammar
from gitmem.chunking.languages import language_of
from gitmem.chunking.occurrence_patterns import PATTERNS
from gitmem.chunking.occurrence_walk import RepeatedFieldError, find_by_walk, parse_patterns
from gitmem.chunking.parse import capture, find_query, parse_tree
from tests.chunking.test_samples import EXPECTED, SAMPLES

Places = dict[str, list[tuple[int, int, str]]]

NESTED = {
    "go": b"package a\ntype A struct {\n\tB\n\tc.D\n\te F\n\tG[h]\n}\nfunc i() { j, k := 1, 2; var l M = n[o](p) }\n",
    "python": b"class A(b.C, D[E]):\n    x: F = g(h)\n    y = i = j\n\n@k.l(m)\ndef n(o: P | q.R, s: T = u): raise V\n",
    "typescript": b"class A extends b.C implements D, E<F> { g: H = new I(); j(k?: L) {} }\nexport { m } from 'n';\n",
    "javascript": b"const a = b('c'), d = e(f, 'g'), h = new i.J(), k = () => 1;\nimport l from 'm';\n",
    "ruby": b"class A < B::C\n  D = 1\n  require 'e'\n  @f = G.new(1)\n  h = i 2, 'j'\nend\n",
    "java": b"class A extends B<C> implements D, E<F> { int h = 1; I i = new J<>(k.l); @M(n) void o(P... p) {} }\n",
    "cpp": b"struct A : B, c::D, E<F> { int* g(); };\nint* h() { return i.j(k::l<M>(1)); }\nN& O::p() {}\n",
}


def places(captures: Mapping[str, Sequence[Node]]) -> Places:
    return {kind: sorted((node.start_byte, node.end_byte, node.type) for node in captures[kind]) for kind in captures}


def patterns_of(language: str) -> list[str]:
    """Return the patterns of a language's own table, one a line."""
    return [source.replace("@_", f"@{kind}") for kind, source in PATTERNS[language].items()]


def captured(data: bytes, language: str) -> tuple[Places, Places]:
    """Return the places that a walk finds, and those that a compiled query finds."""
    grammar = find_grammar(language)
    assert grammar is not None
    query = find_query(grammar.parser, "\n".join(patterns_of(language)))
    assert query is not None
    expected, complete = capture(query, parse_tree(data, grammar.parser, 5).root_node, len(data))
    assert complete
    results = find_by_walk(parse_patterns(patterns_of(language)), parse_tree(data, grammar.parser, 5).root_node)
    return places(results), places(expected)


@pytest.mark.parametrize("name", [name for name in EXPECTED if language_of(name) in PATTERNS.keys() - {"swift"}])
def test_a_walk_finds_what_the_compiled_patterns_find(name: str) -> None:
    # The sample of Swift has a repeated field.
    results, expected = captured(Path(SAMPLES / name).read_bytes(), language_of(name))
    assert expected
    assert results == expected


@pytest.mark.parametrize("language", NESTED)
def test_a_walk_knows_fields_orders_and_first_children(language: str) -> None:
    results, expected = captured(NESTED[language], language)
    assert results == expected


def test_a_walk_takes_each_construct_of_a_pattern_literally() -> None:
    data = b"package a\ntype A struct {\n\tB\n\tc D\n}\nfunc f() { g, h := 1, 2 }\n"
    table = parse_patterns(
        [
            "(field_declaration !name type: (type_identifier) @base)",
            "(short_var_declaration left: (expression_list . (identifier) @first)) (func_literal) @none",
            "(field_declaration name: (_) type: (type_identifier) @named)",
            "(type_spec (type_identifier) type: (_)) @all",
        ]
    )
    results = find_by_walk(table, parse_tree(data, "go", 5).root_node)
    texts = {kind: [data[node.start_byte : node.end_byte] for node in nodes] for kind, nodes in results.items()}
    assert texts.pop("all") == [b"A struct {\n\tB\n\tc D\n}"]
    assert texts == {"base": [b"B"], "first": [b"g"], "named": [b"D"]}


def test_names_do_not_depend_on_the_files_before() -> None:
    # After 64 KB of a language its patterns are compiled.
    data = NESTED["java"] + b"".join(b"class C%d { D d = new E(f); }\n" % number for number in range(700))
    first, *others = [chunk_blob(data, "java").names for _ in range(4)]
    assert len(first.names) > 2000
    assert others == [first] * 3


def test_a_field_with_several_nodes_is_left_to_the_library() -> None:
    data = b"package a\n\nfunc f() {\n\tconst min, max = 7, 72\n}\n"
    with pytest.raises(RepeatedFieldError):
        find_by_walk(parse_patterns(patterns_of("go")), parse_tree(data, "go", 5).root_node)
    # The same names before and after the patterns are compiled.
    text = b"package a\n" + b"var x = 1\n" * 7000
    before = chunk_blob(data, "go").names
    chunk_blob(text, "go")
    assert chunk_blob(data, "go").names == before
