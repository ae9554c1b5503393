"""Whether a question describes a function or a class."""

import pytest

from gitmem.search.described_kind import CLASS, FUNCTION, UNKNOWN, find_described_kind
from gitmem.search.query_parser import parse_query


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("delete entries that have expired", FUNCTION),
        ("Deletes expired entries", FUNCTION),
        ("validate token", FUNCTION),
        ("run the event loop until it is empty", FUNCTION),
        ("run loop", UNKNOWN),
        ("load balancing", UNKNOWN),
        ("load modules templates settings filters routes plugins themes", FUNCTION),
        ("a pool of connections", CLASS),
        ("base class of all widgets", CLASS),
        ("connection pool", UNKNOWN),
        ("where are sessions stored", UNKNOWN),
        ("how does a task retry", FUNCTION),
        ("404", UNKNOWN),
        ("\u5220\u9664\u4f1a\u8bdd", UNKNOWN),
    ],
)
def test_the_first_word_tells_what_a_question_describes(text: str, kind: int) -> None:
    assert find_described_kind(text, parse_query(text).terms) == kind
