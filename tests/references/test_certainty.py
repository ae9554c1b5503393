"""Which definitions a name cannot mean: constructors, members that no import brings, and fields."""

from collections.abc import Iterator

import pytest

from gitmem.answering.searcher import Searcher
from tests.references.asking import indexed_files, places

FILES = {
    "src/shop/Parser.java": """package shop;
class Parser {
  Parser(int size) {}
  static Parser make() { return new Parser(1); }
}
""",
    "src/shop/time/Clock.kt": "package shop.time\nclass Clock {\n    fun hour(): Int = 1\n}\n",
    "src/Tool.php": "<?php\nclass Tool { function run() {} }\n",
    "src/use.php": "<?php\nuse Tool;\n$tool = new Tool();\n",
    "c/memory.c": "void free(void *p) {}\nint weigh(int x) { return x; }\n",
    "c/main.c": "int main() { free(0); return weigh(1); }\n",
    "cpp/box.hpp": "struct Box {\n  int put(int x);\n  int put(char *x) { return 1; }\n  void move();\n};\n",
    "cpp/box.cpp": "int Box::put(int x) { return x; }\nint Box::all() { std::move(1); return put(1); }\n",
    "cpp/lid.hpp": "class Lid {\n  int fasten(int x);\n};\nint Lid::fasten(int x) { return x; }\n",
    "cpp/lid.cpp": '#include "lid.hpp"\nint run(Lid lid) { return lid.fasten(1); }\n',
    "py/nested.py": "def outer():\n    def sign_in(x):\n        return x\n    return sign_in(1)\n",
    "py/other.py": "ftp = open_ftp()\nftp.sign_in(2)\n",
    "py/tool.py": "def weigh_tool(x):\n    return x\n",
    "py/tool.pyi": "def weigh_tool(x: int) -> int: ...\n",
    "py/use.py": "from tool import weigh_tool\nweigh_tool(1)\n",
    "zig/file.zig": """pub fn File(comptime x: type) type {
    return struct {
        pub fn initFile(fd: u8) void { return other(fd); }
    };
}
""",
    "zig/use.zig": 'const f = @import("file.zig");\nfn run() void { f.File(u8).initFile(1); }\n',
    "lua/list.lua": "local List = {}\nfunction List:each_of(x)\n  return x\nend\nreturn List\n",
    "lua/use.lua": "each_of(1)\nlocal l = require('list')\nl:each_of(2)\n",
    "haskell/Show.hs": "module Show where\nshow x = x\nweighAll x = x\n",
    "haskell/Use.hs": "module Use where\nrun x = show (weighAll x)\n",
    "cs/Text.cs": "static class Text {\n  public static bool IsNone(this Guid g) { return true; }\n"
    "  public static int Ending(this Image i) { return 1; }\n}\n",
    "cs/UseText.cs": "class UseText {\n  string Path { get; set; }\n"
    "  bool Run() { Path.Ending(); return string.IsNone(1); }\n}\n",
    "swift/Shop.swift": "class Goods {}\nfunc makeGoods() -> Goods { return Goods() }\n"
    "protocol Box {\n  associatedtype Item: Goods\n}\n",
    "jvm/far/Channel.java": "package far;\npublic class Channel {\n  public void shrinkAll() {}\n}\n",
    "jvm/near/One.java": "package near;\nclass One { void run() { open().shrinkAll(); } }\n",
    "jvm/near/Two.java": "package near;\nimport far.Channel;\n"
    "class Two { void run() { open(Channel.class).shrinkAll(); } }\n",
    "php/level.php": "<?php\nnamespace Shop;\nclass Error {}\nfunction strlen($x) {}\n",
    "php/main.php": "<?php\nnamespace Other;\n$a = new \\Error('x');\nstrlen('y');\n",
    "rust/failed.rs": """pub struct Failed { kind: u8 }
impl Failed {
    pub fn kind(&self) -> u8 { self.kind }
    pub fn show(&self, other: Other) -> u8 { other.kind + self.kind() }
}
""",
    "scala/Cart.scala": "class Cart { def total = 1 }\nclass Bill(cart: Cart) { val sum = cart.total }\n",
    "ruby/text.rb": "class Text\n  def escape(s)\n  end\nend\nRegexp.escape('a')\nText.escape('a')\n",
    "elixir/text.ex": "defimpl Inspect, for: Text do\n  def inspect(x, _), do: x\nend\n",
    "elixir/use.ex": "defmodule Use do\n  def run(x) do\n    inspect(x)\n  end\nend\n",
    "rust/sort.rs": "pub fn sort_all() {\n    fn pick_first() {}\n    pick_first();\n}\n",
    "rust/use.rs": "fn use_all() {\n    sort_all();\n    pick_first();\n}\n",
    "julia/entry.jl": "struct Entry end\nfunction Base.push!(e::Entry, x)\nend\nfunction push_all(e, x)\nend\n",
    "julia/use.jl": "push!([], 1)\npush_all([], 1)\n",
    "sol/Base64.sol": "contract Base64 { function encode(bytes memory b) public {} function run() public { _up(); } "
    "function _up() internal virtual {} }\n",
    "sol/Use.sol": "import './Base64.sol';\ncontract Use is Base64 {\n"
    "  function run() public { abi.encode(1); super._up(); }\n}\n",
    "src/shop/Main.kt": "package shop\nimport shop.time.*\nfun run() { hour() }\n",
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searcher]:
    with indexed_files(tmp_path_factory.mktemp("certainty") / "r", FILES) as searcher:
        yield searcher


