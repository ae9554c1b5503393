"""Sizes of messages and answers: estimates are never too low, and limits allow the longest valid message."""

from gitmem.answering.excerpts import Excerpt, hash_content
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


def test_long_content_ends_after_a_whole_line_and_is_read_on() -> None:
    text = "some words of a line\n" * 3000 + "end"
    fields = {"end": len(text), "end_line": 3008, "content_hash": hash_content(text), "start": 0}
    excerpt = Excerpt("file:8-3008", [], 8, text, fields, name="file")
    (item,) = excerpts_json([excerpt], "tree", [])["items"]
    lines = item["content"].count("\n")
    assert 500 < lines < 3000
    assert item["content"] == text[: item["end"]]
    assert item["end_line"] == 7 + lines
    assert item["content_hash"] == hash_content(item["content"])
    assert item["next"] == f"file:{8 + lines}-3008"
    in_repository = excerpts_json([excerpt.in_repository("own")], "tree", [])
    assert in_repository["items"][0]["next"].startswith("own:file:")


def test_spans_of_chunks_take_at_most_half_of_a_message() -> None:
    spans = [(1000 * number, 1000 * number + 1100) for number in range(5000)]
    excerpt = Excerpt("art_1", [], 1, "some words\n" * 90, {"chunk_spans": spans}, name="art_1")
    value = excerpts_json([excerpt], "tree", [])
    (item,) = value["items"]
    assert 300 < len(item["chunk_spans"]) < 5000
    assert item["content"] == "some words\n" * 90
    assert "of 5000; read any chunk as `art_1:NUMBER`" in value["notes"][0]


def test_the_longest_document_or_turn_fits_into_a_message() -> None:
    assert max_message_bytes(parse_toolsets("search,memory")) > 6 * MAX_TURN
    assert max_message_bytes(parse_toolsets("documents")) > 6 * MAX_DOCUMENT
    assert max_message_bytes(parse_toolsets("memory")) < max_message_bytes(parse_toolsets("documents"))
