"""Names in functional languages: types, modules and constructors are mentioned, imported and extended."""

import pytest

from gitmem.chunking.chunk import chunk_blob
from gitmem.chunking.occurrence_query import load_patterns
from tests.chunking.names_in_file import names_of

SCALA = """package shop
import cats.kernel.{Order, Semigroup => S, Eq => _}, a.B
import other._
@deprecated("x")
class Cart[A: Monoid](val store: Store) extends Base[A](1) with shop.Saved {
  def add(item: Item): Option[Item] = items combine new Counter[Item](3)
  def all = Helper[Item].of(item).map(_.price)
}
"""
ELIXIR = """defmodule Shop.Cart do
  use Shop.Base, otp: true
  alias Shop.{Item, Price}
  alias Shop.Store, as: S
  @spec add(Item.t()) :: t
  def add(%Item{} = item), do: S.save(item)
end
defimpl Shop.Priced, for: Shop.Cart do
end
"""
ERLANG = """-module(cart).
-behaviour(gen_server).
-spec add(shop:price()) -> #item{}.
add(Item) -> store:save(Item), lists:map(fun total/1, Item#item.price), ?LOG(x).
"""
OCAML = """open Shop
type cart = { items : Item.t list }
module Make (S : Store.KEEPER) = struct include Base let save x = S.put x.price end
let total (x : cart) = List.map Price.round x
let made = Circle 2.0
"""
ELM = """module Shop.Cart exposing (Cart, add)
import Shop.Item as Item exposing (Item, Kind(..), total)
import Html exposing (..)
type alias Cart = { items : List Item }
add : Item -> Cart -> Cart
add item cart = Item.of (total item) |> Item.render
"""
PURESCRIPT = """module Shop.Cart where
import Shop.Item (Item, class Priced, total) as Item
import Data.Map hiding (lookup)
newtype Cart = Cart { items :: Array Item }
add :: Item -> Cart -> Cart
add item cart = helper (Map.insert item cart)
"""
GLEAM = """import shop/item.{type Item, price as cost} as things
pub fn add(item: item.Item) -> Result(Cart, Nil) {
  list.map(items, total(Cart(items: [])))
}
"""


@pytest.mark.parametrize(
    ("language", "text", "kind", "expected"),
    [
        ("scala", SCALA, "base", "Base shop.Saved"),
        ("scala", SCALA, "type", "Monoid Store A Item Option Item Item Item"),
        ("scala", SCALA, "call", "combine Counter Helper ?.of ?.map"),
        ("scala", SCALA, "decorator", "deprecated"),
        ("scala", SCALA, "import", "cats.kernel.Order cats.kernel.Semigroup a.B other.*"),
        ("scala", SCALA, "alias", "cats.kernel:Semigroup.S"),
        ("elixir", ELIXIR, "import", "Shop.Base Shop.Item Shop.Price Shop.Store"),
        ("elixir", ELIXIR, "alias", "Shop:Store.S"),
        ("elixir", ELIXIR, "type", "Item Item S Shop.Cart"),
        ("elixir", ELIXIR, "base", "Shop.Priced"),
        ("erlang", ERLANG, "base", "gen_server"),
        ("erlang", ERLANG, "class", "cart"),
        ("erlang", ERLANG, "type", "shop item store lists item"),
        ("erlang", ERLANG, "call", "shop.price store.save lists.map total LOG"),
        ("erlang", ERLANG, "read", "item.price"),
        ("ocaml", OCAML, "type", "Shop Item Item.t S Store Store.KEEPER S cart List Price"),
        ("ocaml", OCAML, "base", "Base"),
        ("ocaml", OCAML, "call", "S.put List.map Circle"),
        ("ocaml", OCAML, "read", "x.price Price.round"),
        ("elm", ELM, "import", "Shop.Item:.Item Shop.Item.Item Shop.Item.Kind Shop.Item.total Html:.Html Html.*"),
        ("elm", ELM, "alias", "Shop.Item:.Item"),
        ("elm", ELM, "type", "List Item Item Cart Cart"),
        ("elm", ELM, "call", "Item.of total"),
        ("elm", ELM, "read", "Item.render"),
        ("purescript", PURESCRIPT, "class", "Cart"),
        ("purescript", PURESCRIPT, "function", "add"),
        ("purescript", PURESCRIPT, "type", "Array Item Item Cart Cart"),
        ("purescript", PURESCRIPT, "call", "helper Map.insert"),
        ("purescript", PURESCRIPT, "import",
         "Shop.Item:.Item Shop.Item.Item Shop.Item.Priced Shop.Item.total Data.Map:.Map Data.Map.*"),
        ("gleam", GLEAM, "import", "shop/item:.item shop/item.Item shop/item.price"),
        ("gleam", GLEAM, "alias", "shop/item:.things shop/item:price.cost"),
        ("gleam", GLEAM, "type", "item.Item Result Cart Nil"),
        ("gleam", GLEAM, "call", "list.map total Cart"),
    ],
)  # fmt: skip
def test_names_are_found_by_a_walk_and_by_the_compiled_patterns(
    language: str, text: str, kind: str, expected: str
) -> None:
    assert names_of(text, language, kind) == expected.split()
    load_patterns(language)  # from now on the patterns are compiled
    assert names_of(text, language, kind) == expected.split()


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("cuda", "__global__ void add(Vector v) { Matrix m; scale(m); }\n", "Vector Matrix"),
        ("hlsl", "float4 main(VertexInput input) : SV_Target { return shade(input); }\n", "VertexInput"),
        ("apex", "public class Cart extends Base { Item first; }\n", "Base Item"),
        ("v", "fn (c Cart) add(item Item) { helper(x) }\n", "Cart Item"),
    ],
)
def test_types_are_mentioned_in_languages_without_patterns_of_their_own(
    language: str, text: str, expected: str
) -> None:
    found = names_of(text, language, "type", "base")
    assert [name for name in found if name in expected.split()] == expected.split()


def test_the_signature_and_all_equations_of_one_name_in_purescript_are_one_result() -> None:
    text = """module Main where
total :: Array Item -> Number
total [] = 0.0
total items = sum items

class Show a <= Priced a where
  cost :: a -> Number

instance pricedItem :: Priced Item where
  cost item = item.price
"""
    chunks = chunk_blob(text.encode(), "purescript").chunks
    found = [(unit.chunk_type, unit.symbol) for chunk in chunks for unit in (chunk.units or (chunk,)) if unit.symbol]
    assert found == [
        ("function", "total"),
        ("trait", "Priced"),
        ("method", "Priced.cost"),
        ("impl", "pricedItem"),
        ("method", "pricedItem.cost"),
    ]
