"""Names in single files: which words are calls, members and imports."""

import pytest

from gitmem.chunking.chunk import chunk_blob
from tests.chunking.names_in_file import names_of


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('const app = create("x");', ["create"]),
        ("z.string().min(1);", ["z.string", "?.min"]),
        ("store.load?.(1); find!(2); sql`select`;", ["store.load", "find", "sql"]),
        ("make<Map<string, () => void>>(1); api.get<{ a: 1 }>(2);", ["make", "api.get"]),
        ("if (a<b && c>(d)) f (a);", ["f"]),
        ("const run = function inner() {}; run();", ["run"]),
    ],
)
def test_the_bytes_after_a_name_show_a_call(text: str, expected: list[str]) -> None:
    assert names_of(text, "typescript", "call") == expected


def test_a_call_with_a_text_defines_a_value_but_a_required_module_is_an_import() -> None:
    text = 'const app = create("x");\nconst fs = require("fs");\n'
    assert names_of(text, "typescript", "value", "import", "call") == ["app", "create", "fs:.fs"]


def test_members_may_have_the_names_of_primitive_types() -> None:
    assert names_of("event.set()\nlog.error(set(x))\n", "python", "call") == ["event.set", "log.error"]
    assert names_of("package a\nfunc f(xs ...string) { log.error(xs) }\n", "go", "call", "type") == ["log.error"]


def test_a_function_may_have_the_name_of_a_primitive_type() -> None:
    assert names_of("export function string() {}\n", "typescript", "function") == ["string"]


def test_a_field_or_constant_with_a_type_is_a_definition_and_has_the_type() -> None:
    text = "export class A { app: App; run: Run = () => 1; }\nexport const main: App = make();\n"
    assert names_of(text, "typescript", "value", "function") == ["app", "run", "main"]
    assert names_of(text, "typescript", "bound") == ["App.app", "App.main"]


def test_an_export_under_another_name_is_an_import_from_the_file_itself() -> None:
    assert names_of("export { A as B, C, d as default };\n", "typescript", "import", "alias") == [
        "A",
        ":A.B",
        ":d.default",
    ]


def test_type_arguments_of_a_call_in_go_are_no_index() -> None:
    text = "package a\nfunc f() { g[[]int](1, 2); h.m[[]uint8](3, 4); k(5) }\n"
    assert names_of(text, "go", "call") == ["g", "h.m", "k"]


def test_calls_that_begin_at_one_place_are_all_found() -> None:
    # The library returns nodes by their addresses: without an order of our own some of these were lost in each run.
    text = "".join(f"unquote(plug{number}).__info_{number}__(:module)\n" for number in range(200))
    calls = names_of(text, "elixir", "call")
    assert calls.count("unquote") == 200
    assert [name for name in calls if name != "unquote"] == [f"?.__info_{number}__" for number in range(200)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a.b.c(1)", ["a.b.c"]),
        ("x = self.run(1)", ["self.run"]),
        ("run().next(1)", ["run", "?.next"]),
        ("super().next(1)", ["super", "super.next"]),
        ("a .b.c(1)", ["b.c"]),
        (f"{'a' * 120}.b(1)", [f"{'a' * 99}.b"]),
    ],
)
def test_receivers_are_those_before_the_last_dot(text: str, expected: list[str]) -> None:
    assert names_of(f"\n{text}\n", "python", "call") == expected


def test_a_type_behind_colons_has_no_receiver_in_julia() -> None:
    assert names_of("f(x::Cart, y::Shop.Line) = 1\n", "julia", "name") == ["Cart", "Shop", "Shop.Line"]


def test_macros_in_the_head_of_a_class_hide_no_members() -> None:
    text = """class LIB_API DEPRECATED(1) Node final : public Base {
public:
  virtual Text* text() { return 0; }
};
struct POINT origin;
"""
    assert names_of(text, "cpp", "class", "base", "function") == ["Node", "Base", "text"]
    chunk = chunk_blob(text.encode(), "cpp").chunks[0]
    assert "LIB_API" in text.encode()[chunk.start : chunk.end].decode()


