"""The one grammar of locations, for every command and tool."""

import re
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.errors import UsageError
from gitmem.locations import MAX_LINE, LineRange, Location, format_location, parse_location

CHARACTERS = st.one_of(st.sampled_from("ab/.:#L-019 \nä…"), st.characters(exclude_categories=["Cs"]))
PATHS = st.text(CHARACTERS, min_size=1, max_size=20).filter(str.strip)
NUMBERS = st.integers(1, MAX_LINE)
RANGES = st.tuples(NUMBERS, NUMBERS).map(lambda pair: LineRange(min(pair), max(pair)))
BLOBS = st.text(string.digits + "abcdef", min_size=7, max_size=64)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("src/app.py", Location("src/app.py")),
        ("src/app.py:12", Location("src/app.py", LineRange(12, 12))),
        ("src/app.py:12:5", Location("src/app.py", LineRange(12, 12), column=5)),
        ("src/app.py:10-40", Location("src/app.py", LineRange(10, 40))),
        ("src/app.py#L10-L40", Location("src/app.py", LineRange(10, 40))),
        ("src/app.py#L10-40", Location("src/app.py", LineRange(10, 40))),
        ("src/app.py#L12", Location("src/app.py", LineRange(12, 12))),
        ("src/app.py:0012", Location("src/app.py", LineRange(12, 12))),
        ("src/app.py#Handler.get", Location("src/app.py", symbol="Handler.get")),
        ("src/app.cpp#ns::get", Location("src/app.cpp", symbol="ns::get")),
        ("app.js#Foo.#private", Location("app.js", symbol="Foo.#private")),
        ("2ac8988:3", Location(blob="2ac8988", chunk=3)),
        ("2ac8988#L3", Location("2ac8988", LineRange(3, 3))),
        ("2ac8988:3-4", Location("2ac8988", LineRange(3, 4))),
        ("2ac898:3", Location("2ac898", LineRange(3, 3))),
        ("2AC8988:3", Location("2AC8988", LineRange(3, 3))),
        ("a:b.py:3", Location("a:b.py", LineRange(3, 3))),
        ("src/C#/main.cs:3", Location("src/C#/main.cs", LineRange(3, 3))),
        ("#draft#", Location("#draft#")),
        (":12", Location(":12")),
        ("src/app.py:", Location("src/app.py:")),
        ("src/app.py:chunk_3", Location("src/app.py", chunk=3)),
        ("src/app.py:chunk_x", Location("src/app.py:chunk_x")),
    ],
)
def test_each_form_is_parsed(text: str, expected: Location) -> None:
    assert parse_location(text) == expected


@pytest.mark.parametrize(
    ("text", "path", "expected"),
    [
        ("src/C#/main.cs", "src/C#/main.cs", Location("src/C#/main.cs")),
        ("src/C#/main.cs#Main", "src/C#/main.cs", Location("src/C#/main.cs", symbol="Main")),
        ("notes:12", "notes:12", Location("notes:12")),
        ("notes:12:5", "notes:12", Location("notes:12", LineRange(5, 5))),
        ("a#b:12", "a", Location("a", symbol="b:12")),
        ("2ac8988:3", "2ac8988", Location("2ac8988", LineRange(3, 3))),
        ("2ac8988:3", "2ac8988:3", Location("2ac8988:3")),
        ("a#L3", "a#L3", Location("a#L3")),
        ("a:chunk_3", "a:chunk_3", Location("a:chunk_3")),
    ],
)
def test_an_existing_path_decides_between_several_readings(text: str, path: str, expected: Location) -> None:
    assert parse_location(text, path.__eq__) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty location"),
        (" \n", "empty location"),
        ("a.py:0", "line number out of range in `a.py:0`"),
        ("a.py#L0", "line number out of range in `a.py#L0`"),
        ("a.py:1000000000", "line number out of range in `a.py:1000000000`"),
        ("a.py:1-1000000000", "line number out of range in `a.py:1-1000000000`"),
        ("a.py:" + "9" * 5000, "line number out of range in `a.py:999"),
        ("a.py:1:0", "column out of range in `a.py:1:0`"),
        ("a.py:0:1", "line number out of range in `a.py:0:1`"),
        ("a.py:40-10", "last line before the first in `a.py:40-10`"),
        ("2ac8988:1000000000", "chunk number out of range in `2ac8988:1000000000`"),
    ],
)
def test_numbers_that_no_file_has_are_refused(text: str, message: str) -> None:
    with pytest.raises(UsageError) as raised:
        parse_location(text)
    assert raised.value.message.startswith(message)
    assert raised.value.hint


@given(PATHS, RANGES)
def test_lines_of_any_path_are_read_back_as_written(path: str, lines: LineRange) -> None:
    location = Location(path, lines)
    assert parse_location(format_location(location)) == location


@given(PATHS.filter(lambda path: not path[-1].isdigit()), NUMBERS, NUMBERS)
def test_columns_are_read_back_as_written(path: str, line: int, column: int) -> None:
    location = Location(path, LineRange(line, line), column=column)
    assert parse_location(format_location(location)) == location


@given(BLOBS, st.integers(0, MAX_LINE))
def test_chunks_of_any_blob_are_read_back_as_written(blob: str, chunk: int) -> None:
    location = Location(blob=blob, chunk=chunk)
    assert parse_location(format_location(location)) == location


@given(PATHS)
def test_any_existing_path_is_read_back_as_written(path: str) -> None:
    assert parse_location(format_location(Location(path)), path.__eq__) == Location(path)


@given(PATHS, PATHS.map(lambda text: f"s{text}"))
def test_symbols_of_any_existing_path_are_read_back_as_written(path: str, symbol: str) -> None:
    location = Location(path, symbol=symbol)
    assert parse_location(format_location(location), path.__eq__) == location


@given(st.text(CHARACTERS, max_size=40).filter(str.strip))
def test_any_text_is_a_location_or_a_usage_error_that_names_it(text: str) -> None:
    try:
        location = parse_location(text)
    except UsageError:
        with pytest.raises(UsageError, match=re.escape(f"`{text}`")):
            parse_location(text)
    else:
        assert parse_location(format_location(location)) == location
