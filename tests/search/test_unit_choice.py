"""Which unit represents a row that several share."""

import numpy as np
import pytest

from gitmem.embedding.bundled import BundledEncoder
from gitmem.locations import format_location
from gitmem.search.hits import Hit
from gitmem.search.parsed_query import Literal
from gitmem.search.query_parser import parse_query
from gitmem.search.quotations import MESSAGE, Quotation
from gitmem.search.unit_choice import choose_units
from gitmem.search.unit_meaning import QueryMeaning
from gitmem.types import ResultUnit

CODE = b"""\
def open_file(path):
    return handle_of(path)
def flush(path):
    buffer.write_all(path)
def close(path):
    return release(path)
"""
CLASS = b"""\
class Session:
    timeout = 5
    retries = 3
"""


def unit(data: bytes, first: int, last: int, chunk_type: str, symbol: str) -> ResultUnit:
    lines = data.splitlines(keepends=True)
    start = len(b"".join(lines[: first - 1]))
    return ResultUnit(start, start + len(b"".join(lines[first - 1 : last])), first, last, chunk_type, symbol)


FUNCTIONS = tuple(
    unit(CODE, first, first + 1, "function", name) for first, name in ((1, "open_file"), (3, "flush"), (5, "close"))
)
SESSION = (
    unit(CLASS, 1, 3, "class", "Session"),
    unit(CLASS, 2, 2, "field", "Session.timeout"),
    unit(CLASS, 3, 3, "field", "Session.retries"),
)


def hit(units: tuple[ResultUnit, ...], path: str = "a.py", score: float = 0.5) -> Hit:
    last = max((unit.end for unit in units), default=0)
    lines = max((unit.end_line for unit in units), default=0)
    return Hit(path, 0, last, 1, lines, "function", "all", "python", path, 0, score, {}, (), units)


def chosen(units: tuple[ResultUnit, ...], data: bytes, terms: str, limit: int = 1) -> list[tuple[str, int, int]]:
    hits = choose_units([hit(units)], {("a.py", "python"): data}, terms.split(), limit)
    assert not any(each.units for each in hits)
    return [(each.symbol, each.start_line, each.end_line) for each in hits]


def test_the_unit_whose_name_has_the_terms_represents_the_row() -> None:
    assert chosen(FUNCTIONS, CODE, "clos path") == [("close", 5, 6)]


def test_the_unit_whose_lines_have_the_terms_represents_the_row() -> None:
    assert chosen(FUNCTIONS, CODE, "writ buffer") == [("flush", 3, 4)]


def test_without_a_match_the_first_unit_represents_the_row() -> None:
    assert chosen(FUNCTIONS, CODE, "unrelated") == [("open_file", 1, 2)]


def test_further_units_with_a_term_fill_the_list_in_order() -> None:
    assert [name for name, _, _ in chosen(FUNCTIONS, CODE, "clos path", 10)] == ["close", "open_file", "flush"]
    assert len(chosen(FUNCTIONS, CODE, "clos path", 2)) == 2


def test_units_without_a_term_do_not_fill_the_list() -> None:
    assert chosen(FUNCTIONS, CODE, "buffer", 10) == [("flush", 3, 4)]


def test_scores_never_rise_and_other_rows_come_before_further_units() -> None:
    other = CODE.replace(b"handle_of", b"lookup_in").replace(b"write_all", b"write_too").replace(b"release", b"relieve")
    data = {("a.py", "python"): CODE, ("b.py", "python"): other}
    hits = choose_units([hit(FUNCTIONS), hit(FUNCTIONS, "b.py", 0.001)], data, ["path"], 10)
    assert [each.path for each in hits[:2]] == ["a.py", "b.py"]
    scores = [each.score for each in hits]
    assert scores == sorted(scores, reverse=True)
    assert len(hits) == 6


