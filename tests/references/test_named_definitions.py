"""Definitions that users name as their code does: with classes, packages, files and folders before the name."""

from collections.abc import Iterator

import pytest

from gitmem.answering.searcher import Searcher
from gitmem.references.named_definitions import find_definitions, read_name
from tests.references.asking import indexed_files

FILES = {
    "core/src/main/java/com/shop/cart/Cart.java": (
        "package com.shop.cart;\n\npublic class Cart {\n  public Cart() {}\n  int total() { return 1; }\n}\n"
    ),
    "core/src/main/java/com/shop/util/List.java": "package com.shop.util;\n\npublic class List {}\n",
    "store.py": "class Store:\n    pass\n",
    "shop/__init__.py": "from .store.base import Store\n",
    "shop/store/base.py": "class Store:\n    def save(self):\n        pass\n",
    "crates/shop-core/src/engine/stack.rs": "pub struct Stack;\n\nimpl Stack {\n    pub fn push(&self) {}\n}\n",
    "crates/shop-core/src/engine/mod.rs": "mod stack;\npub use stack::Stack;\n",
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searcher]:
    with indexed_files(tmp_path_factory.mktemp("named") / "shop", FILES) as searcher:
        yield searcher


@pytest.mark.parametrize(
    ("name", "symbol"),
    [
        ("com.shop.cart.Cart", "Cart"),
        ("com.shop.cart.Cart.total", "Cart.total"),
        ("cart.Cart", "Cart"),
        ("Cart.total", "Cart.total"),
        ("shop.store.base.Store", "Store"),
        ("base.Store.save", "Store.save"),
        ("store.Store", "Store"),  # of the module, before that of a package
        # Packages export what their files define.
        ("shop.Store", "Store"),
        ("shop.Store.save", "Store.save"),
        ("shop_core::engine::Stack", "Stack"),
        ("crate::engine::Stack::push", "Stack.push"),
        # Java has no such exports, so this is another class.
        ("java.util.List", ""),
        ("com.shop.List", ""),
        ("other.Store", ""),
        ("shop.save", ""),  # a member is not what its package exports
        ("store.shop.Store", ""),
    ],
)
def test_a_qualified_name_means_one_definition(shop: Searcher, name: str, symbol: str) -> None:
    qualifiers, own = read_name(shop.names, name)
    found = [each.symbol for each in find_definitions(shop.names, own, qualifiers)]
    assert [each for each in found if each != "Cart.Cart"] == ([symbol] if symbol else [])
