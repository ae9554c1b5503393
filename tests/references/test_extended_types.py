"""Functions that code adds to types of other files or of a library, and constructors without a body."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from gitmem.answering.searcher import Searcher
from tests.references.asking import indexed_files, places

FILES = {
    "kotlin/shop/Buffer.kt": "package shop\nclass Buffer {\n    fun size(): Int = 1\n}\n",
    "kotlin/shop/tools/Buffers.kt": """package shop.tools
import shop.Buffer
fun Buffer.copyAll(): Int = size()
fun StringBuilder.addLine(): Int = 1
""",
    "kotlin/shop/Main.kt": """package shop
import shop.tools.copyAll
import shop.tools.addLine
fun run(buffer: Buffer, text: StringBuilder) {
    buffer.copyAll()
    text.addLine()
}
""",
    "cs/Tools.cs": """static class Tools {
  public static int Weigh(this IEnumerable<int> all) { return 1; }
  public static int Add(this IEnumerable<int> all) { return 1; }
  public static Task FromValue(int value) { return null; }
}
""",
    "cs/Use.cs": """class Use {
  int Run(List<int> all) { all.Add(2); return all.Weigh(); }
  Task Make() { return Task.FromValue(1); }
}
""",
    "rust/tools.rs": "trait Sum { fn sum_all(&self); }\nimpl Sum for Vec<u8> { fn sum_all(&self) {} }\n",
    "rust/use.rs": "fn run(all: Vec<u8>) { all.sum_all(); }\n",
    "lib/cart.dart": """abstract class Cart {
  int weigh();
  int get size;
  final int lines;
  const Cart(this.lines);
  Cart.small() : lines = 1 {
    weigh();
  }
  factory Cart.large() = Large;
}
class Shelf {
  var first = const Cart(2);
  var second = Cart.small();
  var third = Cart(3);
}
extension type Id(int value) {
  bool same(Id other) => true;
}
""",
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searcher]:
    with indexed_files(tmp_path_factory.mktemp("extensions") / "r", FILES) as searcher:
        yield searcher


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        # Of a class of the tree, and of one outside of it.
        ("copyAll", ["kotlin/shop/Main.kt:5"]),
        ("addLine", ["kotlin/shop/Main.kt:6"]),
        ("rust/tools.rs:2", ["rust/use.rs:1"]),
        # The method may be one that the library adds to another type.
        ("Tools.Weigh", ["cs/Use.cs:2+"]),
        # Lists have a method of that name themselves.
        ("Tools.Add", []),
        # `Task` is no class of the tree.
        ("FromValue", ["cs/Use.cs:3+"]),
    ],
)
def test_a_function_is_found_by_the_type_that_it_extends(shop: Searcher, name: str, expected: list[str]) -> None:
    assert places(shop, name, "callers") == expected


def test_an_extension_is_imported_by_its_name(shop: Searcher) -> None:
    assert places(shop, "copyAll", "importers") == ["kotlin/shop/Main.kt:2"]


@pytest.mark.parametrize(
    ("name", "definitions", "callers"),
    [
        ("Cart", ["lib/cart.dart:1"], ["lib/cart.dart:12", "lib/cart.dart:14"]),
        ("Cart.small", ["lib/cart.dart:6"], ["lib/cart.dart:13"]),
        ("Cart.large", ["lib/cart.dart:9"], []),
        ("Cart.weigh", ["lib/cart.dart:2"], ["lib/cart.dart:7"]),
        ("Cart.size", ["lib/cart.dart:3"], []),
        ("Cart.lines", ["lib/cart.dart:4"], []),
        ("Shelf.second", ["lib/cart.dart:13"], []),
        ("Id.same", ["lib/cart.dart:17"], []),
    ],
)
def test_constructors_and_members_of_dart_need_no_body(
    shop: Searcher, name: str, definitions: list[str], callers: list[str]
) -> None:
    assert places(shop, name, "definitions") == definitions
    assert places(shop, name, "callers") == callers


STANDARD = {
    "src/point.h": "struct Point {};\nnamespace std {\nvoid swap(Point& a, Point& b) {}\n}\n",
    "src/use.cc": "#include <utility>\nvoid run(int a, int b) { std::swap(a, b); }\n",
}


def test_what_a_tree_adds_to_the_namespace_of_a_library_is_not_all_of_it(tmp_path: Path) -> None:
    with indexed_files(tmp_path, STANDARD) as tree:
        assert places(tree, "std.swap", "callers") == []
