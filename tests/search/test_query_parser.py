"""Parsing a query: terms, compounds, symbols and paths."""

import pytest

from gitmem.search.path_roles import path_names
from gitmem.search.query_parser import parse_query


def test_adjacent_words_are_also_looked_up_as_one() -> None:
    assert parse_query("path router trees").compounds == ("pathrouter", "routertrees")


def test_stop_words_are_never_part_of_a_compound() -> None:
    assert parse_query("how are routes in the table matched").compounds == ("tablematched",)


def test_a_compound_that_is_a_term_already_is_not_repeated() -> None:
    assert "signcookie" not in parse_query("sign cookie, or sign_cookie").compounds


def test_a_pasted_page_has_a_bounded_number_of_compounds() -> None:
    assert len(parse_query(" ".join(f"word{number}" for number in range(500))).compounds) < 50


def test_a_query_of_stop_words_alone_is_looked_up_all_the_same() -> None:
    assert len(parse_query("find all files").terms) == 3
    assert len(parse_query("find all routes").terms) == 1


@pytest.mark.parametrize(
    ("text", "bare", "coded"),
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
def test_spelling_distinguishes_a_symbol_from_prose(text: str, bare: bool, coded: bool) -> None:
    query = parse_query(text)
    assert (query.bare, query.coded) == (bare, coded)


@pytest.mark.parametrize("path", ["src/routing/mod.rs", "lib/routing/index.ts", "routing/__init__.py"])
def test_a_file_that_represents_its_folder_has_its_name(path: str) -> None:
    assert path_names(path).stem == "routing"


def test_other_files_and_files_without_a_folder_keep_their_name() -> None:
    assert path_names("src/routing/table.rs").stem == "table"
    assert path_names("main.c").stem == "main"
