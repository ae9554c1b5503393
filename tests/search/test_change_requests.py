"""A query is taken for a request for a change by its form, whatever the code is about."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.search.change_requests import FIRST_WORDS, FORMS, OTHER_WORDS, iter_features, measure_request
from gitmem.search.query_parser import parse_query


@pytest.mark.parametrize(
    "query",
    [
        "Fix the order of middleware",
        "fixed memory leak in parser",
        "Remove unused imports from server.py",
        "parser: don't fail on tabs when strict mode is on",
        "Don't close sockets twice",
        "Add a timeout to the client",
    ],
)
def test_a_message_of_a_commit_is_a_request(query: str) -> None:
    assert measure_request(query) > 0.7


@pytest.mark.parametrize(
    "query",
    [
        "how to add a timeout",
        "where are sockets closed",
        "additional options of the client",
        "timeout and retry handling",
        "Returns the number of rows of a table",
        "parsing a list of arguments",
        "what does add_route do?",
    ],
)
def test_a_question_and_a_description_of_code_are_none(query: str) -> None:
    assert measure_request(query) == 0.0


@pytest.mark.parametrize(
    "query", ["client crashes when the server closes the socket", "group handler to broadcast records"]
)
def test_some_sentences_may_be_either(query: str) -> None:
    assert 0.1 < measure_request(query) < 0.9


@pytest.mark.parametrize("query", ["fix", "fix parser", "add_route", "Remove", "?"])
def test_one_or_two_words_are_a_name(query: str) -> None:
    assert measure_request(query) == 0.0


@pytest.mark.parametrize("query", ["fix tabs in parser\nThey are lost.", "Fix the parser\n\nIt fails on tabs."])
def test_a_text_of_several_lines_is_none(query: str) -> None:
    assert parse_query(query).request == 0.0


def test_the_parser_measures_a_query_without_the_spaces_around_it() -> None:
    assert parse_query("  fix tabs in parser ").request == measure_request("fix tabs in parser") == 1.0


@given(query=st.text(min_size=1).map(str.strip).filter(bool))
def test_the_measure_lies_between_zero_and_one(query: str) -> None:
    assert 0.0 <= measure_request(query) <= 1.0


def test_every_weight_can_be_reached() -> None:
    reached = {
        ("first", next(name for table, name in iter_features(f"{word} b c") if table == "first"))
        for word in FIRST_WORDS
    }
    assert reached == {("first", word) for word in FIRST_WORDS}
    assert {("word", word) for word in OTHER_WORDS} <= set(iter_features(f"b {' '.join(OTHER_WORDS)}"))
    examples = ["parser: b", "added", "adding", "adds", "b_c", "Fix b", "a/b", "?"]
    assert {name for query in examples for table, name in iter_features(query) if table == "form"} == set(FORMS)
