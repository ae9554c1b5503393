"""Quality of results from several repositories searched together: NDCG@10 relative to the right repository alone.

Queries, repositories and scores are those of `quality`, and a result of another repository never counts. Each query is
searched in all repositories: from the right one, as a user who works there does; from no repository; and from a wrong
one. The limit holds for the first. Without a repository of the user's own, many queries have answers in several: four
of these repositories define a `Session`. Somebody who asks from there names the one that is meant, so the queries are
also run with the name of their repository in front. Judgements of results of other repositories, made blindly, say how
much of the loss comes from irrelevant ones.
"""

import argparse
import os
import zlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from gitmem.answering.federated_search import FederatedSearcher, Member
from gitmem.answering.search_query import Query
from gitmem.answering.searcher import Searcher, open_searcher
from gitmem.freshness.tree_selection import WORKING_TREE
from gitmem.workspace import open_workspace
from tests.bench.blind_pairs import FAR, Ranking, Result, write_pairs
from tests.bench.commands import load_gitmem
from tests.bench.figures import Figure
from tests.bench.judged_elsewhere import compare_with_labels, join_judgements, read_labels
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
from tests.bench.scoring import DEPTH, NOWHERE, Place
from tests.bench.subjects import clone_subject, work_folder

MOST_LOST: Final = 0.02

Search = Callable[[BenchQuery], list[Place]]


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options for queries, repositories and judgements."""
    add_set_options(parser)
    parser.add_argument(
        "--pairs", type=Path, metavar="FOLDER", help="write the results to be judged, and compare nothing"
    )
    parser.add_argument("--judged", type=Path, metavar="FOLDER", help="read judged.jsonl next to what --pairs wrote")


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
        rankings = rank_all(queries, searchers)
        if options.pairs:
            return [Figure("pairs", "written", write_pairs(rankings, work, options.pairs))]
        if options.judged:
            join_judgements(options.judged)
        return [*compare(queries, searchers), *compare_with_labels(rankings, read_labels())]


def rank_all(queries: Sequence[BenchQuery], searchers: dict[str, Searcher]) -> list[Ranking]:
    """Return the results of each query from its repository alone, and from all together without any precedence."""
    federation = federate(searchers, "")

    def find_together(query: BenchQuery) -> list[Result]:
        return [
            Result(federation.members[member].name, Place(hit.path, hit.start_line, hit.end_line), hit.symbol)
            for member, hit in federation.find(Query(query.text), FAR.stop).hits
        ]

    return [Ranking(query, find_alone(query, searchers), find_together(query)) for query in queries]


def find_alone(query: BenchQuery, searchers: dict[str, Searcher]) -> list[Place]:
    """Return the first results of the repository that a query is about."""
    hits = searchers[query.repository].find(Query(query.text), DEPTH).hits[:DEPTH]
    return [Place(hit.path, hit.start_line, hit.end_line) for hit in hits]


def compare(queries: Sequence[BenchQuery], searchers: dict[str, Searcher]) -> list[Figure]:
    """Return the NDCG@10 of each way to search."""
    names = list(searchers)
    nowhere = search_together(searchers, "")
    own = {name: search_together(searchers, name) for name in names}

    def wrong(query: BenchQuery) -> list[Place]:
        others = [name for name in names if name != query.repository]
        return own[others[zlib.crc32(query.text.encode()) % len(others)]](query)

    scores = {
        "alone": judge(queries, lambda query: find_alone(query, searchers)),
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
    federation = federate(searchers, own)

    def search(query: BenchQuery) -> list[Place]:
        found = federation.find(Query(query.text), DEPTH).hits
        return [
            Place(hit.path, hit.start_line, hit.end_line)
            if federation.members[member].name == query.repository
            else NOWHERE
            for member, hit in found
        ]

    return search


def federate(searchers: dict[str, Searcher], own: str) -> FederatedSearcher:
    """Return the repositories as a user in one of them, or in none for "", searches them."""
    return FederatedSearcher([Member(name, searcher, name == own) for name, searcher in searchers.items()])


def judge(queries: Sequence[BenchQuery], search: Search) -> float:
    """Return the NDCG@10 of a way to search."""
    answered: list[AnsweredQuery] = [run_query(query, lambda _, query=query: search(query)) for query in queries]  # type: ignore[misc]
    return ndcg(answered)
