"""What a question is taken for decides what is asked of the index."""

import pytest

from gitmem.search.path_roles import path_terms
from gitmem.search.query_parser import parse_query


def test_neighbouring_words_are_also_asked_for_as_one() -> None:
    assert parse_query("path router trees").compounds == ("pathrouter", "routertrees")


def test_words_that_carry_no_subject_are_joined_with_nothing() -> None:
    assert parse_query("how are routes in the table matched").compounds == ("tablematched",)


def test_what_is_a_term_already_is_not_asked_for_twice() -> None:
    assert "signcookie" not in parse_query("sign cookie, or sign_cookie").compounds


def test_a_pasted_page_is_not_joined_word_by_word() -> None:
    assert len(parse_query(" ".join(f"word{number}" for number in range(500))).compounds) < 50


@pytest.mark.parametrize(
    ("question", "bare", "coded"),
    [
        ("rotate_keys", True, True),
        ("KeyRing", True, True),
        ("Ring", True, True),
        ("Ring.rotate", True, True),
        ("ring", True, False),
        ("how are keys rotated", False, False),
        ("where is rotate_keys", False, False),
    ],
)
def test_a_symbol_is_told_from_prose_by_its_spelling(question: str, bare: bool, coded: bool) -> None:
    query = parse_query(question)
    assert (query.bare, query.coded) == (bare, coded)


@pytest.mark.parametrize("path", ["src/routing/mod.rs", "lib/routing/index.ts", "routing/__init__.py"])
def test_a_file_that_stands_for_its_folder_is_called_like_it(path: str) -> None:
    assert path_terms(path).stem == path_terms("routing.py").stem


def test_other_files_and_those_without_a_folder_keep_their_name() -> None:
    assert path_terms("src/routing/table.rs").stem == ("tabl",)
    assert path_terms("main.c").stem == ("main",)