def test_a_constructor_is_no_second_definition_of_its_class(shop: Searcher) -> None:
    assert places(shop, "Parser", "definitions") == ["src/shop/Parser.java:2"]
    assert places(shop, "Parser", "callers") == ["src/shop/Parser.java:4"]


def test_the_import_of_a_package_brings_no_member_of_its_classes(shop: Searcher) -> None:
    # The bare name may come from elsewhere, which the plus says.
    assert places(shop, "Clock.hour", "callers") == ["src/shop/Main.kt:3+"]


def test_a_class_without_a_namespace_is_imported_by_its_name_alone(shop: Searcher) -> None:
    assert places(shop, "Tool", "callers") == ["src/use.php:3"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("free", ["c/main.c:1+"]),
        ("weigh", ["c/main.c:1"]),
        ("strlen", ["php/main.php:4+"]),
        ("Shop.Error", []),
        ("Box.move", []),
        # The header declares one of the two.
        ("cpp/box.hpp:3", ["cpp/box.cpp:2 2"]),
    ],
)
def test_functions_of_libraries_and_overloads_in_other_files_are_not_certain(
    shop: Searcher, name: str, expected: list[str]
) -> None:
    assert places(shop, "php/level.php:3" if name == "Shop.Error" else name, "callers") == expected


@pytest.mark.parametrize(
    ("name", "definitions", "callers"),
    [
        ("Lid.fasten", ["cpp/lid.hpp:2", "cpp/lid.hpp:4"], ["cpp/lid.cpp:2"]),
        ("weigh_tool", ["py/tool.py:1", "py/tool.pyi:1"], ["py/use.py:2"]),
    ],
)
def test_a_declaration_and_its_definition_are_one_meaning(
    shop: Searcher, name: str, definitions: list[str], callers: list[str]
) -> None:
    assert places(shop, name, "definitions") == definitions
    assert places(shop, name, "callers") == callers


def test_an_import_means_a_declaration_and_its_definition_as_one(shop: Searcher) -> None:
    assert places(shop, "weigh_tool", "importers") == ["py/use.py:1"]


def test_a_field_that_is_read_is_no_method_where_calls_have_brackets(shop: Searcher) -> None:
    # The field and the method have one name. The call means the method, the read the field.
    assert places(shop, "Failed.kind", "definitions") == ["rust/failed.rs:1", "rust/failed.rs:3"]
    assert places(shop, "Failed.kind", "mentions") == ["rust/failed.rs:3"]
    assert places(shop, "Failed.kind", "callers") == ["rust/failed.rs:4"]
    assert places(shop, "Cart.total", "mentions") == ["scala/Cart.scala:2"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        # A class that no file defines, and a function of the library.
        ("Text.escape", ["ruby/text.rb:6", "ruby/text.rb:5+"]),
        ("elixir/text.ex:2", ["elixir/use.ex:3+"]),
        ("julia/entry.jl:2", ["julia/use.jl:1+"]),
        ("push_all", ["julia/use.jl:2"]),
        # A function of Zig may return a type, whose functions others call.
        ("initFile", ["zig/use.zig:2"]),
        # A function behind a table is never called without one.
        ("List.each_of", ["lua/use.lua:3"]),
        ("haskell/Show.hs:2", ["haskell/Use.hs:2+"]),
        ("haskell/Show.hs:3", ["haskell/Use.hs:2"]),
        # A type of the language, and a property that has the name of a class of the library.
        ("Text.IsNone", []),
        ("Text.Ending", ["cs/UseText.cs:3+"]),
        # The type of a result is no name of its function.
        ("Goods", ["swift/Shop.swift:2"]),
        ("sign_in", ["py/nested.py:4", "py/other.py:2+"]),
        # A file that uses a class of another package mostly mentions it.
        ("shrinkAll", ["jvm/near/Two.java:3", "jvm/near/One.java:2+"]),
        # A function inside of another one is known there alone.
        ("rust/sort.rs:2", ["rust/sort.rs:3"]),
        ("sort_all", ["rust/use.rs:2"]),
        # A namespace of the language, and a method of the contract above.
        ("Base64.encode", []),
        ("Base64._up", ["sol/Base64.sol:1", "sol/Use.sol:3"]),
    ],
)
def test_names_of_libraries_and_of_other_functions_are_not_certain(
    shop: Searcher, name: str, expected: list[str]
) -> None:
    assert places(shop, name, "callers") == expected


def test_the_type_of_a_result_is_no_definition(shop: Searcher) -> None:
    assert places(shop, "Goods", "definitions") == ["swift/Shop.swift:1"]
