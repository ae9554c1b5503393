"""Scopes around a line, compared with a search of all scopes."""

from hypothesis import given
from hypothesis import strategies as st

from gitmem.references.scopes import Scope, Scopes, split_name, symbol_names

LINES = st.one_of(st.integers(1, 300), st.integers(1, 20_000))
SCOPES = st.lists(
    st.builds(
        lambda first, size, symbol: Scope(first, first + size, symbol),
        LINES,
        st.one_of(st.integers(0, 150), st.integers(4_000, 9_000)),
        st.sampled_from(["A", "A.b", "A.b.c", "B", "B.b"]),
    ),
    max_size=12,
)


@given(SCOPES, LINES)
def test_the_innermost_scope_is_found_among_many(scopes: list[Scope], line: int) -> None:
    around = [scope for scope in scopes if scope.first <= line <= scope.last]
    around.sort(key=lambda scope: (scope.last - scope.first, -len(scope.symbol)))
    innermost = split_name(around[0].symbol) if around else ()
    assert Scopes(scopes).at(line) == innermost
    holders = [split_name(scope.symbol)[:-1] for scope in around if split_name(scope.symbol)[-1] == "b"]
    assert Scopes(scopes).container("b", line) == (holders[0] if holders else innermost)


def test_a_statement_may_define_several_names_and_a_sentence_is_one() -> None:
    assert symbol_names("Shop.Cart.total, clear") == ["Shop.Cart.total", "Shop.Cart.clear"]
    assert symbol_names("version, widget") == ["version", "widget"]
    assert symbol_names("A.b, C.d") == ["A.b", "C.d"]
    assert symbol_names("reads a, b and c") == ["reads a, b and c"]
    assert symbol_names("") == []