def test_a_class_represents_its_fields_unless_the_query_is_the_name_of_one() -> None:
    assert chosen(SESSION, CLASS, "session timeout", 10) == [("Session", 1, 3)]
    assert chosen(SESSION, CLASS, "timeout", 10) == [("Session.timeout", 2, 2)]


def test_a_member_that_the_query_names_precedes_its_class_and_the_others() -> None:
    def shown(*names: tuple[str, ...]) -> str:
        texts, terms = {("a.py", "python"): CLASS}, ["session", "retri"]
        return choose_units([hit(SESSION)], texts, terms, 1, literal=Literal(names))[0].symbol

    assert shown() == "Session"
    assert shown(("session", "retries")) == "Session.retries"
    assert shown(("ring", "retries")) == "Session"


def test_the_smallest_unit_with_a_quotation_precedes_the_others() -> None:
    def shown(text: str) -> str:
        literal = Literal(quotation=Quotation(text, MESSAGE, frozenset()))
        return choose_units([hit(SESSION)], {("a.py", "python"): CLASS}, ["timeout"], 1, literal=literal)[0].symbol

    assert shown("retries = 3") == "Session.retries"
    assert shown("class Session:") == "Session"
    assert shown("retries = 4") == "Session.timeout"


def test_a_blob_that_cannot_be_read_still_has_a_unit_by_name() -> None:
    assert chosen(FUNCTIONS, b"", "clos") == [("close", 5, 6)]


def meant(text: str, code: bytes = CODE, names: tuple[str, ...] = ("open_file", "flush", "close")) -> str:
    """Return the function of some code that is shown for a query by its meaning. Each has two lines."""
    encoder, query = BundledEncoder(), parse_query(text)
    meaning = QueryMeaning(query, {}, encoder.encode_query(query.text), encoder, is_comparable=True)
    units = tuple(unit(code, 1 + 2 * place, 2 + 2 * place, "function", name) for place, name in enumerate(names))
    row = hit(units)._replace(scores={"semantic": 0.5, "lexical": 0.0})
    [shown] = choose_units([row], {("a.py", "python"): code}, query.terms, 1, meaning)
    return shown.symbol


def test_units_of_a_row_are_chosen_by_their_own_vectors() -> None:
    assert meant("free the resource") == "close"
    assert chosen(FUNCTIONS, CODE, "free the resource") == [("open_file", 1, 2)]
    numbered = CODE.replace(b"open_file", b"one").replace(b"flush", b"two").replace(b"close", b"three")
    texts = ("get a handle", "fill the buffer", "free the resource")
    assert [meant(text, numbered, ("one", "two", "three")) for text in texts] == ["one", "two", "three"]


@pytest.mark.parametrize(
    ("text", "request_share", "symbol"),
    [
        ("rotates the keys of all sessions that are older than one day", 0.0, "Ring"),
        ("rotates the keys of all sessions that are older than one day", 1.0, "Ring.load"),
        ("Keys of old sessions stay\n\nThey should rotate when a day is over, but they do not.", 0.0, "Ring.load"),
    ],
)
def test_a_question_shows_the_class_and_a_request_for_a_change_its_method(
    text: str, request_share: float, symbol: str
) -> None:
    code = b"class Ring:\n    def load():\n" + b"        run(1)\n" * 70
    rows = [("class", "Ring", 0.5, (1, 72)), ("method", "Ring.load", 0.5, (2, 72))]
    assert shown_of(code, rows, text, request_share) == symbol


def test_a_request_for_a_change_shows_the_longer_of_two_functions() -> None:
    code = b"def pick():\n" + b"    return %d\n" % 10**90 + b"def load():\n" + b"    run(1)\n" * 70
    functions = [("function", "pick", 0.58, (1, 2)), ("function", "load", 0.5, (3, 73))]
    text = "items of many pages that some other reader has loaded before this server started"
    assert [shown_of(code, functions, text, share) for share in (0.0, 1.0)] == ["pick", "load"]


