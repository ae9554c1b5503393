"""Symbols: the names that definitions and headings have in real code, however they are written."""

import pytest

from gitmem.chunking.chunk import chunk_blob
from gitmem.chunking.symbols import MAX_SYMBOL, qualified
from gitmem.types import ResultUnit


def _results(language: str, text: str) -> list[ResultUnit]:
    chunks = chunk_blob(text.encode(), language).chunks
    return [unit for chunk in chunks for unit in chunk.units or (ResultUnit(*chunk[:6]),)]


def _named(language: str, text: str) -> set[tuple[str, str]]:
    return {(result.chunk_type, result.symbol) for result in _results(language, text) if result.symbol}


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("cpp", "TEST(Ring, Rotates) { int x; }", ("function", "Ring.Rotates")),
        ("starlark", 'cc_library(\n    name = "zlib",\n    srcs = ["a.c"],\n)\n', ("function", "zlib")),
        ("cmake", "add_library(cart STATIC cart.cpp)\n", ("function", "cart")),
        ("less", ".card(@r: 4px) when (@a) {\n  .round(5px);\n}\n", ("section", ".card(@r: 4px) when (@a)")),
        ("cmake", "if(WIN)\n  add_executable(shop main.cpp)\nendif()\n", ("function", "shop")),
        ("cpp", "namespace a {\nTEST_F(Ring, Rotates) { int x; }\n}", ("function", "a.Ring.Rotates")),
        ("cpp", "BENCHMARK(rotate, n) { run(n); }", ("function", "rotate")),
        ("cpp", "class Mock {\n  MOCK_METHOD1(Rotate, int(int));\n  int x;\n};", ("method", "Mock.Rotate")),
        ("cpp", "class Ring {\n  bool Full() GUARDED_BY(mutex) { return 1; }\n};", ("method", "Ring.Full")),
        ("cpp", "class RING {\n  RING(Size) {}\n};", ("method", "RING.RING")),
        ("cpp", "class EXPORT_API Ring : public Shape { int x; };", ("class", "Ring")),
        ("cpp", "struct NODE Tree::find(int x) { return x; }", ("method", "Tree.find")),
        ("cpp", "BEGIN_NAMESPACE\nstruct Ring { int x; };\n", ("struct", "Ring")),
        ("cpp", "BEGIN_NAMESPACE\nnamespace a {\nint go() { return 1; }\n}\n", ("function", "a.go")),
        ("cpp", "namespace LIB_NAMESPACE {\nint go() { return 1; }\n}", ("function", "go")),
        ("cpp", "struct Ring {\n  operator bool() const { return 1; }\n};", ("method", "Ring.operator bool")),
        ("cpp", "a::Ring::operator bool() const { return true; }", ("method", "a.Ring.operator bool")),
        ("c", "LUA_API int (lua_error) (lua_State *L);", ("function", "lua_error")),
        ("c", "EXPORT void (*on_lock)(struct ring *) = NULL;", ("function", "on_lock")),
        ("c", "void like(3, 4) puts_ring(struct ring *, ...);\nvoid go(int x) { }", ("function", "puts_ring")),
        ("cmake", "function(add_ring name)\n  set(x 1)\nendfunction()", ("function", "add_ring")),
        ("cmake", "if(X)\nmacro(turn_ring name)\nendmacro()\nendif()", ("macro", "turn_ring")),
        ("go", "package a\n\nconst (\n\tFast = iota\n\tSlow, Slower = 1, 2\n)", ("constant", "Slow, Slower")),
        ("go", "package a\n\nvar (\n\t_ Ring = (*ring)(nil)\n\tz = 3\n)", ("constant", "z")),
        ("swift", "class A {\n  func `default`() -> Int { return 1 }\n}", ("method", "A.default")),
        ("swift", "class A {\n  let (first, last) = ends()\n}", ("property", "A.first, last")),
        ("kotlin", "class A {\n  fun `reports a ring`() { go() }\n}", ("method", "A.reports a ring")),
        ("rust", "impl Turn for [u8] {\n    fn go(&self) {}\n}", ("method", "Turn.go")),
        ("rust", "impl crate::a::Ring<T> {\n    fn go(&self) {}\n}", ("method", "Ring.go")),
        ("rust", "impl Turn for std::io::Error {\n    fn go(&self) {}\n}", ("method", "Error.go")),
        ("javascript", "module.exports = function turn(x) { return x; };", ("function", "turn")),
        ("javascript", "exports = module.exports = class Ring { go() { return 1; } };", ("method", "Ring.go")),
        ("javascript", "module.exports = function (x) { return x; };", ("function", "module.exports")),
        ("clojure", '(defn ^{:added "1.0"} join "Join." [x] (str x))', ("function", "join")),
        ("haskell", "(<+>) :: Int -> Int -> Int\n(<+>) a b = a", ("function", "<+>")),
        ("erlang", "-module(t).\n'case'(X) ->\n    X.\n", ("function", "case")),
        ("ocaml", 'let version = "4.0"\n', ("constant", "version")),
    ],
)
def test_a_definition_has_the_name_by_which_its_users_know_it(
    language: str, text: str, expected: tuple[str, str]
) -> None:
    assert expected in _named(language, text)


