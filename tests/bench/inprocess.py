"""Calls of gitmem within this process, for measurements that a process start would hide."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from gitmem.answering.answer import answer
from gitmem.answering.search_query import Query
from gitmem.answering.searcher import open_searcher
from gitmem.cli.hit_output import format_hit
from gitmem.cli.style import Style
from gitmem.freshness.tree_selection import WORKING_TREE
from gitmem.mcp.tools.text_output import render_answer
from gitmem.search.snippet import join_lines
from gitmem.words import count_identifiers, terms_of
from gitmem.workspace import open_workspace
from tests.bench.scoring import Place


def open_answers(repository: Path) -> Callable[[str], list[Place]]:
    """Return a function that answers a query like `gitmem query`, without refreshing."""
    workspace = open_workspace(repository, os.environ)

    def search(text: str) -> list[Place]:
        result = answer(workspace, Query(text, 10), refresh=False)
        return [Place(hit.path, hit.start_line, hit.end_line) for hit, _ in result.hits]

    return search


@dataclass(frozen=True, slots=True)
class ShownResult:
    """Result as an agent gets it: complete and as printed, each with the query terms in it."""

    place: Place
    chunk: str
    printed: str
    words: frozenset[str]
    words_printed: frozenset[str]


def open_shown(repository: Path, limit: int) -> Callable[[str], list[ShownResult]]:
    """Return a function that answers a query with `limit` results as they are shown."""
    workspace = open_workspace(repository, os.environ)

    def search(text: str) -> list[ShownResult]:
        result = answer(workspace, Query(text, limit), refresh=False)
        results = []
        for hit, lines in result.hits:
            heading, *code = format_hit(hit, lines, result.terms, Style(coloured=False))
            words, printed_words = (_terms(part).intersection(result.terms) for part in (lines, code))
            place = Place(hit.path, hit.start_line, hit.end_line)
            results.append(
                ShownResult(place, join_lines(lines), "\n".join([heading, *code]), words, printed_words & words)
            )
        return results

    return search


def open_tool(repository: Path) -> Callable[[str], tuple[str, list[Place]]]:
    """Return a function that answers a query as the tool `search` does by default, with the places of its results."""
    workspace = open_workspace(repository, os.environ)

    def search(text: str) -> tuple[str, list[Place]]:
        result = answer(workspace, Query(text, 10), refresh=False)
        places = [Place(hit.path, hit.start_line, hit.end_line) for hit, _ in result.hits]
        return render_answer(result, "snippet"), places

    return search


def _terms(lines: Sequence[str]) -> frozenset[str]:
    identifiers = count_identifiers("\n".join(lines)).identifiers
    return frozenset(term for identifier in identifiers for term in terms_of(identifier))


def open_search(repository: Path, *, graph: bool = False) -> Callable[[str], object]:
    """Return a function that searches an open index, as a server does, with its neighbour graph if `graph`."""
    workspace = open_workspace(repository, os.environ)
    searcher = open_searcher(workspace, WORKING_TREE, refresh=False)
    if graph and not searcher.load_graph():
        raise SystemExit("the graph cannot be loaded")
    return lambda text: searcher.find(Query(text), 10)
