"""Results of a search for similar code, of which several share a row of the index."""

import numpy as np

from gitmem.locations import LineRange
from gitmem.search.hits import Hit
from gitmem.search.similar_units import Original, choose_similar, embed_original
from gitmem.types import ResultUnit
from tests.indexes import HashEncoder
from tests.search.test_unit_choice import CLASS, CODE, FUNCTIONS, SESSION, hit

ENCODER = HashEncoder()


def original(unit: ResultUnit, units: tuple[ResultUnit, ...], *, is_comparable: bool, blob: str = "b" * 40) -> Original:
    lines = LineRange(unit.start_line, unit.end_line)
    data = CLASS if units is SESSION else CODE
    return Original(blob, lines, embed_original(ENCODER, unit.symbol, lines, data, units), is_comparable)


def choose(hits: list[Hit], like: Original, data: bytes = CODE) -> list[Hit]:
    return choose_similar(hits, {one.source: data for one in hits}, ENCODER, like, 10)


def test_each_unit_is_a_result_with_its_own_cosine() -> None:
    for unit in FUNCTIONS:
        found = choose([hit(FUNCTIONS)], original(unit, FUNCTIONS, is_comparable=True, blob="elsewhere"))
        assert sorted(one.symbol for one in found) == sorted(one.symbol for one in FUNCTIONS)
        assert found[0].symbol == unit.symbol
        assert found[0].score > 0.999 > found[1].score > 0
        assert not any(one.units for one in found)


def test_the_original_is_no_result_but_those_of_its_row_are() -> None:
    own = hit(FUNCTIONS, score=1.0)
    for comparable in (True, False):
        found = choose([own], original(FUNCTIONS[1], FUNCTIONS, is_comparable=comparable, blob=own.blob))
        assert {one.symbol for one in found} == {"open_file", "close"}
        assert all(one.score < 0.999 for one in found)


def test_rows_keep_the_order_of_the_model_that_made_their_vectors() -> None:
    rows = [hit(FUNCTIONS, "a.py", 0.8), hit(FUNCTIONS, "b.py", 0.6)]
    found = choose(rows, original(FUNCTIONS[2], FUNCTIONS, is_comparable=False, blob="elsewhere"))
    assert [one.path for one in found] == ["a.py"] * 3 + ["b.py"] * 3
    assert [one.symbol for one in found][::3] == ["close", "close"]


def test_a_class_is_compared_by_the_lines_that_are_not_those_of_its_fields() -> None:
    lines = LineRange(1, 3)
    vector = embed_original(ENCODER, "Session", lines, CLASS, SESSION[:1])
    assert np.dot(vector, embed_original(ENCODER, "Session", lines, CLASS, ())) > 0.999
    alone = original(SESSION[0]._replace(end_line=1), SESSION, is_comparable=True).vector
    assert np.dot(vector, alone) < 0.999
