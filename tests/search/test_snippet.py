"""Snippets of a chunk: declaration, first sentence of the doc, matching lines, and their numbers."""

from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitmem.search.query_parser import parse_query
from gitmem.search.signature import has_text
from gitmem.search.snippet import MAX_LINES, MIN_LINES, SnippetLine, lines_of, lines_of_span, make_snippet
from gitmem.words import count_identifiers, terms_of

ROUTE = '''@contextmanager
@deprecated
def open_session(
    self, request: Request
) -> Iterator[Session]:
    """Open the session of a request. A second sentence.

    And a paragraph that goes on about it.
    """
    if self.closed:
        raise Closed()

    store = self.find_store(request)
    token = read_token(request)

    if token is None:
        yield self.make_empty(store)
    else:
        yield store.load(verify_signature(token))
    store.flush()'''

FILLER = [f"    step_{number}()" for number in range(20)]


def snippet(text: str, query: str, symbol: str = "", first: int = 1, **options: int) -> list[str]:
    """Return a snippet as `number text`, gaps as `...`."""
    lines = make_snippet(text.split("\n"), first, parse_query(query).terms, symbol, **options)
    return [f"{line.number} {line.text.strip()}" if line.number else "..." for line in lines]


def test_a_snippet_has_declaration_first_sentence_and_matching_lines() -> None:
    assert snippet(ROUTE, "where is the signature verified", "App.open_session", first=40) == [
        "...",
        "42 def open_session(",
        "43 self, request: Request",
        "44 ) -> Iterator[Session]:",
        '45 """Open the session of a request. A second sentence.',
        "...",
        "58 yield store.load(verify_signature(token))",
        "...",
    ]


def test_a_short_chunk_is_complete_except_for_lines_without_words() -> None:
    code = "int size(list *l)\n{\n\n    return l->count;\n}"
    assert snippet(code, "anything", "size") == ["1 int size(list *l)", "4 return l->count;"]


@pytest.mark.parametrize(
    ("head", "symbol", "expected"),
    [
        ("/**\n * Formats a number. Then more.\n *\n * @param n it\n */\npublic String format(int n) {", "F.format",
         ["2 * Formats a number. Then more.", "6 public String format(int n) {"]),
        ("/// <summary>\n/// Formats a number.\n/// </summary>\n[Obsolete]\npublic string Format(int n)", "F.Format",
         ["2 /// Formats a number.", "5 public string Format(int n)"]),
        ("// format turns a number\n// into text. It is slow.\n// Do not use it.\nfunc format(n int) string {",
         "format",
         ["1 // format turns a number", "2 // into text. It is slow.", "4 func format(n int) string {"]),
        ('@doc """\nFormats a number.\n\n## Examples\n"""\ndef format(n) do', "N.format",
         ["2 Formats a number.", "6 def format(n) do"]),
        ("{-| Formats\na number -}\nformat :: Int -> Text", "format",
         ["1 {-| Formats", "2 a number -}", "3 format :: Int -> Text"]),
        ("# Formats a number.\n#\n# @param n [Integer]\ndef format(n)", "N.format",
         ["1 # Formats a number.", "4 def format(n)"]),
        ("/* Formats. */\n#define FORMAT(n) text_of(n)", "FORMAT",
         ["1 /* Formats. */", "2 #define FORMAT(n) text_of(n)"]),
        ("#[inline]\n/// Formats a number.\npub fn format(n: u8) -> String {", "format",
         ["2 /// Formats a number.", "3 pub fn format(n: u8) -> String {"]),
        ("## Format\n\nNumbers are formatted.", "Guide > Format", ["1 ## Format"]),
        ("operator fun plus(n: Int) =", "N.plus", ["1 operator fun plus(n: Int) ="]),
        ("(<+>) :: Doc -> Doc -> Doc", "<+>", ["1 (<+>) :: Doc -> Doc -> Doc"]),
    ],
)  # fmt: skip
def test_declaration_and_doc_are_found_in_many_languages(head: str, symbol: str, expected: list[str]) -> None:
    lines = snippet("\n".join([head, *FILLER]), "xylophone", symbol)
    assert [line for line in lines if line != "..."][: len(expected)] == expected


def test_the_declaration_is_not_the_comment_that_names_it() -> None:
    code = "\n".join(["// drain empties the queue", "// and closes it", "", "func (q *Queue) drain() {", *FILLER])
    assert "4 func (q *Queue) drain() {" in snippet(code, "xylophone", "Queue.drain")


