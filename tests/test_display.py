"""Formatting of text and numbers for people."""

import re
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.answering.answer_json import json_path
from gitmem.answering.filter_names import parse_chunk_types, parse_languages
from gitmem.display import count, duration, format_score, hides_text, shares, size, visible, visible_code
from gitmem.errors import UsageError
from gitmem.git.path_encoding import path_text

BIDI = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c"
FILLERS = "\u115f\u1160\u2800\u3164\uffa0"
HIDDEN = "\u200b\u200c\u200d\u2060\ufeff\u00ad\u2028\u2029\U000e0041"


@given(st.text())
def test_visible_text_has_no_unsafe_characters(text: str) -> None:
    escaped = visible(text)
    assert not any(ord(char) < 32 or 0x7F <= ord(char) < 0xA0 or char in BIDI + HIDDEN for char in escaped)
    assert visible(escaped) == escaped
    escaped.encode("utf-8")


@pytest.mark.parametrize(
    "code", [0x34F, 0x115F, 0x1160, 0x3164, 0xFFA0, 0x17B4, 0x180B, 0x2800, 0xFE0F, 0x1D173, 0xE0100, 0xE0FFF]
)
def test_characters_that_fonts_do_not_show_become_escapes_and_are_flagged(code: int) -> None:
    assert visible(f"a{chr(code)}b").isascii()
    assert hides_text(f"a{chr(code)}b")


def test_every_invisible_character_that_python_knows_is_covered() -> None:
    # `unicodedata` has no property for default-ignorable characters, but it has their categories. Format characters
    # of some scripts are visible, such as the Arabic number sign.
    visible_formats = re.compile("ARABIC|SYRIAC|KAITHI|EGYPTIAN")
    for char in map(chr, range(sys.maxunicode + 1)):
        category = unicodedata.category(char)
        if category in ("Cc", "Cs", "Zl", "Zp") or (
            category == "Cf" and not visible_formats.match(unicodedata.name(char))
        ):
            assert visible(char) != char, hex(ord(char))


@pytest.mark.parametrize("text", ["plain", "\ufeffusing System;", "I \u2764\ufe0f git", "naïve 日本語 عربي"])
def test_byte_order_marks_and_emoji_are_not_flagged(text: str) -> None:
    assert not hides_text(text)


@pytest.mark.parametrize("text", ["I \u2764\ufe0f git", "\u26a0\ufe0f.", "\u2139\ufe0f", "\u2194\ufe0e\u26a0\ufe0f"])
def test_emoji_keep_their_style(text: str) -> None:
    assert visible(text) == text


@pytest.mark.parametrize(
    "text", ["\u2764\ufe0f\ufe01\ufe02", "na\xef\ufe0fve", "1\ufe0f", "\ufe0f", "\u2764\ufe0f\u200b"]
)
def test_other_selectors_are_escaped_and_flagged(text: str) -> None:
    assert hides_text(text)
    assert "\\ufe0f" in visible(text)


@given(st.text(alphabet=st.characters(categories=["L", "N", "P", "S"], exclude_characters=FILLERS)))
def test_ordinary_text_is_unchanged(text: str) -> None:
    assert visible(text) == text


def test_tabs_are_preserved_only_in_code() -> None:
    assert visible_code("\tif\x1b[2J") == "\tif\\e[2J"
    assert visible("a\tb\nc\r") == "a\\tb\\nc\\r"


@given(st.binary(min_size=1).filter(lambda path: b"\0" not in path))
def test_json_paths_are_valid_utf8_and_reversible(path: bytes) -> None:
    text = json_path(path_text(path))
    text.encode("utf-8")
    if path.decode("utf-8", "replace").encode() == path:
        assert text == path.decode("utf-8")
    else:
        assert text[0] == text[-1] == '"'
        unquoted = text[1:-1].encode("utf-8").decode("unicode_escape").encode("latin-1")
        assert unquoted == path


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (9949, "9.9 kB"), (12_345, "12 kB"), (999_600, "1.0 MB"),
     (5 * 10**15, "5000 TB")],
)  # fmt: skip
def test_size_formats_bytes(number: int, text: str) -> None:
    assert size(number) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.0961, "96 ms"), (1.34, "1.3 s"), (42.0, "42 s"), (250.0, "4 min 10 s"), (7260.0, "2 h 1 min")],
)
def test_duration_formats_seconds(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_count_and_shares_format_numbers() -> None:
    assert count(1, "file") == "1 file"
    assert count(1914, "chunk") == "1,914 chunks"
    assert shares({"b": 1, "a": 1, "python": 1200, "": 3}) == "python 1,200, text 3, a 1, b 1"


def test_only_a_score_of_zero_is_shown_as_zero() -> None:
    assert [format_score(score) for score in (0, 0.001, 0.006, 0.5)] == ["0.00", "<0.01", "0.01", "0.50"]


def test_languages_are_parsed_by_name_and_extension() -> None:
    assert parse_languages(["Python", "ts", ".rs", "c++", "go"]) == ("python", "typescript", "rust", "cpp", "go")
    with pytest.raises(UsageError, match="unknown language") as caught:
        parse_languages(["rusty"])
    assert "rust" in caught.value.hint
    with pytest.raises(UsageError):
        parse_languages(["..."])


def test_chunk_types_are_parsed_by_name() -> None:
    assert parse_chunk_types(["Function", "class"]) == ("function", "class")
    with pytest.raises(UsageError, match="unknown chunk type"):
        parse_chunk_types([""])
