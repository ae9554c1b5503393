"""Records of the names of a blob come back as they were packed."""

from hypothesis import given
from hypothesis import strategies as st

from gitmem.store.occurrences import pack_occurrences, unpack_occurrences
from gitmem.types import OCCURRENCE_KINDS, NameColumns

texts = st.text("ab.\n:", max_size=6).map(str.encode)
rows = st.tuples(st.integers(1, 400), st.integers(0, len(OCCURRENCE_KINDS) - 1), texts.filter(bool), texts)


@given(st.lists(rows, min_size=1))
def test_names_and_receivers_come_back_as_one_line(names: list[tuple[int, int, bytes, bytes]]) -> None:
    names.sort(key=lambda each: each[0])
    stored = unpack_occurrences(pack_occurrences(NameColumns(*zip(*names, strict=True))))
    expected = [(line, kind, name.replace(b"\n", b" "), at.replace(b"\n", b" ")) for line, kind, name, at in names]
    assert [tuple(each) for each in stored.at(range(len(stored)))] == expected
