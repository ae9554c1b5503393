"""Sizes of messages and answers: estimates are never too low, and limits allow the longest valid message."""

from gitmem.answering.excerpts import Excerpt
from gitmem.mcp.tools.excerpts import excerpts_json
from gitmem.mcp.tools.token_estimate import MAX_VALUE_TOKENS, estimate_tokens
from gitmem.mcp.tools.toolsets import max_message_bytes, parse_toolsets
from gitmem.memory.conversation import MAX_TURN
from gitmem.memory.document import MAX_DOCUMENT


def test_parts_of_tokens_count_as_whole_ones() -> None:
    assert [estimate_tokens(text) for text in ("a", "abc", "abcd", "1", "123", "  ", " ", "ä", "+-")] == [
        1, 1, 2, 1, 2, 1, 0, 2, 2,
    ]  # fmt: skip


def test_excerpts_share_one_message() -> None:
    text = "word " * (MAX_VALUE_TOKENS // 4)
    excerpts = [Excerpt(f"file{number}", [text], 1, text, {"number": number}) for number in range(3)]
    values = excerpts_json(excerpts, "tree", ["a note"])
    assert [item["content"] is None for item in values["items"]] == [False, True, True]
    assert len(values["notes"]) == 3


def test_the_longest_document_or_turn_fits_into_a_message() -> None:
    assert max_message_bytes(parse_toolsets("search,memory")) > 6 * MAX_TURN
    assert max_message_bytes(parse_toolsets("documents")) > 6 * MAX_DOCUMENT
    assert max_message_bytes(parse_toolsets("memory")) < max_message_bytes(parse_toolsets("documents"))
