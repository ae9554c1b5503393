"""Transcripts of sessions become turns."""

import json
from typing import Any

import pytest

from gitmem.errors import UsageError
from gitmem.memory.conversation import MAX_TURN
from gitmem.memory.secrets import leave_out_secrets
from gitmem.memory.transcripts import parse_session

TIME = "2026-01-31T12:00:00.000Z"


def line(role: str, content: Any, **more: Any) -> str:
    entry = {"type": role, "sessionId": "s-1", "timestamp": TIME, "message": {"role": role, "content": content}}
    return json.dumps({**entry, **more})


def test_what_one_side_says_in_a_row_is_a_turn() -> None:
    turns = parse_session(
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


def test_output_of_tools_is_cut_to_its_ends() -> None:
    output = "begin" + "x" * 5000 + "the error at the end"
    turns = parse_session([line("user", [{"type": "tool_result", "is_error": True, "content": output}])], "x")
    told = turns[0].content
    assert turns[0].role == "assistant"
    assert told.startswith("[error] begin")
    assert told.endswith("the error at the end")
    assert "[... 4,425 characters ...]" in told
    assert len(told) < 700


def test_a_long_turn_is_split_and_nothing_of_it_lost() -> None:
    said = "word " * 30_000
    turns = parse_session([line("user", said)], "x")
    assert [turn.number for turn in turns] == list(range(len(turns)))
    assert all(len(turn.content) <= MAX_TURN for turn in turns)
    assert "".join(turn.content for turn in turns) == said.strip()


def test_halves_of_characters_do_no_harm() -> None:
    assert parse_session([line("user", "a\ud83d")], "x")[0].content == "a?"


@pytest.mark.parametrize(
    ("lines", "told"),
    [(["{}", "{"], "line 2"), (["[]"], "line 1"), ([], "no conversation"), ([line("user", None)], "no conversation")],
)
def test_what_is_no_transcript_is_refused(lines: list[str], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        parse_session(lines, "x")


def test_a_secret_is_taken_out_before_anything_is_cut_off() -> None:
    key = "\n".join(
        f"MIIEpAIBAAKCAQEA{number:02}qwertyuiopASDFGHJKLzxcvbnm1234567890abcdefghij" for number in range(20)
    )
    output = f"{'y' * 350}\n-----BEGIN RSA PRIVATE KEY-----\n{key}\n-----END RSA PRIVATE KEY-----\n"
    result = [{"type": "tool_result", "content": output}]
    call = [{"type": "tool_use", "name": "Write", "input": {"command": f"{'y' * 150}\n{output}"}}]
    turns = parse_session([line("user", result), line("assistant", call)], "x", leave_out_secrets)
    assert "MIIEpAIBAAKCAQEA" in parse_session([line("user", result)], "x")[0].content
    assert "MIIEpAIBAAKCAQEA" not in "".join(turn.content for turn in turns)


def test_a_part_that_says_nothing_is_no_turn() -> None:
    turns = parse_session([line("user", "a" * MAX_TURN + " " * MAX_TURN + "b")], "x")
    assert [turn.content for turn in turns] == ["a" * MAX_TURN, "b"]


def test_a_time_that_is_none_is_told_with_its_line() -> None:
    with pytest.raises(UsageError, match="line 2 of `x`"):
        parse_session([line("user", "a"), line("user", "b", timestamp="soon")], "x")


def test_who_has_no_time_has_that_of_the_one_before() -> None:
    turns = parse_session([line("user", "a"), line("assistant", "b", timestamp=None)], "x")
    assert turns[1].time == turns[0].time
