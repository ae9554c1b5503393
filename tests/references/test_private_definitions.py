"""Definitions that one class, file or module alone knows are meant by no other file."""

from collections.abc import Iterator

import pytest

from gitmem.answering.searcher import Searcher
from tests.references.asking import indexed_files, places

FILES = {
    # The type of a function may have a line of its own.
    "c/one.c": "static int\nmeasure(int x) { return x; }\nint run_one(void) { return measure(1); }\n",
    "c/two.c": "int measure(int x) { return -x; }\n",
    "c/main.c": "int main(void) { return measure(2); }\n",
    "c/whole.c": '#include "one.c"\nint whole(void) { return measure(3); }\n',
    "c/tools.h": "static inline int weigh_it(int x) { return x; }\n",
    "c/use.c": '#include "tools.h"\nint use(void) { return weigh_it(1); }\n',
    # A static member is known outside of its class.
    "cpp/shelf.hpp": "class Shelf {\n public:\n  static int count_all() { return 1; }\n};\n",
    "cpp/use.cpp": '#include "shelf.hpp"\nint use() { return Shelf::count_all(); }\n',
    "java/A.java": "class A { private int hide(int x) { return x; } int shown() { return hide(1); } }\n",
    "java/B.java": "class B { int hide(int x) { return -x; } }\n",
    "java/Use.java": "class Use { int run(Object o) { return find().hide(2); } }\n",
    "cs/Part.One.cs": "partial class Part { private int Fold(int x) { return x; } }\n",
    "cs/Part.Two.cs": "partial class Part { int Run() { return Fold(1); } }\n",
    "cs/Other.cs": "class Other { int Run(dynamic d) { return Make().Fold(2); } }\n",
    "kotlin/Tools.kt": "private fun Tool.sharpen(): Int = 1\nfun use(tool: Tool) = tool.sharpen()\n",
    "kotlin/Use.kt": "fun run(tool: Tool) = tool.sharpen()\n",
    "rust/src/deep/mod.rs": "mod low;\nfn helper() {}\nimpl Load for Deep { fn load_it(&self) { helper(); } }\n",
    "rust/src/deep/low.rs": "use super::helper;\nfn run(deep: Deep) { helper(); deep.load_it(); }\n",
    "rust/src/other.rs": "fn run(deep: Deep) { helper(); deep.load_it(); }\n",
    "ts/shop.ts": "export class Shop {\n  private close(): void {}\n  constructor(private tool: Tool) {}\n}\n",
    "dart/one.dart": "int _pick(int x) => x;\nint one() => _pick(1);\n",
    "dart/two.dart": "int two() => _pick(1);\n",
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searcher]:
    with indexed_files(tmp_path_factory.mktemp("private") / "r", FILES) as searcher:
        yield searcher


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ("c/one.c:2", ["c/one.c:3", "c/whole.c:2 2"]),
        ("c/two.c:1", ["c/main.c:1", "c/whole.c:2 2"]),
        ("weigh_it", ["c/use.c:2"]),
        ("Shelf.count_all", ["cpp/use.cpp:2"]),
        ("A.hide", ["java/A.java:1"]),
        ("B.hide", ["java/Use.java:1"]),
        ("Part.Fold", ["cs/Part.Two.cs:1"]),
        ("sharpen", ["kotlin/Tools.kt:2"]),
        ("rust/src/deep/mod.rs:2", ["rust/src/deep/low.rs:2", "rust/src/deep/mod.rs:3"]),
        # A method of a trait is as public as this.
        ("load_it", ["rust/src/deep/low.rs:2", "rust/src/other.rs:1"]),
        ("_pick", ["dart/one.dart:2"]),
    ],
)
def test_other_files_do_not_call_it(shop: Searcher, place: str, expected: list[str]) -> None:
    assert places(shop, place, "callers") == expected


def test_a_private_definition_is_found_by_its_name(shop: Searcher) -> None:
    assert places(shop, "Shop.close", "definitions") == ["ts/shop.ts:2"]
    assert places(shop, "measure", "definitions") == ["c/one.c:2", "c/two.c:1"]