def test_types_in_capitals_are_no_macros_before_a_method_or_in_the_head_of_a_loop() -> None:
    text = "struct NODE Tree::find(int x) { return x; }\nvoid g() { for (struct NODE n : nodes) go(n); }\n"
    assert names_of(text, "cpp", "class", "function", "call") == ["Tree.find", "g", "go"]
    assert names_of(text, "cpp", "type") == ["NODE", "NODE"]


@pytest.mark.parametrize(
    "values", ["1, 2", "-x, y", "{1}, {2}", ".x = 1", "\n    left, top\n", '"a"', "x", "a.b", "a + 1"]
)
def test_a_type_in_capitals_is_no_macro_before_a_variable_with_values(values: str) -> None:
    text = f"struct POINT at{{{values}}};\nstruct LIB_API Node {{ int x; }};\n"
    assert names_of(text, "cpp", "class") == ["Node"]
    assert names_of(text, "cpp", "type")[0] == "POINT"


@pytest.mark.parametrize(
    "members",
    ["", "Q_OBJECT", "Q_OBJECT // moc\n", "READS(x) int y;", "~Node();", "/* none */", "[[nodiscard]] int f();"],
)
def test_any_member_may_begin_a_class_behind_a_macro(members: str) -> None:
    assert names_of(f"struct LIB_API Node {{ {members} }};\n", "cpp", "class") == ["Node"]


def test_functions_in_cpp_may_return_pointers_and_be_qualified() -> None:
    text = "T* A::one() { return 0; }\nT& n::A::two() { return t; }\nchar **three() { return 0; }\nT& four() {}\n"
    assert names_of(text, "cpp", "function") == ["A.one", "n::A.two", "three", "four"]
    assert names_of("void f() { a::b::c(); x.get<int>(); new d::E(); }\n", "cpp", "call") == ["a::b.c", "x.get", "d.E"]


@pytest.mark.parametrize(
    ("tag", "expected"),
    [
        ("@method void close()", ["close"]),
        ("@method static Logger|null open(string $name = 'a')", ["open"]),
        ("@method &get ($key)", ["get"]),
        ("@method static run()", ["run"]),
        ("@method array<int, string> all()", ["all"]),
        ("@method array{a: int, b: string}|null pair()", ["pair"]),
        ("@method Stock | null refill(int $count)", ["refill"]),
        ("@method callable(int): string reader(int $count)", ["reader"]),
        ("@method (A&B)|null both()", ["both"]),
        ("@method each(callable(int) $visit) calls all()", ["each"]),
        ("@method tags declare methods (see the manual)", []),
        ("@methods run()", []),
        ("@method none", []),
        ("see @method run()", []),
    ],
)
def test_the_comment_of_a_php_class_declares_methods(tag: str, expected: list[str]) -> None:
    assert names_of(f"<?php\n/**\n * {tag}\n */\nclass A {{}}\n", "php", "function") == expected
    assert names_of(f"/**\n * {tag}\n */\nclass A {{}}\n", "java", "function") == []


@pytest.mark.parametrize(
    "text",
    [
        "/**\n * @method GET (default)\n */\nfunction route() {}\n",
        "$docs = <<<TEXT\n * @method void close()\nTEXT;\nclass A {}\n",
        "class A {}\n/**\n * @method void close()\n */\n",
    ],
)
def test_a_tag_that_is_in_no_comment_before_a_class_declares_no_method(text: str) -> None:
    assert "close" not in (names := names_of(f"<?php\n{text}", "php", "function"))
    assert "GET" not in names


def test_comments_between_the_tag_and_its_class_do_not_matter() -> None:
    text = "<?php\nnamespace N;\n/** @method void close() */\n// phpcs:ignore\n#[Sealed]\nfinal class A {}\n"
    assert names_of(text, "php", "function") == ["close"]
    assert names_of("<?php\n/**\n * @method " + "a" * 50_000 + "\n */\nclass A {}\n", "php", "function") == []


