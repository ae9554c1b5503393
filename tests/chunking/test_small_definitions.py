"""Definitions without a body are results of their own: types, events, macros, variables and methods of interfaces."""

import pytest

from gitmem.chunking.chunk import chunk_blob

_SOLIDITY = """\
error Denied(address caller);

contract Vault is Owned {
    type Price is uint128;
    uint256 public constant LIMIT = 10;
    mapping(address => uint256) private _balances;

    event Paid(address indexed by);

    modifier onlyOwner() {
        _;
    }

    function pay() external onlyOwner {
        emit Paid(msg.sender);
    }
}
"""
_ERLANG = """\
-module(cart).

-type item() :: {atom(), integer()}.
-opaque cart() :: [item()].
-define(LIMIT, 10).
-define(is_empty(C), C =:= []).

-callback total(cart()) -> integer().

total(Cart) ->
    length(Cart).
"""
_GLEAM = """\
pub type Cart(item) {
  Cart(items: List(item))
}

@external(erlang, "dict", "dict")
pub type Dict(key, value)

pub type Price =
  Int
"""
_DART = """\
final cartProvider = Provider<Cart>((ref) => Cart());
const List<String> names = [];
late Cart shared;

abstract class Shop {
  /// Opens it.
  Future<void> open(Object key);
  String get name;
  final int limit = 1;
}
"""
_ADA = """\
package Carts is
   procedure Add (C : in out Cart) renames Stores.Add;
   function Total (C : Cart) return Integer;
end Carts;
"""

_BITBAKE = """\
do_install:append() {
    install -d ${D}
}

python do_check () {
    bb.note("checked")
}
"""
_R = """\
#' Keep rows that match a condition
#'
#' @name filter
#' @examples
#' filter(cart, price > 1)
NULL

#' @rdname filter
#' @export
filter <- function(data, ...) UseMethod("filter")

#' Prices of all items.
"prices"

#' @keywords internal
"_PACKAGE"

# Loaded by hand.
"rates"
"""


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        (
            "solidity",
            _SOLIDITY,
            "1-1 type Denied, 3-17 class Vault, 4-4 type Vault.Price, 5-5 property Vault.LIMIT,"
            " 6-6 property Vault._balances, 8-8 type Vault.Paid, 10-12 method Vault.onlyOwner, 14-16 method Vault.pay",
        ),
        (
            "erlang",
            _ERLANG,
            "3-3 type item, 4-4 type cart, 5-5 macro LIMIT, 6-6 macro is_empty, 8-8 function total,"
            " 10-11 function total",
        ),
        ("gleam", _GLEAM, "1-3 type Cart, 5-6 type Dict, 8-9 type Price"),
        (
            "dart",
            _DART,
            "1-1 constant cartProvider, 2-2 constant names, 3-3 constant shared, 5-10 class Shop,"
            " 6-7 method Shop.open, 8-8 method Shop.name",
        ),
        ("bitbake", _BITBAKE, "1-3 function do_install:append, 5-7 function do_check"),
        ("r", _R, "1-6 module filter, 8-10 function filter, 12-13 constant prices"),
        ("ada", _ADA, "2-2 function Carts.Add, 3-3 function Carts.Total"),
    ],
)
def test_small_definitions_are_units(language: str, text: str, expected: str) -> None:
    chunks = chunk_blob(text.encode(), language).chunks
    units = [unit for chunk in chunks for unit in (chunk.units or (chunk,)) if unit.symbol and unit.symbol != "Carts"]
    found = {f"{unit.start_line}-{unit.end_line} {unit.chunk_type} {unit.symbol}" for unit in units}
    assert found == set(expected.split(", "))
