"""Search in code and documents together: NDCG@10 compared with one kind alone, and calibration of the scores.

Each repository of the code queries gets its own documentation as documents, and its headings as further queries.
Repositories with few such headings are left out. A score is the probability that a result is relevant, whatever its
kind.
"""

import argparse
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from gitmem.answering.search_query import Query, SearchFilters
from gitmem.answering.searcher import Searcher, open_searcher
from gitmem.freshness.tree_selection import WORKING_TREE
from gitmem.git.object_reader import ObjectReader
from gitmem.git.objects import open_reader
from gitmem.memory.kinds import CODE
from gitmem.workspace import open_workspace
from tests.bench.commands import load_gitmem
from tests.bench.document_corpus import Project, add_pages, iter_pages, queries_of
from tests.bench.document_quality import search_scored
from tests.bench.document_queries import choose_headings, find_clone
from tests.bench.documentation_pages import list_pages, read_pages
from tests.bench.figures import Figure
from tests.bench.processes import run
from tests.bench.quality import BenchQuery, find_tree, read_queries
from tests.bench.score_calibration import ScoredResult, measure_calibration
from tests.bench.scoring import DEPTH, mean, score
from tests.bench.subjects import clone_subject, work_folder

LEAST: Final = 5
"""Minimum number of headings of a repository that are queries."""

ALL: Final = "all"
DOCUMENTS: Final = "documents"


class AnsweredQuery(NamedTuple):
    """Query about one kind, its NDCG@10 and the scores of its results.

    `scope` is the kind that was searched, or ALL.
    """

    repository: str
    kind: str
    scope: str
    ndcg: float
    results: list[ScoredResult]


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options for queries about code, their repositories, and the clones with the documentation."""
    parser.add_argument("--queries", type=Path, required=True, help="folder with repos.json and queries/")
    parser.add_argument("--trees", type=Path, required=True, help="folder with a repository per name")
    parser.add_argument(
        "--repositories", type=Path, required=True, metavar="DIR", help="holds a clone OWNER+NAME/repo per project"
    )


def measure(options: argparse.Namespace) -> list[Figure]:
    """Run both kinds of queries in each repository, separately and together."""
    gitmem = load_gitmem(options)
    answered: list[AnsweredQuery] = []
    for project in read_documented_repositories(options.queries, options.repositories):
        name = project.name.partition(":")[0]
        with work_folder(options) as work:
            subject = clone_subject(find_tree(options.trees, name), work)
            run(gitmem.index(subject.path))
            clone = find_clone(options.repositories, project.name.partition(":")[2])
            pages = list(iter_pages(project, clone))
            add_pages(open_workspace(subject.path, os.environ), pages)
            answered += run_both_kinds(
                subject.path, name, read_queries(options.queries, name), queries_of(project, pages)
            )
    return summarise(answered)


def read_documented_repositories(queries: Path, clones: Path) -> Iterator[Project]:
    """Yield the repositories with enough headings that are queries, named `NAME:OWNER/CLONE`."""
    for entry in json.loads((queries / "repos.json").read_text(encoding="utf-8")):
        source, commit = entry["fetch"].removeprefix("github:"), entry["revision"]
        clone = find_clone(clones, source)
        if not clone.is_dir():
            continue
        labels = choose_headings(read_pages(clone, commit, list_pages(clone, commit)))
        if len(labels) >= LEAST:
            yield Project(f"{entry['name']}:{source}", commit, "", tuple(labels))


def run_both_kinds(
    repository: Path, name: str, code: Sequence[BenchQuery], documents: Sequence[BenchQuery]
) -> Iterator[AnsweredQuery]:
    """Run every query for its own kind and for all kinds."""
    workspace = open_workspace(repository, os.environ)
    kinds = {CODE: code, DOCUMENTS: documents}
    for scope in (CODE, DOCUMENTS, ALL):
        chosen = (CODE, DOCUMENTS) if scope == ALL else (scope,)
        template = Query("mixed", DEPTH, filters=SearchFilters(kinds=chosen))
        searcher = open_searcher(workspace, WORKING_TREE, chosen, refresh=False)
        reader = open_reader(searcher.tree.location, bulk=False)
        for kind, queries in kinds.items():
            if kind in chosen:
                for query in queries:
                    yield run_query(searcher, template._replace(text=query.text), reader, name, kind, scope, query)


def run_query(
    searcher: Searcher, template: Query, reader: ObjectReader, name: str, kind: str, scope: str, query: BenchQuery
) -> AnsweredQuery:
    """Run one query; only the first result of each file is judged."""
    scored = search_scored(searcher, template, reader)
    results, seen = [], set()
    for own, place, probability in scored:
        if (own, place.path) not in seen:
            relevant = own == kind and any(target.is_met_by(place) for target in query.targets)
            results.append(ScoredResult(own, probability, relevant))
        seen.add((own, place.path))
    return AnsweredQuery(name, kind, scope, score([place for _, place, _ in scored], query.targets).ndcg, results)


def summarise(answered: Sequence[AnsweredQuery]) -> list[Figure]:
    """Return NDCG@10 by kind of query and searched kinds, and the calibration of the scores by kind of result."""
    figures = [Figure("all", "repositories", len({one.repository for one in answered}))]
    for kind in (CODE, DOCUMENTS):
        figures.append(Figure(kind, "queries", sum(one.kind == kind and one.scope == kind for one in answered)))
        for scope in (kind, ALL):
            figures.append(Figure(kind, f"NDCG@10, {scope} searched", ndcg(answered, kind, scope)))
    for kind in (CODE, DOCUMENTS):
        for scope in (kind, ALL):
            selected = [
                result for one in answered if one.scope == scope for result in one.results if result.kind == kind
            ]
            figures += measure_calibration(f"results of {kind}, {scope} searched", selected)
    return figures


def ndcg(answered: Iterable[AnsweredQuery], kind: str, scope: str) -> float:
    """Return the mean over repositories of the mean over queries."""
    groups: dict[str, list[float]] = {}
    for one in answered:
        if (one.kind, one.scope) == (kind, scope):
            groups.setdefault(one.repository, []).append(one.ndcg)
    return mean(map(mean, groups.values()))
