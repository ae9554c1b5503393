"""Usages in small trees of functional languages: through aliases, imports, and types."""

from collections.abc import Iterator

import pytest

from gitmem.answering.searcher import Searcher
from tests.references.asking import indexed_files, places

FILES = {
    "lib/shop/cart.ex": "defmodule Shop.Cart do\n  def total(cart), do: cart\nend\n",
    "lib/shop/cart/line.ex": "defmodule Shop.Cart.Line do\n  def total(line), do: line\nend\n",
    "lib/shop/bill.ex": """defmodule Shop.Bill do
  use Shop.Priced
  alias Shop.{Cart, Store}
  alias Shop.Cart.Line, as: L
  def whole(cart), do: Cart.total(cart)
  def parts(cart), do: Cart.Line.total(cart)
  def part(%L{} = line), do: L.total(line)
  def other(list), do: Enum.total(list)
end
""",
    "lib/shop/priced.ex": "defmodule Shop.Priced do\n  defmacro __using__(_), do: nil\nend\n",
    "src/main/scala/shop/Store.scala": "package shop\n\ntrait Store { def save(item: Item): Unit }\nobject Store\n",
    "src/main/scala/shop/Item.scala": "package shop\n\ncase class Item(name: String)\n",
    "src/main/scala/app/Files.scala": """package app

import shop.{Item => Thing, Store}
import com.other.Item

class Files extends Store {
  def save(item: Thing): Unit = ()
  def foreign(item: Item): Unit = ()
}
""",
    "elm/Shop/Item.elm": "module Shop.Item exposing (render)\n\nrender item = item\n",
    "elm/Other.elm": "module Other exposing (render)\n\nrender other = other\n",
    "elm/Main.elm": "module Main exposing (main)\n\nimport Shop.Item as Thing\n\nmain = Thing.render 1\n",
    # A module knows its own members without its name.
    "ml/rules.ml": "module rec Inner : S = struct\n  let rec weigh x = lift x\n  and lift x = x\n\n"
    "  let both x = weigh x\nend\n",
    "fs/Rules.fs": "module Rules =\n    let raise x = x + 1\n    let twice x = raise (raise x)\n",
    "jl/rules.jl": "module Rules\nBase.@kwdef struct Scale\n    x::Int\nend\n\nf(s::Scale) = Scale(s.x)\nend\n",
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searcher]:
    with indexed_files(tmp_path_factory.mktemp("functional") / "shop", FILES) as searcher:
        yield searcher


@pytest.mark.parametrize(
    ("name", "relation", "expected"),
    [
        ("Shop.Cart.total", "callers", ["lib/shop/bill.ex:5"]),
        # An alias of a module is also the beginning of the modules below it.
        ("Shop.Cart.Line.total", "callers", ["lib/shop/bill.ex:6", "lib/shop/bill.ex:7"]),
        ("Shop.Priced", "importers", ["lib/shop/bill.ex:2"]),
        ("Store", "subclasses", ["src/main/scala/app/Files.scala:6"]),
        # `Item` there is that of another package.
        ("Item", "mentions", ["src/main/scala/shop/Store.scala:3", "src/main/scala/app/Files.scala:7"]),
        ("elm/Shop/Item.elm#render", "callers", ["elm/Main.elm:5"]),
        ("elm/Other.elm#render", "callers", []),
        ("weigh", "callers", ["ml/rules.ml:5"]),
        ("lift", "callers", ["ml/rules.ml:2"]),
        ("Rules.raise", "callers", ["fs/Rules.fs:3"]),
        ("Scale", "callers", ["jl/rules.jl:6"]),
        ("Scale", "mentions", ["jl/rules.jl:6"]),
    ],
)
def test_usages(shop: Searcher, name: str, relation: str, expected: list[str]) -> None:
    assert sorted(places(shop, name, relation)) == sorted(expected)
