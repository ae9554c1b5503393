"""Checks of the fields of records: the first value that is refused, and the last that is not."""

import time

import pytest

from gitmem.errors import UsageError
from gitmem.memory.bounds import check_count, check_number, check_path, check_text, check_time
from gitmem.memory.conversation import MAX_INDEX, Turn, check_turn


def test_a_text_has_at_most_its_maximum() -> None:
    assert check_text("note", "x" * 5, 5) == "xxxxx"
    for text in ("x" * 6, "", " \n", "\ud800"):
        with pytest.raises(UsageError, match=r"^the note "):
            check_text("note", text, 5)


def test_numbers_are_within_their_range_and_no_truth_values() -> None:
    assert (check_number("confidence", 1.0, 0, 1), check_count("limit", 1, 1, 9)) == (1.0, 1)
    for value in (True, -0.1, 1.1, float("nan")):
        with pytest.raises(UsageError, match="the confidence is "):
            check_number("confidence", value, 0, 1)
    for number in (True, 1.0, "1"):
        with pytest.raises(UsageError, match="the limit is "):
            check_count("limit", number, 1, 9)  # type: ignore[arg-type]


@pytest.mark.parametrize("path", ["../x", "a/../../x", "/etc/passwd", ".", "", "a\nb"])
def test_a_path_outside_the_repository_is_refused(path: str) -> None:
    with pytest.raises(UsageError, match="the path is "):
        check_path("path", path)


def test_a_path_is_stored_as_git_writes_it() -> None:
    assert check_path("path", "./src//app.py/") == "src/app.py"


def test_times_are_utc_and_sort_as_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    assert check_time("time", "2026-01-31T12:00") == "2026-01-31T12:00:00.000000Z"
    assert check_time("time", "2026-01-31T12:00+02:00") == "2026-01-31T10:00:00.000000Z"
    assert check_time("time", "0900-01-01") == "0900-01-01T00:00:00.000000Z" < check_time("time", "1000-01-01")
    monkeypatch.undo()
    time.tzset()


def test_the_number_of_a_turn_fits_into_its_name() -> None:
    turn = Turn("plan", MAX_INDEX, "user", "x", "")
    assert check_turn(turn) == turn
    for number in (-1, MAX_INDEX + 1):
        with pytest.raises(UsageError, match="the turn is "):
            check_turn(turn._replace(number=number))
