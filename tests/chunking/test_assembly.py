"""Which spans become chunks: nesting, leading comments, merging of small units, splitting of large ones."""

from typing import Any

import pytest

from gitmem.chunking.chunk import chunk_blob
from gitmem.chunking.chunk_size import ChunkBounds
from gitmem.chunking.elements import find_elements
from gitmem.types import Chunk
from tests.chunking.coverage_check import assert_sound, text_bytes


def chunks_of(text: str, language: str) -> list[Chunk]:
    data = text.encode()
    blob = chunk_blob(data, language)
    assert_sound(data, blob)
    return blob.chunks


def types_and_symbols(text: str, language: str) -> list[tuple[str, str]]:
    return [(chunk.chunk_type, chunk.symbol) for chunk in chunks_of(text, language)]


@pytest.mark.parametrize("count", [1, 2, 7])
def test_a_class_with_n_methods_gives_one_class_chunk_and_n_method_chunks(count: int) -> None:
    methods = "".join(f"    def m{i}(self): return {i}\n" for i in range(count))
    assert types_and_symbols(f"class A:\n{methods}", "python") == [
        ("class", "A"),
        *(("method", f"A.m{i}") for i in range(count)),
    ]


def test_classes_nest_to_any_depth() -> None:
    text = "".join("    " * level + f"class C{level}:\n" for level in range(20)) + "    " * 20 + "def f(self): pass\n"
    last = ".".join(f"C{level}" for level in range(20))
    assert ("method", f"{last}.f") in types_and_symbols(text, "python")


def test_a_comment_directly_above_belongs_to_the_unit_and_a_separated_one_does_not() -> None:
    text = "# apart\n\n# above\n# and more\ndef f():\n    pass\n"
    unit = next(chunk for chunk in chunks_of(text, "python") if chunk.symbol == "f")
    assert text.encode()[unit.start : unit.end] == b"# above\n# and more\ndef f():\n    pass"


_MEMBER = "    /** Doc. */\n    void f() {}\n"
_HEADLINE = "    /////////////\n    // Seeking\n    /////////////\n"


@pytest.mark.parametrize(
    ("above", "first_line"),
    [
        (f"{_HEADLINE}\n", "    /////////////"),
        (f"{_HEADLINE}\n\n", "    /////////////"),
        (f"{_HEADLINE}\n\n\n", "    /** Doc. */"),
        (f"{_HEADLINE}    // {'long ' * 100}\n\n", "    /** Doc. */"),
        (f"    // commented out\n\n{_HEADLINE}\n", "    /////////////"),
        ("    // MARK: - Seeking\n\n", "    // MARK: - Seeking"),
        ("    //region Seeking\n\n", "    //region Seeking"),
        ("    // Seeking is slow in a region of the file.\n\n", "    /** Doc. */"),
    ],
)
def test_a_headline_between_members_belongs_to_the_member_below(above: str, first_line: str) -> None:
    text = f"class Player {{\n    int volume;\n\n{above}{_MEMBER}}}\n"
    unit = next(chunk for chunk in chunks_of(text, "java") if chunk.symbol == "Player.f")
    assert text.splitlines()[unit.start_line - 1] == first_line
    element = next(each for each in find_elements(text.encode(), "java").elements if each.symbol == "Player.f")
    assert text.splitlines()[element.first_line - 1] == "    /** Doc. */"


def test_a_comment_behind_a_statement_belongs_to_the_statement() -> None:
    text = "x = 1  # about x\ndef f():\n    pass\n"
    unit = next(chunk for chunk in chunks_of(text, "python") if chunk.symbol == "f")
    assert unit.start_line == 2


def test_imports_and_statements_are_merged_into_one_module_chunk() -> None:
    text = "import a\nimport b\n\nX = 1\nY = 2\n"
    assert types_and_symbols(text, "python") == [("module", "X, Y")]


def test_merged_constants_keep_their_chunk_type_and_names() -> None:
    assert types_and_symbols("const A: u8 = 1;\nconst B: u8 = 2;\n", "rust") == [("constant", "A, B")]


def test_a_large_unit_is_split_at_statements_and_each_part_keeps_its_name() -> None:
    body = "".join(f"    value_{i} = compute({i}) + compute({i + 1})\n" for i in range(120))
    text = f"def long(x):\n{body}    return x\n"
    chunks = chunks_of(text, "python")
    assert len(chunks) > 2
    assert {(chunk.chunk_type, chunk.symbol) for chunk in chunks} == {("function", "long")}
    assert all(text.encode()[chunk.start - 1 : chunk.start] in (b"", b"\n") for chunk in chunks)
    assert text_bytes(chunk_blob(text.encode(), "python")) <= 1600


def test_large_functions_inside_a_large_function_are_units() -> None:
    inner = "".join(f"    step({i}, 'some more text for this step');\n" for i in range(15))
    nested = f"  function small() {{}}\n  function big() {{\n{inner}  }}\n"
    text = f"function make() {{\n{nested}{inner}{inner}  return big;\n}}\n"
    symbols = {symbol for _, symbol in types_and_symbols(text, "javascript")}
    assert "make.big" in symbols
    assert "make.small" not in symbols


def test_functions_inside_a_wrapper_call_are_units() -> None:
    inner = "".join(f"    step({i}, 'some more text for this step');\n" for i in range(50))
    text = f"(function () {{\n  function boot() {{\n{inner}  }}\n}})();\n"
    assert ("function", "boot") in types_and_symbols(text, "javascript")