@pytest.mark.parametrize(
    ("heading", "title"),
    [
        ("where_exp filter", "where_exp filter"),
        ("`clamp_max()` and `Ring<T>`", "clamp_max() and Ring<T>"),
        (r"\_\_require\_\_ (internal)", "__require__ (internal)"),
        ("__init__", "__init__"),
        ("_turn_ and __stressed words__", "turn and stressed words"),
        ("[`Ring.turn_left`](ring.md#_x_)", "Ring.turn_left"),
        ("![icon](a.svg) Rings [![Build](b.svg)](c)", "Rings"),
        ('Rings <a name="rings"></a>', "Rings"),
        ("Rings {#rings}", "Rings"),
        ('Rings {%- include badge.html version="4.0" -%}', "Rings"),
        ("a < b and [see] below", "a < b and [see] below"),
    ],
)
def test_a_title_is_the_text_that_readers_see(heading: str, title: str) -> None:
    assert {result.symbol for result in _results("markdown", f"# {heading}\n\ntext\n")} == {title}


def test_the_symbol_of_a_chunk_has_the_names_of_all_its_results() -> None:
    names = [f"a_rather_long_name_of_an_option_{number}" for number in range(30)]
    text = "\n".join(f"{name} = {number}" for number, name in enumerate(names))
    (chunk,) = chunk_blob(text.encode(), "python").chunks
    assert chunk.symbol.split(", ") == names


def test_a_symbol_that_is_too_long_keeps_the_last_name() -> None:
    scope = ".".join(["a_rather_long_name_of_a_scope"] * 8)
    symbol = qualified(scope, "last", ".")
    assert len(symbol) <= MAX_SYMBOL
    assert f".{scope}.last".endswith(f".{symbol}")


def test_the_last_heading_of_a_long_path_is_kept() -> None:
    titles = [f"{'a rather long heading about rings ' * 2}{level}" for level in range(1, 5)]
    text = "\n\ntext\n\n".join(f"{'#' * level} {title}" for level, title in enumerate(titles, 1))
    symbols = [result.symbol for result in _results("markdown", f"{text}\n\ntext\n")]
    assert [symbol.rpartition(" > ")[2] for symbol in symbols] == titles


def test_a_long_variable_of_go_is_named_once() -> None:
    steps = "".join(f"\t\tt.Press({number}).Then(func() {{ check({number}) }}),\n" for number in range(90))
    text = f"package undo\n\nvar UndoCommit = NewTest(Arguments{{\n\tSteps: []Step{{\n{steps}\t}},\n}})\n"
    results = [each for each in _results("go", text) if each.symbol]
    assert {each.symbol for each in results} == {"UndoCommit"}
    assert min(each.start for each in results) == text.index("var ")
    assert min(each.end - each.start for each in results) > 100


def test_calls_without_a_plain_name_are_no_targets() -> None:
    assert not _named("starlark", "cc_library(name = zlib)\nload('//a.bzl', 'x')\n")
    assert not _named("python", "run(name='zlib')\n")
    assert not _named("cmake", "target_link_libraries(cart PUBLIC x)\nproject()\nadd_library(${NAME} a.c)\n")
