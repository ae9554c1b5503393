"""Documentation is turned into queries that a person might write."""

import pytest

from models.recipe.prose import first_sentences, is_notice, is_query, words_of


@pytest.mark.parametrize(
    ("comment", "name", "query"),
    [
        ("/**\n * Adds two numbers together.\n *\n * @param a the first\n */", "add", "Adds two numbers together."),
        ("// Close closes the connection.\n", "Close", "closes the connection."),
        ("// Closed doors stay closed today.\n", "Close", "Closed doors stay closed today."),
        ("-- | Parses a header line.\n-- Folded lines are joined.", "parse",
         "Parses a header line. Folded lines are joined."),
        ("--[[ Reads the whole file\nat once. ]]", "read", "Reads the whole file at once."),
        ('"""Return the titles.\n\n    Args:\n        url: where\n    """', "titles", "Return the titles."),
        ('~S"""\nSends a response.\n\n    iex> send()\n"""', "send", "Sends a response."),
        (
            '/// <summary>\n/// Gets the <see cref="A.Node"/> at an index.\n/// </summary>\n/// <returns>it</returns>',
            "Get",
            "Gets the Node at an index.",
        ),
        ("/** See {@link Parser} and [the guide](https://a.b/c) `now`. */", "f", "See Parser and the guide now."),
        ("# Reads the config.\n# Merges it into the defaults of the user.", "f",
         "Reads the config. Merges it into the defaults of the user."),
    ],
)  # fmt: skip
def test_a_comment_gives_its_first_sentences_without_markers_and_markup(comment: str, name: str, query: str) -> None:
    assert first_sentences(comment, name) == query


def test_a_long_first_sentence_is_used_alone() -> None:
    first = "Opens the session that every one of the later calls of this module is going to need."
    assert first_sentences(f"// {first} It is closed at exit.", "") == first


@pytest.mark.parametrize(
    "text",
    ["Copyright 2020 by the authors", "eslint-disable no-alert here", "TODO make this faster", "{@inheritDoc}",
     "x = y;", "Deprecated: use other_call instead", "short one",
     "接続を開いてからページの全文を読み込みます。"],
)  # fmt: skip
def test_boilerplate_code_and_other_scripts_are_not_queries(text: str) -> None:
    assert not is_query(text)


def test_prose_about_the_code_is_a_query() -> None:
    assert is_query("Return the global state of the scheduler")


def test_notices_are_distinguished_from_descriptions() -> None:
    assert is_notice("// This file is part of the Example project")
    assert is_notice("#!/bin/sh")
    assert not is_notice("// Walks a tree of folders in order.")


def test_a_qualified_name_becomes_lower_case_words() -> None:
    assert words_of("HTTPServer.close_allNow2") == ["http", "server", "close", "all", "now", "2"]
