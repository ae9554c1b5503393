"""Transcripts of sessions become turns."""

import json
from typing import Any

import pytest

from gitmem.errors import UsageError
from gitmem.memory.conversations import MAX_TURN
from gitmem.memory.sessions import parse_session

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
