"""Parsing transcripts of sessions into turns."""

import json
from typing import Any

import pytest

from gitmem.errors import UsageError
from gitmem.memory.conversation import MAX_TURN
from gitmem.memory.transcripts import parse_transcript
from gitmem.secrets.refusal import redact_secrets

TIME = "2026-01-31T12:00:00.000Z"


def line(role: str, content: Any, **more: Any) -> str:
    entry = {"type": role, "sessionId": "s-1", "timestamp": TIME, "message": {"role": role, "content": content}}
    return json.dumps({**entry, **more})


def test_consecutive_entries_of_one_side_are_a_turn() -> None:
    turns = parse_transcript(
        [
            json.dumps({"type": "summary", "summary": "old"}),
            line("user", "Fix the cache"),
            line("assistant", [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Looking."}]),
            line("assistant", [{"type": "tool_use", "name": "Bash", "input": {"command": "grep -rn cache src"}}]),
            line("user", [{"type": "tool_result", "content": [{"type": "text", "text": "src/a.py:1: cache"}]}]),
            line("assistant", [{"type": "text", "text": "Done."}]),
            "",
            line("user", "side", isSidechain=True),
            line("user", "meta", isMeta=True),
            line("user", "Thanks"),
        ],
        "x",
    )
    assert [(turn.number, turn.role, turn.content) for turn in turns] == [
        (0, "user", "Fix the cache"),
        (1, "assistant", "Looking.\n\n[Bash: grep -rn cache src]\n\n[result] src/a.py:1: cache\n\nDone."),
        (2, "user", "Thanks"),
    ]
    assert {turn.conversation for turn in turns} == {"s-1"}
    assert turns[0].time == "2026-01-31T12:00:00.000000Z"


def test_output_of_tools_is_shortened_to_its_beginning_and_end() -> None:
    output = "begin" + "x" * 5000 + "the error at the end"
    turns = parse_transcript([line("user", [{"type": "tool_result", "is_error": True, "content": output}])], "x")
    content = turns[0].content
    assert turns[0].role == "assistant"
    assert content.startswith("[error] begin")
    assert content.endswith("the error at the end")
    assert "[... 4,425 characters ...]" in content
    assert len(content) < 700


def test_a_long_turn_is_split_without_loss() -> None:
    text = "word " * 30_000
    turns = parse_transcript([line("user", text)], "x")
    assert [turn.number for turn in turns] == list(range(len(turns)))
    assert all(len(turn.content) <= MAX_TURN for turn in turns)
    assert "".join(turn.content for turn in turns) == text.strip()


def test_a_lone_surrogate_is_replaced() -> None:
    assert parse_transcript([line("user", "a\ud83d")], "x")[0].content == "a?"


@pytest.mark.parametrize(
    ("lines", "message"),
    [(["{}", "{"], "line 2"), (["[]"], "line 1"), ([], "no conversation"), ([line("user", None)], "no conversation")],
)
def test_a_malformed_transcript_is_refused(lines: list[str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse_transcript(lines, "x")


def test_secrets_are_redacted_before_output_is_shortened() -> None:
    key = "\n".join(
        f"MIIEpAIBAAKCAQEA{number:02}qwertyuiopASDFGHJKLzxcvbnm1234567890abcdefghij" for number in range(20)
    )
    output = f"{'y' * 350}\n-----BEGIN RSA PRIVATE KEY-----\n{key}\n-----END RSA PRIVATE KEY-----\n"
    result = [{"type": "tool_result", "content": output}]
    call = [{"type": "tool_use", "name": "Write", "input": {"command": f"{'y' * 150}\n{output}"}}]
    turns = parse_transcript([line("user", result), line("assistant", call)], "x", redact_secrets)
    assert "MIIEpAIBAAKCAQEA" in parse_transcript([line("user", result)], "x")[0].content
    assert "MIIEpAIBAAKCAQEA" not in "".join(turn.content for turn in turns)


def test_a_blank_part_of_a_long_text_is_left_out() -> None:
    turns = parse_transcript([line("user", "a" * MAX_TURN + " " * MAX_TURN + "b")], "x")
    assert [turn.content for turn in turns] == ["a" * MAX_TURN, "b"]


def test_an_invalid_time_is_reported_with_its_line() -> None:
    with pytest.raises(UsageError, match="line 2 of `x`"):
        parse_transcript([line("user", "a"), line("user", "b", timestamp="soon")], "x")


def test_an_entry_without_a_time_gets_that_of_the_one_before() -> None:
    turns = parse_transcript([line("user", "a"), line("assistant", "b", timestamp=None)], "x")
    assert turns[1].time == turns[0].time


@pytest.mark.parametrize(
    ("lines", "title"),
    [
        ([], "Fix the cache"),
        (
            [{"type": "summary", "summary": "Old"}, {"type": "summary", "summary": " Cache\n of views "}],
            "Cache of views",
        ),
        ([{"type": "ai-title", "aiTitle": "Views"}, {"type": "summary", "summary": "Old"}], "Views"),
        ([{"type": "custom-title", "customTitle": "Mine"}, {"type": "ai-title", "aiTitle": "Views"}], "Mine"),
        ([{"type": "summary", "summary": None}, {"type": "ai-title"}], "Fix the cache"),
        ([{"type": "summary", "summary": "x" * 300}], "x" * 200),
    ],
)
def test_the_first_turn_has_the_title_of_the_session(lines: list[dict[str, Any]], title: str) -> None:
    command = "<command-name>/init</command-name>\n"
    turns = parse_transcript([*map(json.dumps, lines), line("user", command + "Fix the cache"), line("user", "x")], "x")
    assert [turn.title for turn in turns] == [title]


def test_a_secret_in_a_title_is_redacted() -> None:
    entry = json.dumps({"type": "summary", "summary": "key AKIAIOSFODNN7EXAMPLQ rotates"})
    (turn,) = parse_transcript([entry, line("user", "Rotate it")], "x", redact_secrets)
    assert "AKIA" not in turn.title
