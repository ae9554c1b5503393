"""Forms of Swift that the parser does not know hide no definition."""

import pytest

from gitmem.chunking.chunk import chunk_blob
from gitmem.chunking.parse import parse_tree
from gitmem.chunking.swift_forms import with_plain_forms
from tests.chunking.names_in_file import names_of


@pytest.mark.parametrize(
    "statement",
    [
        "promise.succeed(())",
        "pair((), ())",
        "observer = AnyObserver { _ in () }",
        "() = try wait()",
        "return ()",
        "let done: ()? = load()",
        "let first = { (_: (), other: Int) -> Void in run() }",
        "onCompleted?()",
        "let run: () -> Void = { () -> Void in stop() }",
        "let later: (() async throws -> Int)? = nil",
        '#warning("later")',
        "let run: @Sendable() async -> Void = stop",
    ],
)
def test_a_function_with_a_statement_is_parsed(statement: str) -> None:
    text = f"struct Cart {{\n    func first() {{\n        {statement}\n    }}\n    func second() {{}}\n}}\n"
    assert not parse_tree(text.encode(), "swift", 10).root_node.has_error
    assert names_of(text, "swift", "function") == ["first", "second"]


def test_an_attribute_before_a_closure_keeps_its_parameters() -> None:
    text = "func load(done: @escaping() -> Void, later: @Sendable() throws -> Int) {}\nfunc next() {}\n"
    assert not parse_tree(text.encode(), "swift", 10).root_node.has_error
    assert names_of(text, "swift", "function") == ["load", "next"]


def test_heads_of_declarations_are_parsed() -> None:
    text = """struct Tool {
    @Option() var name: [String] = []
    nonisolated(unsafe) var shared = 1
    func read(location: Location = #_sourceLocation) throws(Deep.ParseError) -> Int { 1 }
    func send(actor: isolated (any Actor)? = #isolation, value: sending Value) {}
}
func check<A>(_ type: A.Type, location: Location = #_sourceLocation) throws(any CheckError) where A: Tool {}
"""
    assert names_of(text, "swift", "function", "value") == ["name", "shared", "read", "send", "check"]
    assert {"ParseError", "CheckError"} <= set(names_of(text, "swift", "type"))
    assert [chunk.symbol for chunk in chunk_blob(text.encode(), "swift").chunks][-1] == "check"


@pytest.mark.parametrize("text", ['func a() { b(()); c((), ()) }\n#error("x")\n', "let x = 1 // () = ()\n", "#_a\n"])
def test_the_length_stays(text: str) -> None:
    assert len(with_plain_forms(text.encode(), "swift")) == len(text)
    assert with_plain_forms(text.encode(), "kotlin") == text.encode()
