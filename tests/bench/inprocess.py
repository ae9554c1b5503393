"""gitmem called from Python, for what would be lost in the start of a process. The only module here that imports it."""

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
from gitmem.words import count_identifiers, terms_of
from gitmem.workspace import open_workspace
from tests.bench.scoring import Place


def open_answers(repository: Path) -> Callable[[str], list[Place]]:
    """A function that does for a question what `gitmem query` does, without refreshing."""
    workspace = open_workspace(repository, os.environ)

    def ask(text: str) -> list[Place]:
        made = answer(workspace, Query(text, 10), refresh=False)
        return [Place(hit.path, hit.start_line, hit.end_line) for hit, _ in made.hits]

    return ask


@dataclass(frozen=True, slots=True)
class Shown:
    """A result as an agent gets it: whole and as printed, with the words of the question that either has."""

    place: Place
    chunk: str
    printed: str
    words: frozenset[str]
    words_printed: frozenset[str]


def open_shown(repository: Path, limit: int) -> Callable[[str], list[Shown]]:
    """A function that answers a question with so many results as they are shown."""
    workspace = open_workspace(repository, os.environ)

    def ask(text: str) -> list[Shown]:
        made = answer(workspace, Query(text, limit), refresh=False)
        shown = []
        for hit, lines in made.hits:
            heading, *code = format_hit(hit, lines, made.terms, Style(coloured=False))
            words, kept = (_terms(part).intersection(made.terms) for part in (lines, code))
            place = Place(hit.path, hit.start_line, hit.end_line)
            shown.append(Shown(place, "\n".join(lines), "\n".join([heading, *code]), words, kept & words))
        return shown

    return ask


def _terms(lines: Sequence[str]) -> frozenset[str]:
    identifiers = count_identifiers("\n".join(lines)).identifiers
    return frozenset(term for identifier in identifiers for term in terms_of(identifier))


def open_search(repository: Path, *, graph: bool = False) -> Callable[[str], object]:
    """A function that searches an index held open, as a server does, with its neighbour graph where asked for."""
    workspace = open_workspace(repository, os.environ)
    searcher = open_searcher(workspace, WORKING_TREE, refresh=False)
    if graph and not searcher.load_graph():
        raise SystemExit("the graph was asked for and cannot be loaded")
    return lambda text: searcher.find(Query(text), 10)
