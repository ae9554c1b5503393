"""Stop words count if a query means the thing of that name."""

import pytest

from gitmem.search.path_roles import content_terms
from gitmem.search.query_parser import parse_query


@pytest.mark.parametrize(
    ("query", "term"),
    [
        ("how does the find method of a collection work", "find"),
        ("`show` of a figure", "show"),
        ("what does show() return", "show"),
        ("command line option named file for the parser", "file"),
        ("arguments of the class decorator called method", "method"),
    ],
)
def test_a_stop_word_that_is_a_name_is_searched(query: str, term: str) -> None:
    parsed = parse_query(query)
    assert term in parsed.terms
    assert (term,) in parsed.names


@pytest.mark.parametrize("query", ["find the function that parses dates", "show all files with routes"])
def test_a_stop_word_that_describes_code_is_not_searched(query: str) -> None:
    assert not {"find", "function", "show", "file"}.intersection(parse_query(query).terms)
    assert parse_query(query).names == ()


def test_a_file_named_by_a_stop_word_has_a_name() -> None:
    assert content_terms("find") == ("find",)
    assert content_terms("class_loader") == ("loader", "classloader")
