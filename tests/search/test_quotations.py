"""Which queries may quote code or a message, and where the quotation is."""

import pytest

from gitmem.search.query_parser import parse_query
from gitmem.search.quotations import Quotation, find_quotation


@pytest.mark.parametrize(
    ("query", "quotation"),
    [
        ("total = add(price, tax)", Quotation("total = add(price, tax)", is_code=True)),
        ("class Ring;", Quotation("class Ring;", is_code=True)),
        ("`return self.keys[0]`", Quotation("return self.keys[0]", is_code=True)),
        ("the key of a session has expired already", Quotation("the key of a session has expired already", False)),
        ("oneOf keyword", None),
        ("rotate the keys of Ring", None),
        ("expired keys", None),
        ("Ring.rotate", None),
        ("flush()", None),
    ],
)
def test_code_and_sentences_may_be_quotations(query: str, quotation: Quotation | None) -> None:
    assert parse_query(query).quotation == quotation


def test_a_long_text_quotes_nothing() -> None:
    assert parse_query("a = b(c)\n\nd = e(f)").quotation is None


@pytest.mark.parametrize(
    ("data", "has"),
    [
        (b"x = 1\n\ttotal  =\tadd(price)\n", True),
        (b"x = 1\ntotal =\n    add(price)\n", True),
        (b"x = 1\nsubtotal = add(price)\n", False),
        (b"x = 1\ntotal = Add(price)\n", False),
    ],
)
def test_a_quotation_has_its_words_whole_with_any_space_between_them(data: bytes, has: bool) -> None:
    quotation = find_quotation("total = add(price)")
    assert quotation is not None
    assert quotation.is_in(data, 6, len(data)) == has
    assert not quotation.is_in(data, 14, len(data))