def test_every_name_of_a_merged_chunk_is_selected() -> None:
    code = "\n".join(line for name in ("first", "second", "third") for line in (f"def {name}(): ", *FILLER[:3]))
    lines = snippet(code, "xylophone", "Box.first, second, third")
    assert [line for line in lines if "def " in line] == ["1 def first():", "5 def second():", "9 def third():"]


def test_beyond_the_minimum_a_line_that_only_repeats_terms_is_skipped() -> None:
    repeats = [f"    cookie = cookie_{number}" for number in range(9)]
    code = "\n".join(["def sign_cookie(value):", *FILLER, *repeats, "    bake(key(value))", "    return key"])
    assert snippet(code, "how is the cookie signed with a key", "sign_cookie") == [
        "1 def sign_cookie(value):",
        "...",
        "22 cookie = cookie_0",
        "...",
        "31 bake(key(value))",
        "32 return key",
    ]


def test_without_a_match_the_first_lines_of_the_body_are_selected() -> None:
    lines = snippet("\n".join(["def run():", *FILLER]), "xylophone", "run")
    assert lines == ["1 def run():", "2 step_0()", "3 step_1()", "4 step_2()", "..."]
    assert len(lines) - 1 == MIN_LINES


unhurried = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""Settings without a deadline: a busy machine is slow."""

line = st.text(st.sampled_from(" \t{}()<>/*#\"'-@:.,_abcXyz1é"), max_size=20)


@unhurried
@given(
    st.lists(line, max_size=40),
    st.integers(1, 999),
    st.lists(st.sampled_from(["abc", "xyz", "a", "z1", "é"]), max_size=3),
    st.text("abX. >,", max_size=8),
    st.integers(1, 9),
)
def test_a_snippet_consists_of_lines_of_the_chunk_in_order(
    lines: list[str], first: int, terms: list[str], symbol: str, limit: int
) -> None:
    entries = make_snippet(lines, first, terms, symbol, limit)
    numbered = [entry for entry in entries if entry.number]
    assert all(entry.text == lines[entry.number - first] for entry in numbered)
    assert [entry.number for entry in numbered] == sorted({entry.number for entry in numbered})
    assert len(numbered) <= limit
    assert bool(numbered) == any(map(has_text, lines))
    skipped = {first + position for position, text in enumerate(lines) if has_text(text)}
    skipped -= {entry.number for entry in numbered}
    assert _gaps(entries, first, len(lines)) == _expected_gaps(numbered, skipped, first, len(lines))


def _expected_gaps(numbered: list[SnippetLine], skipped: set[int], first: int, count: int) -> list[tuple[int, int]]:
    """Return the gaps between numbered lines that skip others, as the numbers around them."""
    ends = [first - 1, *(entry.number for entry in numbered), first + count]
    return [(low, high) for low, high in pairwise(ends) if any(low < number < high for number in skipped)]


def _gaps(entries: list[SnippetLine], first: int, count: int) -> list[tuple[int, int]]:
    numbers = [first - 1, *(entry.number for entry in entries), first + count]
    return [(numbers[at - 1], numbers[at + 1]) for at in range(1, len(numbers) - 1) if not numbers[at]]


words = st.sampled_from(
    "cookies getUser parse_queries signing tried HTTPServer planned boxes closed retry_after".split()
)


@unhurried
@given(
    st.lists(st.lists(words, min_size=1, max_size=4), min_size=MAX_LINES + 1, max_size=30),
    st.lists(words, max_size=4),
)
def test_a_word_of_the_query_is_in_the_snippet_if_the_chunk_has_it(chunk: list[list[str]], query: list[str]) -> None:
    lines = [" ".join(words) for words in chunk]
    terms = {term for word in query for term in terms_of(word)}
    entries = make_snippet(lines, 1, sorted(terms))
    assert _terms_in("\n".join(entry.text for entry in entries)) & terms == _terms_in("\n".join(lines)) & terms


def _terms_in(text: str) -> set[str]:
    return {term for word in count_identifiers(text).identifiers for term in terms_of(word)}


@given(st.lists(st.sampled_from([b"a", b"\n", b"\r\n", "ü".encode(), b"\xff"]), min_size=1, max_size=30), st.data())
def test_lines_of_a_span_equal_the_lines_of_its_numbers(parts: list[bytes], drawn: st.DataObject) -> None:
    data = b"".join(parts)
    start = drawn.draw(st.integers(0, len(data) - 1))
    end = drawn.draw(st.integers(start + 1, len(data)))
    first, last = (data[:offset].count(b"\n") + 1 for offset in (start, end - 1))
    assert lines_of_span(data, start, end) == lines_of(data, first, last)
