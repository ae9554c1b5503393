"""Labels keep the symbol and the units of a row, and damage is noticed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.store.labels import label_symbol, pack_label, unpack_units, unpack_whole
from gitmem.types import CHUNK_TYPES, Chunk, DefinitionSpan, ResultUnit

names = st.text(st.characters(exclude_characters="\0\1", exclude_categories=["Cs"]), max_size=12)


def row(start: int, line: int, *units: ResultUnit) -> Chunk:
    return Chunk(start, start + 1, line, line, "function", "", (), units)


sizes = st.integers(0, 70_000)
steps = st.lists(st.tuples(sizes, sizes, sizes, sizes, st.sampled_from(CHUNK_TYPES), names), max_size=6)


@given(names, sizes, sizes, steps)
def test_a_label_is_read_back_as_it_was_packed(
    symbol: str, start: int, line: int, drawn: list[tuple[int, int, int, int, str, str]]
) -> None:
    units = []
    at, number = start, line
    for step, length, below, lines, chunk_type, name in drawn:
        at, number = at + step, number + below
        units.append(ResultUnit(at, at + length, number, number + lines, chunk_type, name))
    label = pack_label(symbol.encode(), row(start, line, *units))
    assert label_symbol(label) == symbol
    assert unpack_units(label, start, line) == tuple(units)
    assert unpack_whole(label, start, line) is None


@given(names, sizes, sizes, sizes, sizes, sizes, sizes)
def test_a_piece_knows_the_whole_definition(
    symbol: str, start: int, before: int, length: int, line: int, below: int, lines: int
) -> None:
    whole = DefinitionSpan(start, start + length, line, line + lines)
    label = pack_label(symbol.encode(), row(start + before, line + below)._replace(whole=whole))
    assert label_symbol(label) == symbol
    assert unpack_whole(label, start + before, line + below) == whole
    assert unpack_units(label, start + before, line + below) == ()


def test_a_unit_of_a_merged_row_takes_about_twenty_bytes() -> None:
    units = [
        ResultUnit(
            200 * number, 200 * number + 180, 9 * number, 9 * number + 8, "method", f"Session.get_value_{number}"
        )
        for number in range(6)
    ]
    assert len(pack_label(b"", row(0, 0, *units))) < 20 * len(units) + len("Session.get_value_")


@pytest.mark.parametrize("end", [0, 1, 3])
def test_a_piece_whose_label_is_cut_off_is_noticed(end: int) -> None:
    label = pack_label(b"A", row(900, 40)._replace(whole=DefinitionSpan(0, 3000, 1, 90)))
    with pytest.raises(ValueError, match="cut off"):
        unpack_whole(label[: 2 + end], 900, 40)


@pytest.mark.parametrize("end", [1, 3, 9])
def test_a_label_that_is_cut_off_is_noticed(end: int) -> None:
    label = pack_label(b"A", row(0, 1, ResultUnit(0, 300, 1, 9, "method", "B.close")))
    with pytest.raises(ValueError, match="cut off"):
        unpack_units(label[: 2 + end], 0, 1)


def test_an_unknown_chunk_type_is_noticed() -> None:
    with pytest.raises(ValueError, match="unknown chunk type 120"):
        unpack_units(b"A\0" + bytes([0, 1, 0, 0, 120, 0, 0]), 0, 1)


@pytest.mark.parametrize("symbol", [b"a\0b", b"a\1b"])
def test_a_separator_in_a_symbol_begins_nothing(symbol: bytes) -> None:
    label = pack_label(symbol, row(0, 1))
    assert label_symbol(label) == "a b"
    assert unpack_units(label, 0, 1) == ()
    assert unpack_whole(label, 0, 1) is None
