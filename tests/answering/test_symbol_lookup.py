"""Lookup of a symbol among the chunks of a file; an error lists several candidates."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.answering.symbol_lookup import SymbolChunk, find_symbol
from gitmem.errors import UsageError
from gitmem.locations import LineRange


def chunks_of(*symbols: tuple[str, int, int]) -> list[SymbolChunk]:
    """Return chunks of a file with these symbols and lines."""
    return [SymbolChunk(row, LineRange(first, last), name) for row, (name, first, last) in enumerate(symbols, 10)]


CHUNKS = chunks_of(
    ("", 1, 3),
    ("Handler", 4, 40),
    ("Handler.get", 5, 20),
    ("Handler.get", 21, 30),
    ("Handler.post", 31, 40),
    ("get", 41, 50),
    ("Other.post", 51, 55),
    ("Color.RED, GREEN", 56, 58),
    ("Guide > Install", 60, 70),
    ("main", 71, 80),
    ("main.inner", 75, 76),
    ("main", 81, 90),
    ("setup", 91, 92),
    ("Other.close", 93, 94),
    ("setup", 95, 96),
)


@pytest.mark.parametrize(
    ("symbol", "name", "row", "lines"),
    [
        ("Handler", "Handler", 11, (4, 40)),
        ("Handler.get", "Handler.get", 12, (5, 30)),
        ("Handler::get", "Handler.get", 12, (5, 30)),
        ("get", "get", 15, (41, 50)),
        ("Color.GREEN", "Color.RED, GREEN", 17, (56, 58)),
        ("RED", "Color.RED, GREEN", 17, (56, 58)),
        ("Color.RED, GREEN", "Color.RED, GREEN", 17, (56, 58)),
        ("Install", "Guide > Install", 18, (60, 70)),
        ("main", "main", 19, (71, 90)),
    ],
)
def test_the_full_name_is_preferred_to_the_last_component(
    symbol: str, name: str, row: int, lines: tuple[int, int]
) -> None:
    assert find_symbol("a.py", CHUNKS, symbol) == SymbolChunk(row, LineRange(*lines), name)


def test_several_matches_are_listed_with_their_lines() -> None:
    with pytest.raises(UsageError) as raised:
        find_symbol("a.py", CHUNKS, "post")
    assert raised.value.message == (
        "2 symbols of `a.py` match `post`: `Handler.post` (lines 31-40), `Other.post` (lines 51-55)"
    )
    assert raised.value.hint == "give the full name, or lines: `a.py:31-40`"
    with pytest.raises(UsageError, match=r"2 symbols .*`setup` \(lines 91-92\), `setup` \(lines 95-96\)"):
        find_symbol("a.py", CHUNKS, "setup")


@pytest.mark.parametrize(
    ("symbol", "hint"),
    [("Handler.pots", "did you mean `a.py#Handler.post`?"), ("zzz", "symbols: `Color.GREEN`, ")],
)
def test_an_unknown_symbol_is_rejected_with_a_suggestion(symbol: str, hint: str) -> None:
    with pytest.raises(UsageError, match=f"no symbol `{symbol}` in `a.py`") as raised:
        find_symbol("a.py", CHUNKS, symbol)
    assert raised.value.hint.startswith(hint)


def test_the_hint_for_a_file_without_symbols_suggests_lines() -> None:
    with pytest.raises(UsageError) as raised:
        find_symbol("a.txt", chunks_of(("", 1, 3)), "x")
    assert "name lines: `a.txt:1-40`" in raised.value.hint


@given(st.lists(st.sampled_from(["", "a", "a.b", "c.b", "c, d", "a.b.c", "x > y"]), max_size=8), st.text("abcdxy.>, "))
def test_every_outcome_is_a_chunk_of_the_file_or_a_usage_error(symbols: list[str], symbol: str) -> None:
    chunks = chunks_of(*((name, 10 * place + 1, 10 * place + 9) for place, name in enumerate(symbols)))
    try:
        chunk = find_symbol("a.py", chunks, symbol)
    except UsageError:
        return
    assert chunks[chunk.row - 10].symbol == chunk.symbol
    assert chunks[chunk.row - 10].lines.first == chunk.lines.first <= chunk.lines.last
