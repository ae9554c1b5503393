"""Quality of searches on a server: NDCG@10 of all repositories published together, relative to the local search.

Queries, repositories and scores are those of `quality`, and a result of another repository never counts. All searches
start from no repository. In the merged search every second repository is on this machine and the others on the server.
"""

import argparse
import os
from collections.abc import Sequence
from typing import Any, Final

from gitmem.answering.federated_answer import FederatedAnswer, answer_members
from gitmem.answering.federated_merge import merge_answers
from gitmem.answering.federated_search import FederatedSearcher, Member
from gitmem.answering.repository_ids import PUBLISHED
from gitmem.answering.search_query import Query
from gitmem.answering.searcher import Searcher, open_searcher
from gitmem.freshness.tree_selection import WORKING_TREE
from gitmem.git.objects import open_reader
from gitmem.org.connection import open_database
from gitmem.org.database_query import search_database
from gitmem.workspace import open_workspace, read_user_settings
from tests.bench.commands import load_gitmem
from tests.bench.database_server import start_server
from tests.bench.figures import Figure
from tests.bench.processes import Command, run
from tests.bench.quality import BenchQuery, add_set_options, find_tree, read_names, read_queries
from tests.bench.quality_together import Search, judge, search_together
from tests.bench.scoring import DEPTH, Place
from tests.bench.subjects import Subject, clone_subject, work_folder

MOST_LOST: Final = 0.01

_ELSEWHERE: Final = Place("\0", 0, 0)
"""Result of another repository, which meets no target."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options for queries and repositories."""
    add_set_options(parser)
    parser.add_argument("--in-place", action="store_true", help="use the repositories with the indexes they have")


def measure(options: argparse.Namespace) -> list[Figure]:
    """Index and publish every repository, and run all queries in each way."""
    gitmem = load_gitmem(options)
    names = read_names(options.queries, options.only)
    searchers: dict[str, Searcher] = {}
    with work_folder(options) as work, start_server(work / "postgres") as server:
        run(Command([*gitmem.words, "-q", "org", "init", server.dsn()]))
        for name in names:
            tree = find_tree(options.trees, name)
            subject = Subject(name, tree) if options.in_place else clone_subject(tree, work)
            run(gitmem.index(subject.path))
            run(Command([*gitmem.words, "-q", "org", "publish", "--name", name, "--dsn", server.dsn()], subject.path))
            workspace = open_workspace(subject.path, os.environ)
            searchers[name] = open_searcher(workspace, WORKING_TREE, refresh=False)
        queries = [query for name in names for query in read_queries(options.queries, name)]
        with open_database(server.dsn()) as database:
            return compare(queries, searchers, database)


def compare(queries: Sequence[BenchQuery], searchers: dict[str, Searcher], database: Any) -> list[Figure]:
    """Return the NDCG@10 of each way to search."""
    names = list(searchers)
    settings = read_user_settings(os.environ)
    here = {name: searchers[name] for name in names[::2]}

    def published(query: BenchQuery) -> list[Place]:
        return _places(search_database(database, settings, ("*",), Query(query.text, DEPTH)), query)

    merged = _search_merged(here, database, names[1::2])
    scores = {
        "local": judge(queries, search_together(searchers, "")),
        "published": judge(queries, published),
        "half of them published": judge(queries, merged),
    }
    subject = f"{len(names)} repositories"
    return [
        *(Figure(subject, f"NDCG@10 {name}", value) for name, value in scores.items()),
        Figure(subject, "lost on the server", scores["local"] - scores["published"], at_most=MOST_LOST),
        Figure(subject, "lost if half of them are published", scores["local"] - scores["half of them published"]),
    ]


def _search_merged(here: dict[str, Searcher], database: Any, published: Sequence[str]) -> Search:
    """Return a function that searches some repositories here and others on the server, and merges the results."""
    settings = read_user_settings(os.environ)
    federation = FederatedSearcher([Member(name, searcher) for name, searcher in here.items()])

    def search(query: BenchQuery) -> list[Place]:
        asked = Query(query.text, DEPTH)

        def open_blobs(member: int) -> Any:
            searcher = federation.members[member].searcher
            return open_reader(searcher.tree.location, bulk=False, files=searcher.files)

        local = answer_members(federation, asked, DEPTH, open_blobs, [])
        server = search_database(database, settings, published, asked)
        return _places(merge_answers([local, server], DEPTH), query)

    return search


def _places(answer: FederatedAnswer, query: BenchQuery) -> list[Place]:
    """Return the places of an answer in the repository of a query."""
    places = []
    for member, number in answer.order:
        hit = answer.answers[member].hits[number][0]
        is_own = answer.searched[member].name.removeprefix(PUBLISHED) == query.repository
        places.append(Place(hit.path, hit.start_line, hit.end_line) if is_own else _ELSEWHERE)
    return places
