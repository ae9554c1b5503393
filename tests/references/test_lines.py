"""Usages of a line that declares, imports or mentions a name, of a column, and of names of other files."""

from collections.abc import Iterator

import pytest

from gitmem.answering.searcher import Searcher
from gitmem.errors import UsageError
from tests.references.asking import ask, indexed_files, places

FILES = {
    "c/shop.h": """#ifdef __cplusplus
extern "C" {
#endif
struct shop;
int shop_total(struct shop *name, int size);
extern int shop_limit;
#ifdef __cplusplus
}
#endif
""",
    "c/shop.c": """#include "shop.h"
int shop_limit = 3;
struct shop { int open; struct prompt *prompt; };
int shop_total(struct shop *name, int size) { return shop_limit + size; }
""",
    "c/main.c": """#include "shop.h"
int main(void) {
  return shop_total(0, 1) + shop_limit;
}
""",
    "c/prompt.h": "struct prompt { int size; };\n",
    "c/parse.y": "%%\n%%\nint parse_shop(int a)\n{\n\treturn shop_total(0, a);\n}\n",
    "c/use.c": "int run(void) { return parse_shop(1); }\n",
    "cpp/stack.h": "class Stack {\n  int depth();\n  int size_of_all;\n  int& limit_;\n};\n",
    "cpp/stack.cc": "int Stack::depth() {\n  return size_of_all + limit_;\n}\nStack::Stack() : size_of_all(0) {}\n",
    "c/depth.h": "enum { depth_limit };\nint depth_of(int depth_limit);\n",
    "c/depth.c": "int depth_of(int size) { return size; }\n",
    "go/limits.go": "package shop\n\nconst (\n\tpriceLimit = 3\n\tsizeLimit  = 4\n)\n\ntype Spec int\n",
    "go/run.go": """package shop

type Item struct {
\tSpec Spec
}

func run(sizeLimit int) int {
\tlimits := [priceLimit]int{}
\treturn len(limits) + sizeLimit*priceLimit
}
""",
    "go/run_test.go": "package shop\n\nfunc check(a int) bool {\n\treturn a*2 < sizeLimit\n}\n",
    "kt/Base.kt": "package shop\n\nval basePrice = 3\nopen class Base { val inheritedTax = 1 }\n",
    "kt/Cart.kt": "package shop\n\nclass Cart : Base() {\n    fun total() = basePrice + inheritedTax\n}\n",
    "java/shop/Base.java": "package shop;\nclass Base {\n    protected int inheritedTax = 1;\n}\n",
    "java/shop/Cart.java": "package shop;\nclass Cart extends Base {\n    int total() { return inheritedTax; }\n}\n",
    "cs/Cart.cs": "partial class Cart {\n    private int _rows = 1;\n}\n",
    "cs/Cart.Total.cs": "partial class Cart {\n    int Total() { return _rows * 2; }\n}\n",
    "rb/cart.rb": "class Cart\n  def no_rows?\n    @rows.nil?\n  end\n\n  def close\n    1 if no_rows?\n  end\nend\n",
    "lisp/cart.clj": "(defn make-cart [n] n)\n\n(defn cart [n] n)\n\n(cart (make-cart 1))\n",
    "py/base.py": "RATE = 2\n\n\ndef total(size):\n    return size * RATE\n",
    "py/use.py": "from py.base import total\nfrom py.base import RATE, total as all\nimport os\n\nprint(total(RATE))\n",
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searcher]:
    with indexed_files(tmp_path_factory.mktemp("lines") / "r", FILES) as searcher:
        yield searcher


@pytest.mark.parametrize(
    ("place", "definition"),
    [
        ("c/shop.h:4", "c/shop.c:3"),
        ("c/shop.h:5", "c/shop.c:4"),
        ("c/shop.h:6", "c/shop.c:2"),
        ("c/depth.h:2", "c/depth.c:1"),
        ("c/shop.h:5:23", "c/shop.c:3"),
        ("c/main.c:3:12", "c/shop.c:4"),
        ("c/main.c:3:30", "c/shop.c:2"),
        ("c/main.c:3:37", "c/shop.c:2"),
        ("c/main.c:2:5", "c/main.c:2"),
        ("c/main.c:3", "c/main.c:2"),
        ("py/use.py:1", "py/base.py:4"),
        ("py/use.py:2:21", "py/base.py:1"),
        ("py/use.py:5", "py/base.py:4"),
        ("py/use.py:5:13", "py/base.py:1"),
        ("go/run.go:8:13", "go/limits.go:4"),
        ("rb/cart.rb:7:11", "rb/cart.rb:2"),
        ("rb/cart.rb:2:9", "rb/cart.rb:2"),
        ("lisp/cart.clj:5:13", "lisp/cart.clj:1"),
        ("lisp/cart.clj:5:3", "lisp/cart.clj:3"),
        ("lisp/cart.clj:3:8", "lisp/cart.clj:3"),
    ],
)
def test_a_line_or_column_means_the_definition_of_its_name(shop: Searcher, place: str, definition: str) -> None:
    assert places(shop, place, "definitions") == [definition]


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("py/use.py:3", "no definition at or around `py/use.py:3`"),
        ("py/use.py:2", "`py/use.py:2` has several names"),
        ("py/use.py:3:8", "no definition of the name at `py/use.py:3:8`"),
        ("py/use.py:4:1", "no definition of the name at `py/use.py:4:1`"),
        ("py/use.py:5:99", "no definition of the name at `py/use.py:5:99`"),
        ("py/use.py:99:1", "no definition of the name at `py/use.py:99:1`"),
    ],
)
def test_a_line_without_a_known_name_is_refused(shop: Searcher, place: str, message: str) -> None:
    with pytest.raises(UsageError) as raised:
        ask(shop, place)
    assert raised.value.message == message
    assert raised.value.hint


@pytest.mark.parametrize(
    ("name", "relation", "expected"),
    [
        ("shop_limit", "mentions", "c/shop.c:4 c/main.c:3 c/shop.h:6"),
        ("shop_limit", "definitions", "c/shop.c:2"),
        ("parse_shop", "callers", "c/use.c:1"),
        ("shop_total", "callers", "c/main.c:3 c/parse.y:5"),
        ("c/prompt.h#prompt", "mentions", "c/shop.c:3"),
        ("Stack.size_of_all", "mentions", "cpp/stack.cc:2 cpp/stack.cc:4"),
        ("Stack.limit_", "mentions", "cpp/stack.cc:2"),
        ("priceLimit", "mentions", "go/run.go:8 go/run.go:9"),
        ("sizeLimit", "mentions", "go/run_test.go:4"),
        ("Spec", "mentions", "go/run.go:4"),
        ("basePrice", "mentions", "kt/Cart.kt:4"),
        ("kt/Base.kt#Base.inheritedTax", "mentions", "kt/Cart.kt:4"),
        ("java/shop/Base.java#Base.inheritedTax", "mentions", "java/shop/Cart.java:3"),
        ("_rows", "mentions", "cs/Cart.Total.cs:2"),
    ],
)
def test_bare_names_of_other_files_are_usages(shop: Searcher, name: str, relation: str, expected: str) -> None:
    found = [place.split(" ")[0].removesuffix("+") for place in places(shop, name, relation)]
    assert sorted(found) == sorted(expected.split())
