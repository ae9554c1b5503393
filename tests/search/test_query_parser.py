"""Parsing a query: terms, compounds, symbols and paths."""

import subprocess
import sys

import pytest

from gitmem.search.parsed_query import MAX_COMPOUNDS
from gitmem.search.path_roles import path_names
from gitmem.search.query_parser import parse_query
from gitmem.search.text_parser import MAX_NAMES, MAX_TERMS, PART_WEIGHTS, QUOTED_WEIGHT


def test_adjacent_words_are_also_looked_up_as_one() -> None:
    assert parse_query("path router trees").compounds == ("pathrouter", "routertrees")


def test_two_words_that_are_one_are_looked_up_by_its_stem() -> None:
    assert parse_query("the user name").compounds == ("usernam",)


def test_stop_words_are_never_part_of_a_compound() -> None:
    assert parse_query("how are routes in the table matched").compounds == ("tablematched",)


def test_a_compound_that_is_a_term_already_is_not_repeated() -> None:
    assert "signcookie" not in parse_query("sign cookie, or sign_cookie").compounds


def test_a_hyphen_joins_stop_words_too() -> None:
    assert parse_query("the v-for, and sign-in").compounds == ("vfor", "signin")
    assert parse_query("sign in, or - for all").compounds == ()


@pytest.mark.parametrize(
    ("text", "compounds"), [("flask.Flask", ()), ("how flask.Flask starts", ("flaskflask", "flaskstarts"))]
)
def test_the_parts_of_a_qualified_name_are_not_joined(text: str, compounds: tuple[str, ...]) -> None:
    assert parse_query(text).compounds == compounds


def test_a_pasted_page_has_a_bounded_number_of_compounds() -> None:
    assert len(parse_query(" ".join(f"word{number}" for number in range(500))).compounds) < 50
    assert len(parse_query(" ".join(f"word{number}" for number in range(100))).compounds) == MAX_COMPOUNDS


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
        ("where is rotate_keys", True, True),
        ("where rotate_keys drops them", False, False),
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


def test_a_term_of_a_long_text_has_the_weight_of_its_best_part() -> None:
    lines = ["Cookie lost", "", "The session is closed. See `rotate_keys`.", "", "```", "session = load(3)", "```"]
    query = parse_query("\n".join([*lines, "### Versions", "", "signer 1.2"]))
    weights = query.weights
    assert weights["cooki"] == PART_WEIGHTS["title"]
    assert weights["session"] == PART_WEIGHTS["prose"]
    assert weights["load"] == PART_WEIGHTS["code"]
    assert weights["rotat"] == QUOTED_WEIGHT
    assert weights["signer"] == PART_WEIGHTS["environment"]
    assert query.name_weights[("rotate_keys",)] == QUOTED_WEIGHT
    assert query.facets[0].terms == ("cooki", "lost")


def test_a_qualified_name_of_a_long_text_also_counts_without_its_qualifier() -> None:
    query = parse_query("Bars fail\n\nIt happens in `ax.bar` only.\n")
    assert query.name_weights[("ax", "bar")] > query.name_weights[("bar",)] > 0


def test_terms_and_names_of_a_text_of_any_length_are_bounded() -> None:
    query = parse_query("title\n" + "\n".join(f"word{n}x some_name_{n} Some.other{n}" for n in range(800)))
    assert len(query.terms) == MAX_TERMS
    assert len(query.names) == MAX_NAMES


def test_one_line_has_no_weights() -> None:
    query = parse_query("how are `rotate_keys` called")
    assert [*query.weights, *query.name_weights, *query.facets, *query.texts] == []


@pytest.mark.parametrize(
    ("query", "modules"),
    [
        ("how are `keys` rotated in ring.py (since 1.2)", set()),
        ("keys are lost in src/ring.py:12", {"mentions"}),
        ("keys are lost\nand nothing else", {"mentions", "query_parts", "text_parser"}),
    ],
)
def test_the_forms_of_long_texts_are_compiled_only_for_a_query_that_has_them(query: str, modules: set[str]) -> None:
    program = (
        f"import sys; from gitmem.search.query_parser import parse_query; parse_query({query!r}); print(*sys.modules)"
    )
    output = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    lazy = {f"gitmem.search.{name}": name for name in ("mentions", "query_parts", "text_parser")}
    assert {lazy[name] for name in output.split() if name in lazy} == modules