def shown_of(code: bytes, rows: list[tuple[str, str, float, tuple[int, int]]], text: str, request: float) -> str:
    """Return the definition that is shown if each has a row with a cosine; names mean nothing."""
    best, *others = (
        hit(())._replace(
            **unit(code, *lines, chunk_type, symbol)._asdict(),
            chunk=chunk,
            scores={"semantic": cosine, "lexical": 0.0},
        )
        for chunk, (chunk_type, symbol, cosine, lines) in enumerate(rows)
    )
    encoder, query = BundledEncoder(), parse_query(text)
    query = query._replace(request=request)
    meaning = QueryMeaning(query, {}, np.zeros(encoder.dimensions, np.float32), encoder, is_comparable=True)
    row = best._replace(others=tuple(others))
    [shown] = choose_units([row], {("a.py", "python"): code}, query.terms, 1, meaning)
    return shown.symbol


@pytest.mark.parametrize(
    ("text", "symbol"),
    [
        ("feed items", "load"),
        ("feed items of many pages that some other reader has loaded before this server started", "pick"),
    ],
)
def test_a_topic_shows_what_does_the_work_instead_of_a_helper(text: str, symbol: str) -> None:
    code = b"def pick():\n" + b"    return %d\n" % 10**90 + b"def load():\n" + b"    run(1)\n" * 70
    functions = [("function", "pick", 0.58, (1, 2)), ("function", "load", 0.5, (3, 73))]
    assert shown_of(code, functions, text, 0.0) == symbol


def test_a_twin_of_a_file_is_a_copy_whatever_definition_is_shown() -> None:
    first, second = (b"".join(b"    %s_%d()\n" % (name, line) for line in range(9)) for name in (b"write", b"free"))
    text = b"def flush():\n" + first + b"def close():\n" + second
    own, other = unit(text, 1, 10, "function", "flush"), unit(text, 11, 20, "function", "close")

    def rows(path: str) -> Hit:
        best, next_one = (
            hit((), path)._replace(**each._asdict(), chunk=chunk, scores={"semantic": cosine, "lexical": 0.0})
            for chunk, (each, cosine) in enumerate(((own, 0.1), (other, 0.9)))
        )
        return best._replace(others=(next_one,))

    encoder, query = BundledEncoder(), parse_query("give the memory back")
    meaning = QueryMeaning(query, {}, encoder.encode_query(query.text), encoder, is_comparable=True)
    texts = {(path, "python"): text for path in ("a.py", "b.py")}
    [shown] = choose_units([rows("a.py"), rows("b.py")], texts, query.terms, 9, meaning)
    assert (shown.path, shown.symbol, shown.score) == ("a.py", "close", 0.5)
    assert list(map(format_location, shown.copies)) == ["b.py:11-20"]


def copies_of(first: bytes, second: bytes, chunk_type: str = "function") -> list[list[str]]:
    """Return path and copies of each result, if two files define `flush` by these texts."""
    hits = [
        hit((unit(data, 1, data.count(b"\n"), chunk_type, "flush"),), path)
        for path, data in (("a.py", first), ("b.py", second))
    ]
    texts = {("a.py", "python"): first, ("b.py", "python"): second}
    return [[each.path, *map(format_location, each.copies)] for each in choose_units(hits, texts, ["flush"], 9)]


def test_definitions_of_one_name_with_nearly_the_same_lines_are_one_result() -> None:
    text = b"def flush():\n" + b"".join(b"    step_%d()\n" % number for number in range(20))
    indented = text.replace(b"    ", b"\t").replace(b"step_7()", b"step_7(1)")
    assert copies_of(text, indented) == [["a.py", "b.py:1-21"]]
    assert copies_of(text, indented, "module") == [["a.py"], ["b.py"]]
    other = b"def flush():\n" + b"".join(b"    step_%d()\n" % number for number in range(3, 23))
    assert copies_of(text, other) == [["a.py"], ["b.py"]]