@pytest.mark.parametrize("language", ["c", "cpp"])
def test_fields_are_definitions_and_so_are_those_that_point_to_functions(language: str) -> None:
    text = "struct Calls {\n  void (*release)(void *);\n  char *(*make)(int);\n  int size;\n};\n"
    assert names_of(text, language, "class", "value", "function") == ["Calls", "release", "make", "size"]


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("int f() { return ::free(p); }\n", "cpp", ["::.free"]),
        ("int f() { return make<int>::call(p); }\n", "cpp", ["?.call"]),
        ("<?php\n$x = new \\Error('a'); \\strlen('b'); A\\f();\n", "php", ["\\.Error", "\\.strlen", "A.f"]),
        (
            "<?php\n$x = 'at '.substr($p, 1).A::f(); $y = $x.B\\C::g().$z->h();\n",
            "php",
            ["substr", "A.f", "B\\C.g", "$z.h"],
        ),
        ("f()\n  .g()\n", "javascript", ["f", "?.g"]),
    ],
)
def test_a_name_behind_a_separator_alone_is_at_the_root(text: str, language: str, expected: list[str]) -> None:
    assert names_of(text, language, "call") == expected


def test_an_import_of_kotlin_ends_with_its_line() -> None:
    text = """package a

import a.tools.addIfNotNull

/** Says `x = 0`. */
@ActiveByDefault(since = "1.2")
@Alias("unused")
class Rule(config: Config)
"""
    assert names_of(text, "kotlin", "import", "alias") == ["a.tools.addIfNotNull"]
    assert {"ActiveByDefault", "Alias"} <= set(names_of(text, "kotlin", "decorator", "type", "call"))


def test_an_alias_of_a_generic_type_in_csharp_is_one_of_the_type() -> None:
    text = "using Run = System.Func<System.Tuple<string, object>,\r\n    System.Threading.Tasks.Task>;\nclass A {}\n"
    assert names_of(text, "csharp", "import", "alias") == ["System.Func", "System:Func.Run"]


@pytest.mark.parametrize(
    "expression",
    [
        "x * RATE", "-RATE", "not RATE", "x and RATE", "x if RATE else y", "(RATE)", 'f"{RATE}"', "{RATE}", "{RATE: 1}",
        "x[RATE:]", "[x for x in RATE]", "[x for x in y if RATE]", "g(*RATE)", "g(**RATE)", "RATE, x",
        "lambda: RATE", "lambda z=RATE: z", "(y := RATE)", "[RATE for z in y]", "{RATE for z in y}",
        "g(RATE for z in y)",
    ],
)  # fmt: skip
def test_a_constant_is_mentioned_wherever_an_expression_of_python_has_it(expression: str) -> None:
    assert names_of(f"RATE = 2\ndef f(x, y):\n    return {expression}\n", "python", "name") == ["RATE"]


@pytest.mark.parametrize(
    "statement",
    [
        "if RATE: pass",
        "while RATE: pass",
        "for x in RATE: pass",
        "x += RATE",
        "assert RATE",
        "with RATE as x: pass",
        "def g(x: int = RATE): pass",
    ],
)
def test_a_constant_is_mentioned_in_statements_of_python(statement: str) -> None:
    assert names_of(f"RATE = 2\ndef f(x):\n    {statement}\n", "python", "name") == ["RATE"]


def test_patterns_of_python_mention_classes_and_members_but_not_what_they_bind() -> None:
    text = """match shape:
    case shapes.Circle(radius): pass
    case [Dot(), rest] | Square(side=1): pass
    case Color.RED | Color.BLUE: pass
    case other: pass
"""
    assert names_of(text, "python", "type") == ["shapes", "shapes.Circle", "Dot", "Square"]
    assert names_of(text, "python", "read") == ["Color.RED", "Color.BLUE"]
    assert names_of(text, "python", "name") == ["Color", "Color"]


def test_names_that_a_star_may_import_are_those_that_a_file_of_python_does_not_bind() -> None:
    text = """from .basics import *
def f(n=defaults.cpus, kind: str = other, *rest, key=None, **options):
    first, second = n, kind
    for each in rest: g(each, free)
    with open(first) as file: g(file, second, key=taken)
    if (size := count(key)) == 1: g(size, options)
    return lambda extra, more=defaults: g(extra, more)
"""
    assert names_of(text, "python", "name") == ["defaults", "other", "free", "taken", "defaults"]
    assert names_of(text.replace(" *\n", " a\n"), "python", "name") == []
