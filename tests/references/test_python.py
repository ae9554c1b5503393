"""Usages in a small Python package: imports, re-exports, classes, types, aliases and plain names."""

from collections.abc import Iterator

import pytest

from gitmem.answering.searcher import Searcher
from gitmem.errors import UsageError
from tests.references.asking import ask, indexed_files, places

FILES = {
    "shop/__init__.py": "from .cart import Cart as Cart, total\n",
    "shop/cart.py": """from decimal import Decimal

from .base import Base
from .rates import *


class Cart(Base):
    def __init__(self, owner: str):
        self.owner = owner
        self.lines = []

    def add(self, line):
        self.check(line)
        self.lines.append(line)
        return total(self)

    def check(self, line):
        return super().check(Decimal(line))


def total(cart):
    return sum(map(rate, cart.lines))
""",
    "shop/base.py": "class Base:\n    def check(self, line):\n        raise NotImplementedError\n",
    "shop/rates.py": "def rate(line):\n    return 1\n",
    "shop/other.py": "class Ledger:\n    def add(self, entry):\n        return entry\n\n\ndef total():\n    return 0\n",
    "app.py": """import shop
import shop.rates as prices
from shop import Cart, total as sum_up


class BigCart(Cart):
    def add(self, line):
        return super().add(line)


class Till:
    def __init__(self, cart: Cart):
        self.cart = cart

    def ring(self, line):
        self.cart.add(line)
        unknown.add(line)
        return sum_up(self.cart), prices.rate(line), shop.total(self.cart)


def make():
    cart = Cart("me")
    cart.add(1)
    return cart
""",
    "tests/test_app.py": "from app import make\n\n\ndef test_make():\n    assert make().lines == [1]\n",
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searcher]:
    """Index the package once and open it."""
    with indexed_files(tmp_path_factory.mktemp("shop") / "repo", FILES) as searcher:
        yield searcher


def test_a_method_is_found_by_the_class_of_its_object(shop: Searcher) -> None:
    assert places(shop, "Cart.add", "definitions") == ["shop/cart.py:12"]
    # By `super()`, by the annotation of an attribute, by the constructor; then by its name alone.
    assert places(shop, "Cart.add", "callers") == ["app.py:8", "app.py:16", "app.py:23", "app.py:17 3+"]
    assert places(shop, "Ledger.add", "callers") == ["app.py:17 3+"]


def test_functions_are_found_through_re_exports_aliases_modules_and_stars(shop: Searcher) -> None:
    assert places(shop, "shop.cart.total", "callers") == ["shop/cart.py:15", "app.py:18"]
    assert places(shop, "shop.other.total", "callers") == []
    assert places(shop, "rate", "callers") == ["app.py:18"]
    assert places(shop, "shop.cart.total", "importers") == ["shop/__init__.py:1", "app.py:3"]


def test_each_place_says_which_of_several_definitions_it_means(shop: Searcher) -> None:
    definitions, callers = ask(shop, "total").relations
    assert [(place.path, place.symbol) for place in definitions.places] == [
        ("shop/cart.py", "total"),
        ("shop/other.py", "total"),
    ]
    assert {place.target for place in callers.places} == {"shop/cart.py:21"}
    assert callers.places[0].text == "return total(self)"


def test_members_of_the_own_object_come_from_the_class_or_from_above(shop: Searcher) -> None:
    assert places(shop, "Cart.check", "callers") == ["shop/cart.py:13"]
    assert places(shop, "Base.check", "callers") == ["shop/cart.py:18"]


def test_classes_are_followed_down(shop: Searcher) -> None:
    assert places(shop, "Base", "subclasses") == ["shop/cart.py:7"]
    assert places(shop, "Base", "subclasses", depth=2) == ["shop/cart.py:7", "app.py:6"]
    assert places(shop, "Base", "implementers") == ["shop/cart.py:7", "app.py:6"]
    assert places(shop, "Base.check", "implementers") == ["shop/cart.py:17"]


def test_callers_and_callees_are_followed_by_steps(shop: Searcher) -> None:
    assert places(shop, "shop.cart.total", "callers", depth=3) == [
        "shop/cart.py:15", "app.py:18", "app.py:8", "app.py:16", "app.py:23", "app.py:17 3+",
        "tests/test_app.py:5",
    ]  # fmt: skip
    assert places(shop, "shop.cart.total", "tests", depth=3) == ["tests/test_app.py:5"]
    assert places(shop, "Cart.add", "callees") == ["shop/cart.py:17", "shop/cart.py:21"]


def test_a_place_names_the_definition_at_or_around_it(shop: Searcher) -> None:
    for place in ("shop/cart.py:12", "shop/cart.py:14", "shop/cart.py#Cart.add", "shop/cart.py#add"):
        assert ask(shop, place).symbols == ["Cart.add"], place
    for place, message in (("shop/cart.py", "is a whole file"), ("shop/cart.py:1", "no definition at or around")):
        with pytest.raises(UsageError, match=message):
            ask(shop, place)


def test_names_of_libraries_match_as_the_imports_say(shop: Searcher) -> None:
    answer = ask(shop, "decimal.Decimal", "callers", "importers")
    assert [(each.relation, each.total) for each in answer.relations] == [("callers", 1), ("importers", 1)]
    assert "no definition of `decimal.Decimal`" in answer.notes[0]
    assert ask(shop, "fractions.Decimal", "callers", "importers").is_empty
    with pytest.raises(UsageError, match=r"no definition of `Basket\.add`"):
        ask(shop, "Basket.add")
