"""Who imports a whole file, and which text has its name."""

from collections.abc import Iterator

import pytest

from gitmem.answering.searcher import Searcher
from gitmem.answering.usage_answer import DEFAULT_RELATIONS
from gitmem.errors import UsageError
from tests.references.asking import ask, indexed_files, places

FILES = {
    "shop/__init__.py": "from shop.cart import Cart\n",
    "shop/cart.py": "class Cart:\n    pass\n",
    "shop/deep/use.py": "from .. import cart\nfrom ..cart import (\n    Cart,\n    other,\n)\nimport shop.cart as c\n",
    "other/cart.py": "import shop\n",
    "other/use.py": "import other.cart\nimport cartoon\n",
    "web/money/index.ts": "export const half = 1;\n",
    "web/money/rate.ts": "export const rate = 1;\nexport const tax = 2;\n",
    "web/use.ts": "import { half } from './money';\nimport { rate, tax } from '@money/rate';\n"
    "import x from '@other/money/rate';\n",
    "go.mod": "module example.com/shop\n\ngo 1.21\n",
    "till/till.go": "package till\n\nfunc Open() {}\n",
    "till/print.go": "package till\n",
    "main.go": 'package main\n\nimport "example.com/shop/till"\n\nfunc main() { till.Open() }\n',
    "src/lib.rs": "pub mod stock;\npub mod use_it;\n",
    "src/stock.rs": "pub fn count() {}\n",
    "src/use_it.rs": "use crate::stock::count;\nuse crate::stock;\nuse std::fmt;\n",
    "java/com/shop/Order.java": "package com.shop;\n\npublic class Order {}\n",
    "java/com/app/Main.java": "package com.app;\n\nimport com.shop.Order;\nimport com.shop.Other;\n\nclass Main {}\n",
    "c/ring.h": "int ring_size(void);\n",
    "c/ring.c": '#include "ring.h"\n',
    "c/main.c": '#include "c/ring.h"\n#include "string.h"\n/* see ring.h */\n',
    "d/ring.h": "int other_ring(void);\n",
    "d/own.c": '#include "ring.h"\n',
    "rb/list.rb": "class List\nend\n",
    "rb/use.rb": "require_relative 'list'\nrequire 'listing'\n",
    "CMakeLists.txt": "add_library(ring c/ring.c)\n",
    "docs/guide.md": "# Guide\n\nRead ring.h and money/index.ts, but no index.ts of others.\n",
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searcher]:
    with indexed_files(tmp_path_factory.mktemp("importers") / "shop", FILES) as searcher:
        yield searcher


@pytest.mark.parametrize(
    ("path", "importers"),
    [
        # One line of each module that a file imports, whatever it takes of it.
        ("shop/cart.py", ["shop/__init__.py:1", "shop/deep/use.py:1", "shop/deep/use.py:3", "shop/deep/use.py:6"]),
        ("shop/__init__.py", ["other/cart.py:1"]),
        ("other/cart.py", ["other/use.py:1"]),
        ("web/money/index.ts", ["web/use.ts:1"]),
        ("web/money/rate.ts", ["web/use.ts:2"]),
        ("till/print.go", ["main.go:3"]),
        ("src/stock.rs", ["src/use_it.rs:1", "src/use_it.rs:2"]),
        ("java/com/shop/Order.java", ["java/com/app/Main.java:3"]),
        ("c/ring.h", ["c/main.c:1", "c/ring.c:1", "d/own.c:1"]),
        ("c/ring.c", []),
        ("rb/list.rb", ["rb/use.rb:1"]),
    ],
)
def test_imports_lead_to_a_file(shop: Searcher, path: str, importers: list[str]) -> None:
    assert sorted(places(shop, path, "importers")) == importers


def test_an_import_by_name_alone_says_so(shop: Searcher) -> None:
    (related,) = ask(shop, "c/ring.h", "importers").relations
    assert {f"{place.path} {place.rule}" for place in related.places} == {
        "c/main.c import",
        "c/ring.c import",
        "d/own.c name",
    }
    (related,) = ask(shop, "rb/list.rb", "importers").relations
    assert [place.rule for place in related.places] == ["import"]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("c/ring.h", ["c/main.c:3", "docs/guide.md:3"]),
        ("c/ring.c", ["CMakeLists.txt:1"]),
        ("web/money/index.ts", ["docs/guide.md:3"]),
    ],
)
def test_text_has_the_name_of_a_file(shop: Searcher, path: str, text: list[str]) -> None:
    assert sorted(place.partition(" ")[0] for place in places(shop, path, "text")) == text


def test_a_file_has_two_relations(shop: Searcher) -> None:
    answer = ask(shop, "c/ring.h", *DEFAULT_RELATIONS)
    assert (answer.symbols, [each.relation for each in answer.relations]) == (["c/ring.h"], ["importers", "text"])
    with pytest.raises(UsageError, match=r"`c/ring\.h` is a whole file") as problem:
        ask(shop, "c/ring.h", "callers", "importers")
    assert "add a line or a symbol for others, for example `c/ring.h:1`" in str(problem.value.hint)
