"""Columns of what is known of records."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.errors import DamagedFile
from gitmem.store.format import Container, build_container
from gitmem.store.record_columns import FACTS, Column, fact_sections, has_facts, load_fact

texts = st.lists(st.text(max_size=4), max_size=12)


def stored(columns: dict[str, Column]) -> Container:
    return Container(Path("file"), b"GITMEMRC", b"".join(build_container(b"GITMEMRC", {}, fact_sections(columns))))


def values(column: Column) -> list[str]:
    return [column.text(place) for place in range(len(column.codes))]


@given(texts, texts)
def test_columns_say_what_they_were_made_of(first: list[str], second: list[str]) -> None:
    both = first + second
    joined = Column.of(first).then(Column.of(second))
    assert values(joined) == both
    assert values(joined.take(np.arange(len(both))[::-1])) == both[::-1]
    assert joined.where(lambda text: text > "m").tolist() == [text > "m" for text in both]
    ranks = joined.ranks().tolist()
    assert sorted(range(len(both)), key=ranks.__getitem__) == sorted(range(len(both)), key=both.__getitem__)


@given(texts)
def test_columns_come_back_from_a_file(told: list[str]) -> None:
    container = stored({name: Column.of(told) for name in FACTS})
    assert has_facts(container)
    assert all(values(load_fact(container, name, len(told))) == told for name in FACTS)


def test_a_column_that_does_not_fit_is_damage() -> None:
    container = stored({name: Column.of(["a", "b"]) for name in FACTS})
    with pytest.raises(DamagedFile, match="type"):
        load_fact(container, "type", 3)
    forged = stored({name: Column(np.array([0, 7], np.uint32), ["a"]) for name in FACTS})
    with pytest.raises(DamagedFile, match="stored"):
        load_fact(forged, "stored", 2)
    sections = {**fact_sections({name: Column.of(["a"]) for name in FACTS}), "type_values": b"[[[["}
    broken = Container(Path("file"), b"GITMEMRC", b"".join(build_container(b"GITMEMRC", {}, sections)))
    with pytest.raises(DamagedFile, match="type"):
        load_fact(broken, "type", 1)
