"""Lines that show places."""

from gitmem.answering.usage_answer import Place
from gitmem.answering.usage_json import place_text


def test_no_part_of_a_place_can_move_the_cursor() -> None:
    place = Place(
        "a\x1b[2J.py", 3, "call", "run\x07", "import", 1, False, 1, "b\x1b.py:1", "", "\x1b[31mrun()", "web\r"
    )

    assert place_text(place, "means b\x1b.py:1") == (
        "web\\r:a\\e[2J.py:3",
        "run\\x07",
        "\\e[31mrun()",
        "(means b\\e.py:1)",
    )


def test_a_place_without_a_remark_has_no_brackets() -> None:
    place = Place("a.py", 3, "call", "", "import", 1, False, 1, "", "", "run()")

    assert place_text(place, "") == ("a.py:3", "", "run()", "")
