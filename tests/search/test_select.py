"""Selection: the best chunk of each file first, and no chunk that shows the same lines again."""

import pytest

from gitmem.search.select import COLLAPSED_BYTES, Scored, select


def chunk(position: int, path: str, start: int, end: int, score: float, *, once: bool = False) -> Scored:
    return Scored(position, path, start, end, start + 1, score, once)


def test_each_further_chunk_of_a_file_counts_less_than_the_one_before() -> None:
    candidates = [chunk(number, "a", 10 * number, 10 * number + 10, 1.0) for number in range(3)]
    assert select(candidates, 3, decay=0.5) == [(0, 1.0), (1, 0.5), (2, 0.25)]
    others = [*candidates, chunk(3, "b", 0, 10, 0.4)]
    assert [position for position, _ in select(others, 4, decay=0.5)] == [0, 1, 3, 2]


def test_chunks_that_touch_are_both_shown_and_those_that_overlap_are_not() -> None:
    first = chunk(0, "a", 0, 100, 1.0)
    assert len(select([first, chunk(1, "a", 100, 200, 0.9)], 5)) == 2
    assert len(select([first, chunk(1, "a", 99, 200, 0.9)], 5)) == 1
    assert len(select([first, chunk(1, "a", 50, 60 + COLLAPSED_BYTES, 0.9)], 5)) == 2


@pytest.mark.parametrize("once", [False, True])
def test_a_document_is_one_hit(once: bool) -> None:
    candidates = [chunk(number, "a", 10 * number, 10 * number + 10, 1.0, once=once) for number in range(3)]
    assert len(select(candidates, 3)) == (1 if once else 3)


def test_a_limit_counts_results() -> None:
    assert [position for position, _ in select([chunk(n, f"{n}", 0, 1, 1.0 - n / 10) for n in range(5)], 2)] == [0, 1]
