"""The benchmark of conversations reads its data and counts what was found."""

from typing import Any, Final

from tests.bench.conversation_quality import Question, judge, read_pair

SAMPLE: Final[dict[str, Any]] = {
    "conversation": {
        "speaker_a": "Ada",
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [
            {"speaker": "Ada", "dia_id": "D1:1", "text": "Hello"},
            {"speaker": "Bob", "dia_id": "D1:2", "text": "Look", "blip_caption": "a dog"},
        ],
    },
    "qa": [
        {"question": "Which animal?", "evidence": ["D1:2"], "category": 1},
        {"question": "Which car?", "evidence": ["D1:1"], "category": 5},
        {"question": "Why?", "evidence": [], "category": 2},
    ],
}


def test_turns_have_speakers_and_captions_and_questions_have_evidence() -> None:
    pair = read_pair(SAMPLE)
    assert [(name, turn.number, turn.role, turn.content) for name, turn in pair.turns.items()] == [
        ("D1:1", 0, "user", "Ada: Hello"),
        ("D1:2", 1, "assistant", "Bob: Look [picture: a dog]"),
    ]
    assert {turn.time for turn in pair.turns.values()} == {"2023-05-08T13:56:00Z"}
    assert pair.questions == [Question("Which animal?", frozenset({"D1:2"}))]


def test_ten_turns_and_five_sessions_count() -> None:
    question = Question("x", frozenset({"D5:1"}))
    others = [f"D1:{number}" for number in range(1, 11)]
    assert judge(["D5:1"], question) == (True, True)
    assert judge([*others, "D5:1"], question) == (False, True)
    assert judge([f"D{number}:2" for number in (1, 2, 3, 4, 6, 5)], question) == (False, False)
    assert judge([f"D{number}:2" for number in (1, 2, 3, 4, 5)], question) == (False, True)
