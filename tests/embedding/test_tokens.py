"""Tokens counted word by word have the offsets that the tokenizer's own library finds in the whole text."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from gitmem.embedding.tokens import TokenCounter
from gitmem.paths import bundled

LIBRARY = Tokenizer.from_file(str(bundled("models") / "tokenizer.json"))
COUNTER = TokenCounter()
PIECES = [
    "getHTTPServer2",
    "snake_case",
    "Ünïcode",
    "한국어",
    "word",
    " ",
    "\n",
    "...",
    "-",
    "x" * 150,
    "a1B2",
    "__",
    "ß",
]


def library_starts(text: str) -> list[int]:
    return [start for start, _ in LIBRARY.encode(text, add_special_tokens=False).offsets]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(PIECES) | st.text("abcXYZ019_é한 .", max_size=12), max_size=30).map("".join))
def test_tokens_begin_at_the_offsets_of_the_library(text: str) -> None:
    assert COUNTER.starts(text) == library_starts(text)


@pytest.mark.parametrize("text", ["", "...", "x" * 5000, "getName " * 3000])
def test_empty_texts_long_words_and_many_words(text: str) -> None:
    assert COUNTER.starts(text) == library_starts(text)
