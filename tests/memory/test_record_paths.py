"""Paths of records: their order, and ids of documents whose hashes are equal."""

import pytest

from gitmem.errors import UsageError
from gitmem.memory.record_paths import document_ids, parse_id, turn_path


def test_the_names_of_turns_sort_by_number() -> None:
    assert turn_path("plan", 9) < turn_path("plan", 10) < turn_path("plan", 99_999_999)


def test_sources_with_equal_names_end_with_different_ids() -> None:
    one, other = (list(document_ids(*names, b"text")) for names in (("a:b", "c"), ("a", "b:c")))
    assert one[:-1] == other[:-1]
    assert one[-1] != other[-1]
    assert len(one[0]) == len("art_") + 8
    assert one[0] != next(document_ids("a", "", b"text"))


@pytest.mark.parametrize("name", ["conversation:", "mem_0", "art_", "x", "mem_0123456789ab\n"])
def test_what_is_no_id_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="is not the id of a record"):
        parse_id(name)
