"""Cutting long texts into windows."""

import re
from bisect import bisect_left
from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.chunking.chunk_size import OVERLAP_TOKENS, WHOLE_TOKENS, WINDOW_TOKENS
from gitmem.embedding.tokens import TokenCounter
from gitmem.memory.text_breaks import BLOCK, PARAGRAPH, SECTION, TURN, find_breaks
from gitmem.memory.text_windows import cut_windows

COUNTER = TokenCounter()
WORDS = ["alpha beta", "getUserName", "## Heading\n", "\n\n", "😀 ", "한국어 ", "...", "ﷺ", "> q\n", "Ann: hi\n"]
DANGLING = re.compile(r"(?:\A|\n)#+ ?\Z")
PIECES = st.lists(st.tuples(st.sampled_from(WORDS), st.integers(1, 300)), max_size=12)


def tokens_within(starts: list[int], start: int, end: int) -> int:
    return bisect_left(starts, end) - bisect_left(starts, start)


@settings(max_examples=100, deadline=None)
@given(PIECES)
def test_windows_cover_the_text_overlap_and_do_not_nest(pieces: list[tuple[str, int]]) -> None:
    """Property 42: Document chunking."""
    text = "".join((piece + " ") * times for piece, times in pieces)
    starts = COUNTER.starts(text)
    spans = cut_windows(len(text), starts, find_breaks(text))
    if len(starts) <= WHOLE_TOKENS:
        assert spans == ()
        return
    assert spans[0][0] == 0
    assert spans[-1][1] == len(text)
    breaks = {at.offset for at in find_breaks(text)}
    assert all(end in breaks or end in starts for _, end in spans[:-1])
    assert not any(DANGLING.search(text[:end]) for _, end in spans[:-1] if end in breaks)
    most_in_one = max(Counter(starts).values())
    for start, end in spans:
        assert start < end
        assert tokens_within(starts, max(start, starts[0]), end) <= WINDOW_TOKENS
    for (start, end), (following, last) in pairwise(spans):
        assert start < following < end < last
        shared = tokens_within(starts, following, end)
        assert OVERLAP_TOKENS <= shared < OVERLAP_TOKENS + most_in_one
    assert spans == cut_windows(len(text), starts, find_breaks(text))


@given(st.integers(WHOLE_TOKENS + 1, 10_000))
def test_a_text_without_breaks_is_cut_at_full_windows(length: int) -> None:
    starts = list(range(0, 2 * length, 2))
    spans = cut_windows(2 * length, starts, [])
    expected = []
    first = 0
    while first + WINDOW_TOKENS < length:
        expected.append((2 * first, 2 * (first + WINDOW_TOKENS)))
        first += WINDOW_TOKENS - OVERLAP_TOKENS
    assert spans == (*expected, (2 * first, 2 * length))


def test_5400_tokens_are_seven_windows() -> None:
    assert len(cut_windows(5400, range(5400), [])) == 7


def test_1200_tokens_are_not_cut_and_1201_are_two_windows() -> None:
    assert cut_windows(1200, range(1200), []) == ()
    assert cut_windows(1201, range(1201), []) == ((0, 900), (800, 1201))


def test_a_window_ends_before_a_heading_rather_than_a_paragraph() -> None:
    text = "word " * 700 + "\n\npara " + "word " * 50 + "\n\n# Heading\n\n" + "word " * 80 + "\n\n" + "word " * 900
    spans = cut_windows(len(text), COUNTER.starts(text), find_breaks(text))
    assert text[: spans[0][1]].endswith("\n\n")
    assert text[spans[0][1] :].startswith("# Heading")


@pytest.mark.parametrize("mark", ["#", "##", "######", ">"])
def test_a_window_ends_at_the_start_of_the_line_of_its_break(mark: str) -> None:
    text = "".join(f"{'word ' * 70}\n\n{mark} Part {number}\n\n" for number in range(40))
    spans = cut_windows(len(text), COUNTER.starts(text), find_breaks(text))
    assert len(spans) > 2
    assert all(text[:end].endswith("\n") for _, end in spans[:-1])


def test_headings_turns_blocks_and_paragraphs_are_breaks() -> None:
    block = "```sh\n# no heading\n\nAnn: no turn\n```\n"
    text = f"# One\ntext\n\npara\n{block}after\n> quoted\nback\nAnn: hello\nBob (you): hi\n## Two"
    strengths = {text[each.offset :].split("\n")[0]: each.strength for each in find_breaks(text)}
    assert strengths == {
        "para": PARAGRAPH, "```sh": BLOCK, "after": BLOCK, "> quoted": BLOCK, "back": BLOCK,
        "Ann: hello": TURN, "Bob (you): hi": TURN, "## Two": SECTION,
    }  # fmt: skip


@settings(deadline=None)
@given(st.text(max_size=300))
def test_tokens_begin_within_the_text_and_in_order(text: str) -> None:
    starts = COUNTER.starts(text)
    assert starts == sorted(starts)
    assert all(0 <= at < len(text) for at in starts)


def test_a_long_text_has_the_tokens_of_its_parts() -> None:
    text = "word getName(x) = 12\n" * 20_000
    assert len(COUNTER.starts(text)) == 20_000 * len(COUNTER.starts("word getName(x) = 12\n"))
