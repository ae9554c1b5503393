"""Quality of results from several repositories searched together: NDCG@10 relative to the right repository alone.

Queries, repositories and scores are those of `quality`, and a result of another repository never counts. Each query is
searched in all repositories: from the right one, as a user who works there does; from no repository; and from a wrong
one. The limit holds for the first. Without a repository of the user's own, many queries have answers in several: four
of these repositories define a `Session`. Somebody who asks from there names the one that is meant, so the queries are
also run with the name of their repository in front.
"""

import argparse
import os
import zlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from gitmem.answering.federated_search import FederatedSearcher, Member
from gitmem.answering.search_query import Query
from gitmem.answering.searcher import Searcher, open_searcher
from gitmem.freshness.tree_selection import WORKING_TREE
from gitmem.workspace import open_workspace
from tests.bench.commands import load_gitmem
from tests.bench.figures import Figure
from tests.bench.processes import run
from tests.bench.quality import (
    AnsweredQuery,
    BenchQuery,
    add_set_options,
    find_tree,
    ndcg,
    read_names,
    read_queries,
    run_query,
)
from tests.bench.scoring import DEPTH, Place
from tests.bench.subjects import clone_subject, work_folder

MOST_LOST: Final = 0.02

_ELSEWHERE: Final = Place("\0", 0, 0)
"""Result of another repository, which meets no target."""

Search = Callable[[BenchQuery], list[Place]]


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options for queries and repositories."""
    add_set_options(parser)


def measure(options: argparse.Namespace) -> list[Figure]:
    """Index every repository, and run all queries alone and together."""
    gitmem = load_gitmem(options)
    names = read_names(options.queries, options.only)
    searchers: dict[str, Searcher] = {}
    with work_folder(options) as work:
        for name in names:
            subject = clone_subject(find_tree(options.trees, name), work)
            run(gitmem.index(subject.path))
            workspace = open_workspace(subject.path, os.environ)
            searchers[name] = open_searcher(workspace, WORKING_TREE, refresh=False)
        queries = [query for name in names for query in read_queries(options.queries, name)]
        return compare(queries, searchers)


def compare(queries: Sequence[BenchQuery], searchers: dict[str, Searcher]) -> list[Figure]:
    """Return the NDCG@10 of each way to search."""
    names = list(searchers)

    def alone(query: BenchQuery) -> list[Place]:
        hits = searchers[query.repository].find(Query(query.text), DEPTH).hits[:DEPTH]
        return [Place(hit.path, hit.start_line, hit.end_line) for hit in hits]

    nowhere = search_together(searchers, "")
    own = {name: search_together(searchers, name) for name in names}

    def wrong(query: BenchQuery) -> list[Place]:
        others = [name for name in names if name != query.repository]
        return own[others[zlib.crc32(query.text.encode()) % len(others)]](query)

    scores = {
        "alone": judge(queries, alone),
        "together, from its own repository": judge(queries, lambda query: own[query.repository](query)),
        "together, from no repository": judge(queries, nowhere),
        "together, from no repository, named in the query": judge(
            queries, lambda query: nowhere(replace(query, text=f"{query.repository} {query.text}"))
        ),
        "together, from a wrong repository": judge(queries, wrong),
    }
    figures = [Figure(f"{len(names)} repositories", f"NDCG@10 {name}", value) for name, value in scores.items()]
    lost = scores["alone"] - scores["together, from its own repository"]
    return [*figures, Figure(f"{len(names)} repositories", "lost from its own repository", lost, at_most=MOST_LOST)]


def search_together(searchers: dict[str, Searcher], own: str) -> Search:
    """Return a function that searches all repositories as a user in one of them does."""
    federation = FederatedSearcher([Member(name, searcher, name == own) for name, searcher in searchers.items()])

    def search(query: BenchQuery) -> list[Place]:
        found = federation.find(Query(query.text), DEPTH).hits
        return [
            Place(hit.path, hit.start_line, hit.end_line)
            if federation.members[member].name == query.repository
            else _ELSEWHERE
            for member, hit in found
        ]

    return search


def judge(queries: Sequence[BenchQuery], search: Search) -> float:
    """Return the NDCG@10 of a way to search."""
    answered: list[AnsweredQuery] = [run_query(query, lambda _, query=query: search(query)) for query in queries]  # type: ignore[misc]
    return ndcg(answered)
