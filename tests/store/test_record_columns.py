"""Dictionary-encoded metadata columns of records."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.errors import DamagedFile
from gitmem.store.format import Buffer, Container, build_container
from gitmem.store.record_columns import RECORD_COLUMNS, Column, column_sections, has_columns, load_column

MAGIC = b"GITMEMRC"

texts = st.lists(st.text(max_size=4), max_size=12)


def make_container(sections: dict[str, Buffer]) -> Container:
    return Container(Path("file"), MAGIC, b"".join(build_container(MAGIC, {}, sections)))


def make_sections(column: Column) -> dict[str, Buffer]:
    """Use one column for every name."""
    return column_sections(dict.fromkeys(RECORD_COLUMNS, column))


def values(column: Column) -> list[str]:
    return [column.text(place) for place in range(len(column.codes))]


@given(texts, texts)
def test_a_column_holds_the_texts_it_was_built_from(first: list[str], second: list[str]) -> None:
    both = first + second
    joined = Column.from_texts(first).join(Column.from_texts(second))
    assert values(joined) == both
    assert values(joined.take(np.arange(len(both))[::-1])) == both[::-1]
    assert joined.select(lambda text: text > "m").tolist() == [text > "m" for text in both]
    ranks = joined.ranks().tolist()
    assert sorted(range(len(both)), key=ranks.__getitem__) == sorted(range(len(both)), key=both.__getitem__)


@given(texts)
def test_columns_survive_a_round_trip_through_a_file(expected: list[str]) -> None:
    container = make_container(make_sections(Column.from_texts(expected)))
    assert has_columns(container)
    assert all(values(load_column(container, name, len(expected))) == expected for name in RECORD_COLUMNS)


def test_a_column_that_does_not_fit_its_records_is_damage() -> None:
    container = make_container(make_sections(Column.from_texts(["a", "b"])))
    with pytest.raises(DamagedFile, match="type"):
        load_column(container, "type", 3)
    forged = make_container(make_sections(Column(np.array([0, 7], np.uint32), ["a"])))
    with pytest.raises(DamagedFile, match="stored"):
        load_column(forged, "stored", 2)
    broken = make_container({**make_sections(Column.from_texts(["a"])), "type_values": b"[[[["})
    with pytest.raises(DamagedFile, match="type"):
        load_column(broken, "type", 1)
