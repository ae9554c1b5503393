"""Pairs made from files: the code never contains its query."""

from models.recipe.pairs import Pair, body_digests, digest_of, iter_pairs, read_source

PYTHON = b'''"""Helpers that fetch and parse pages."""

import os


class Session(Base):
    """Keeps connections open between requests."""

    limit = 10

    def fetch_page(self, url, timeout):
        """Return the text of a page.

        Args:
            url: where it is
        """
        # Wait for a free connection of the pool first
        connection = self.pool.acquire(timeout)
        self.pool.mark(connection)
        connection.send(url)
        return connection.read(timeout)

    def drop_idle_connections(self, seconds):
        for connection in self.pool.connections:
            if connection.idle_for > seconds:
                connection.close()
'''


def pairs_of(data: bytes, language: str) -> list[Pair]:
    source = read_source(data, language, "a/b")
    assert source is not None
    return list(iter_pairs(source))


def one(pairs: list[Pair], kind: str) -> Pair:
    matching = [pair for pair in pairs if pair.kind == kind]
    assert len(matching) == 1, [pair.kind for pair in pairs]
    return matching[0]


def test_a_docstring_is_the_query_of_its_function_and_not_in_its_code() -> None:
    pair = one(pairs_of(PYTHON, "python"), "doc")
    assert (pair.query, pair.name) == ("Return the text of a page.", "Session.fetch_page")
    assert pair.code.startswith("def fetch_page(self, url, timeout):\n    # Wait")
    assert "Return the text" not in pair.code
    assert "where it is" not in pair.code


def test_the_code_of_a_class_is_its_signatures() -> None:
    pair = one(pairs_of(PYTHON, "python"), "class")
    assert pair.query == "Keeps connections open between requests."
    assert "def drop_idle_connections(self, seconds):" in pair.code
    assert "connection.close()" not in pair.code
    assert "Keeps connections" not in pair.code


def test_the_query_of_an_undocumented_function_is_its_name_which_is_masked() -> None:
    pair = one(pairs_of(PYTHON, "python"), "name")
    assert pair.query == "session drop idle connections"
    assert pair.code.startswith("def f(self, seconds):")
    assert "drop_idle" not in pair.code


def test_a_comment_inside_a_function_is_the_query_of_the_lines_below() -> None:
    pair = one(pairs_of(PYTHON, "python"), "inline")
    assert pair.query == "Wait for a free connection of the pool first"
    assert pair.code.splitlines()[0] == "connection = self.pool.acquire(timeout)"


def test_the_query_of_a_file_is_the_description_at_its_head() -> None:
    pair = one(pairs_of(PYTHON, "python"), "module")
    assert pair.query == "Helpers that fetch and parse pages."
    assert "class Session(Base):" in pair.code
    assert "def fetch_page(self, url, timeout):" in pair.code


def test_a_licence_at_the_head_of_a_file_is_not_a_query() -> None:
    data = b"// Copyright 2020 The Authors of this very program.\n\npackage a\n" + GO
    assert not [pair for pair in pairs_of(data, "go") if pair.kind == "module"]


GO = b"""
// Merge merges two sorted lists into one.
func Merge(left, right []int) []int {
\tmerged := make([]int, 0, len(left)+len(right))
\tfor len(left) > 0 && len(right) > 0 {
\t\tmerged, left, right = step(merged, left, right)
\t}
\treturn append(append(merged, left...), right...)
}
"""


def test_the_comment_above_a_function_is_its_query_without_the_name() -> None:
    pair = one(pairs_of(b"package a\n" + GO, "go"), "doc")
    assert pair.query == "merges two sorted lists into one."
    assert pair.code.startswith("func Merge(left, right []int) []int {\n    merged")


def test_documentation_attributes_of_elixir_are_documentation() -> None:
    data = b'''defmodule Mail.Box do
  @moduledoc """
  Stores messages until they are read.
  """

  @doc """
  Drops every message that is older than a day.
  """
  @spec expire(t(), integer()) :: t()
  def expire(box, now) do
    kept = Enum.filter(box.messages, fn message -> now - message.time < @day_seconds end)
    Logger.info("kept some of the messages of the box")
    %{box | messages: kept, expired: box.expired + length(box.messages) - length(kept)}
  end
end
'''
    pairs = pairs_of(data, "elixir")
    assert one(pairs, "doc").query == "Drops every message that is older than a day."
    assert one(pairs, "doc").code.startswith("@spec expire")
    assert one(pairs, "class").query == "Stores messages until they are read."


def test_the_query_of_a_test_is_its_name_in_words() -> None:
    data = b"""
def test_refresh_keeps_open_sessions(pool, clock):
    session = pool.open_session()
    clock.advance(pool.refresh_seconds)
    pool.refresh()
    assert session.is_open
"""
    pair = one(pairs_of(data, "python"), "test")
    assert pair.query == "refresh keeps open sessions"
    assert "refresh_keeps" not in pair.code


def test_headers_of_cpp_are_parsed_as_cpp() -> None:
    source = read_source(b"namespace a {\nclass B { public: int c(); };\n}\n", "c", "b.h")
    assert source is not None
    assert source.language == "cpp"


def test_languages_without_pairs_are_left_out() -> None:
    assert read_source(b"key: value\n", "yaml", "a.yaml") is None


def test_the_digest_of_a_pair_ignores_layout_and_documentation() -> None:
    source = read_source(PYTHON.replace(b"    ", b"\t").replace(b"Return the text", b"Give the text"), "python", "x")
    assert source is not None
    digests = set(body_digests(source))
    assert {pair.digest for pair in pairs_of(PYTHON, "python") if pair.kind in ("doc", "name")} <= digests
    assert digest_of("a b") == digest_of("a\n  b") != digest_of("ab c")
