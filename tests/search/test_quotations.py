"""Which queries may quote code or a message, and where the quotation is."""

import pytest

from gitmem.search.query_parser import parse_query
from gitmem.search.quotations import CODE, MESSAGE, PHRASE, find_quotation


@pytest.mark.parametrize(
    ("query", "text", "form"),
    [
        ("total = add(price, tax)", "total = add(price, tax)", CODE),
        ("`return self.keys[0]`", "return self.keys[0]", CODE),
        ("the key of a session has expired already", "the key of a session has expired already", PHRASE),
        ("KeyError: no key of session 7 for 'ada' here", "no key of session \0 for \0 here", MESSAGE),
        ("error[E0308]: mismatched types", "mismatched types", MESSAGE),
        ("java.lang.IllegalStateException: Ring is empty.", "Ring is empty", MESSAGE),
        ("cannot open /var/keys", "cannot open", MESSAGE),
        ("[2021-03] keys of <'ada'> expired", "keys of <\0> expired", MESSAGE),
    ],
)
def test_code_and_messages_may_be_quotations(query: str, text: str, form: str) -> None:
    quotation = parse_query(query).quotation
    assert quotation is not None
    assert (quotation.text, quotation.form) == (text, form)


@pytest.mark.parametrize(
    "query", ["oneOf keyword", "rotate the keys of Ring", "expired keys", "Ring.rotate", "flush()", "Error: 42"]
)
def test_names_and_a_few_words_quote_nothing(query: str) -> None:
    assert parse_query(query).quotation is None


def test_values_are_no_words_that_the_code_must_have() -> None:
    quotation = find_quotation("KeyError: no keys of session 7 for 'ada' found")
    assert quotation is not None
    assert quotation.terms == {"key", "session", "found"}


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("a = b(c)\n\n    d = e(f)\n", "a = b(c) d = e(f)"),
        ("if (a) {\n  b();\n}\nelse\n{\n  c();\n}", "if (a) { b(); } else { c(); }"),
        ("Keys expire too late\n\nSet `expires` = 3 and wait.\nThey stay.", None),
        ("a = b(c)\n" * 600, None),
    ],
)
def test_a_text_of_several_lines_quotes_code_alone(query: str, text: str | None) -> None:
    quotation = parse_query(query).quotation
    assert (None if quotation is None else quotation.text) == text
    assert quotation is None or quotation.form == CODE


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


@pytest.mark.parametrize(
    ("data", "has"),
    [
        (b"raise KeyError(f'no key of session {number} for {name!r} here')", True),
        (b'log("no key of session " + number + " for " + name + " here")', True),
        (b"fail('no key '\n     f'of session {number} for '\n     f'{name} here')", True),
        (b"# no key of\n# session {} for {} here", True),
        (b"no key of session 1\n for 2 here", False),
        (b"no key of sessions {} for {} here", False),
        (b"no key of session {} here for {}", False),
        (b"no key of session " + b"x" * 300 + b" for {} here", False),
    ],
)
def test_a_message_has_any_values_and_may_be_broken(data: bytes, has: bool) -> None:
    quotation = find_quotation("KeyError: no key of session 7 for 'ada' here")
    assert quotation is not None
    assert quotation.is_in(data, 0, len(data)) == has


@pytest.mark.parametrize("data", [b"a b " * 50_000, b"a" + b" " * 200_000, b"a '" + b"\n" * 200_000, b"a 1 " * 50_000])
def test_hostile_texts_take_no_longer_than_others(data: bytes) -> None:
    quotation = find_quotation("error: a 1 b 2 a 3 b 4 a 5 b 6 word c")
    assert quotation is not None
    assert not quotation.is_in(data, 0, len(data))