def test_fields_that_do_not_fit_the_class_chunk_get_chunks_of_their_own() -> None:
    fields = "".join(f"    private int counterNumber{i} = {i};\n" for i in range(100))
    chunks = chunks_of(f"class Wide {{\n{fields}    void f() {{}}\n}}\n", "java")
    assert any(chunk.chunk_type == "field" and chunk.symbol.startswith("Wide.counterNumber") for chunk in chunks)
    assert sum(chunk.chunk_type == "class" for chunk in chunks) == 1


def test_functions_under_ifdef_and_extern_c_are_units() -> None:
    text = '#ifdef A\nextern "C" {\nstatic int *f(int a) { return 0; }\n}\n#endif\n'
    assert ("function", "f") in types_and_symbols(text, "c")


def test_a_header_with_templates_is_cpp_and_one_without_is_c() -> None:
    assert chunk_blob(b"template <typename T> class A {};\n", "c").language == "cpp"
    assert chunk_blob(b"struct a { int b; };\n", "c").language == "c"


def test_a_file_with_a_syntax_error_keeps_its_other_units() -> None:
    text = "def ok():\n    pass\n\ndef broken(:\n    ((((\n\ndef fine():\n    return 1\n"
    symbols = {symbol for _, symbol in types_and_symbols(text, "python")}
    assert {"ok", "fine"} & symbols


def test_members_on_one_line_are_separate_chunks() -> None:
    text = "class A { void f() {} void g() {} }\n"
    parts = {chunk.symbol: text[chunk.start : chunk.end] for chunk in chunks_of(text, "java")}
    assert parts["A.f"] == "void f() {}"
    assert parts["A.g"] == "void g() {}"


def test_offsets_include_a_byte_order_mark_and_carriage_returns() -> None:
    data = b"\xef\xbb\xbfimport a\r\n\r\ndef f():\r\n    return 1\r\n"
    blob = chunk_blob(data, "python")
    assert_sound(data, blob)
    unit = next(chunk for chunk in blob.chunks if chunk.symbol == "f")
    assert data[unit.start : unit.end] == b"def f():\r\n    return 1"
    assert (unit.start_line, unit.end_line) == (3, 4)


def test_latin_1_bytes_do_not_shift_the_spans() -> None:
    data = "# gr\xfc\xdfe\ndef f():\n    return '\xe4'\n".encode("latin-1")
    blob = chunk_blob(data, "python")
    assert_sound(data, blob)
    assert [chunk.symbol for chunk in blob.chunks] == ["f"]


def test_the_symbol_of_a_nested_value_is_the_path_of_its_keys() -> None:
    entries = ",\n".join(f'      "key{i}": "{"v" * 60}"' for i in range(60))
    text = f'{{\n  "outer": {{\n    "inner": {{\n{entries}\n    }}\n  }}\n}}\n'
    assert any(symbol.startswith("outer.inner.key") for _, symbol in types_and_symbols(text, "json"))


def test_too_many_chunks_are_replaced_by_larger_windows_without_loss() -> None:
    data = "".join(f"def f{i}():\n    return {i} + {i} * {i}\n\n\n" for i in range(200)).encode()
    bounds = ChunkBounds(max_chunks=20)
    blob = chunk_blob(data, "python", bounds)
    assert_sound(data, blob)
    assert len(blob.chunks) <= 21


def test_the_units_of_a_language_without_a_table_follow_from_its_node_types() -> None:
    text = "message Ship {\n  string name = 1;\n}\n\nservice Port {\n  rpc Call(Ship) returns (Ship);\n}\n"
    symbols = {symbol for _, symbol in types_and_symbols(text, "proto")}
    assert {"Ship", "Port"} <= symbols


@pytest.mark.parametrize(
    ("language", "text", "symbol"),
    [
        ("dart", "/// Doc.\nclass Foo {\n  void run() { print(x); }\n}\n", "Foo.run"),
        ("objc", '@implementation Foo\n- (void)run { NSLog(@"x"); }\n@end\n', "Foo.run"),
        ("r", "run <- function(x) {\n  x + 1\n}\n", "run"),
        ("clojure", "(ns a.b)\n(defn run [x] (+ x 1))\n", "run"),
        ("erlang", "run(0) -> 1;\nrun(N) -> N.\n", "run"),
        ("julia", "function run(p)\n  p\nend\n", "run"),
    ],
)
def test_functions_of_less_common_languages_have_their_names(language: str, text: str, symbol: str) -> None:
    assert symbol in {name for _, name in types_and_symbols(text, language)}


def test_indentation_that_crashes_a_scanner_is_not_parsed() -> None:
    data = b"".join(b" " * level + b"a:\n" for level in range(1200))
    blob = chunk_blob(data, "yaml")
    assert not blob.parsed
    assert_sound(data, blob)


def test_the_same_bytes_give_the_same_chunks() -> None:
    data = b"class A:\n    def f(self): pass\n"
    assert chunk_blob(data, "python") == chunk_blob(data, "python")


@pytest.mark.parametrize("bad", [{"max_bytes": 10}, {"min_bytes": 5000}, {"overlap": 1600}, {"max_chunks": 1}])
def test_contradictory_bounds_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="out of range"):
        ChunkBounds(**bad)
