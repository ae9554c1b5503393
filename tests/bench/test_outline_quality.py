"""Which names an outline should show: those in documents and messages, and how an outline is compared with them."""

from collections import Counter

import pytest

from tests.bench.outline_quality import Mentions, compare_outline, is_document, names_in_document, names_in_message


def test_a_message_names_code_in_backticks_and_names_of_several_words() -> None:
    message = (
        "Let JsonReader skip comments\n\nThe method `peek` of the stream failed in do_peek.\n\nSigned-off-by: A_Name"
    )
    assert names_in_message(message) == {"JsonReader", "peek", "do_peek"}


def test_a_document_names_what_is_in_its_code() -> None:
    text = "Call `open` first, not Shop.\n\n```python\nstore = Store()\n```\n\n    indented\n"
    assert names_in_document("guide.md", text) == {"open", "store", "Store"}
    assert names_in_document("guide.rst", text) == {"open", "store", "Store", "indented"}


@pytest.mark.parametrize(("path", "expected"), [("docs/a.md", True), ("CHANGELOG.md", False), ("a.py", False)])
def test_change_logs_and_code_are_no_documents(path: str, expected: bool) -> None:
    assert is_document(path) == expected


def test_a_plain_word_counts_in_messages_alone() -> None:
    mentions = Mentions(Counter({"peek": 3, "ab": 9}), Counter({"peek": 7, "JsonReader": 1}))
    assert [mentions.value(name) for name in ("peek", "JsonReader", "ab", "other")] == [2.0, 1.0, 0.0, 0.0]


def test_an_outline_is_compared_with_the_best_one_of_its_length() -> None:
    values = {("a.py", "Store"): 4.0, ("a.py", "peek"): 2.0, ("b.py", "helper"): 0.0}
    assert compare_outline([("a.py", "Store"), ("b.py", "helper")], values) == pytest.approx(4 / 6)
    # A definition that is shown twice gains nothing the second time.
    assert compare_outline([("a.py", "Store"), ("a.py", "Store")], values) == pytest.approx(4 / 6)
    assert compare_outline([], values) == 0
