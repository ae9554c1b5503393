"""Which queries ask for nothing but a name, and which may be prose."""

import pytest

from gitmem.search.framed_names import find_framed_name
from gitmem.search.query_parser import parse_query


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("`Ring.rotate`", "Ring.rotate"),
        ("Ring.rotate()", "Ring.rotate"),
        ("Ring::rotate(...)", "Ring::rotate"),
        ("flush()", "flush"),
        ("Ring#empty?", "Ring#empty?"),
        ("where is Ring.rotate?", "Ring.rotate"),
        ("where is Ring defined?", "Ring"),
        ("class Ring:", "Ring"),
        ("the Ring class", "Ring"),
        ("def make_response", "make_response"),
        ("make_response implementation", "make_response"),
        ("how does Ring.rotate work", "Ring.rotate"),
        ("rotate method of Ring", "Ring.rotate"),
        ("the `rotate()` method in class `store.Ring`", "store.Ring.rotate"),
        ("def rotate in class Ring", "Ring.rotate"),
        ("Ring's rotate method", "Ring.rotate"),
    ],
)
def test_a_name_is_found_within_words_that_ask_for_it(query: str, name: str) -> None:
    assert find_framed_name(query) == name
    parsed = parse_query(query)
    assert parsed.coded
    assert parsed.text.text == name


@pytest.mark.parametrize(
    "query",
    [
        "flush",
        "rotate the keys",
        "Caching method",  # the capital is that of a sentence
        "how does GraphQL work",
        "OAuth implementation",
        "how Ring.rotate drops old keys",
        "where are Ring and Store defined",
        "the user's password field",
        "the password field of a user",
        "how does client/server work",
        "how does node.js work",
        "what is in package.json",
    ],
)
def test_what_may_be_prose_is_no_name(query: str) -> None:
    assert find_framed_name(query) == ""
    assert parse_query(query).text.text == query


def test_members_are_named_with_their_classes() -> None:
    assert parse_query("how does key_store.Ring.rotate_keys work").named_members == (
        ("keystore", "ring", "rotatekeys"),
    )
    assert parse_query("rotate_keys").named_members == ()
    assert parse_query("how Ring.rotate drops old keys").named_members == ()
