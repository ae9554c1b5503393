"""Results with the sums and the evidence behind their scores, for the fit of the calibration and its judgement.

Three sets of queries: those with known answers, mined messages with documentation and names, and headings of
documentation. Each repository also gets as many queries about the others: whatever they find there is not relevant.
"""

import argparse
import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Final, NamedTuple

from gitmem.answering.search_query import ALL_CONTENT, SearchFilters
from gitmem.answering.searcher import open_searcher
from gitmem.embedding.bundled import BundledEncoder
from gitmem.freshness.tree_selection import WORKING_TREE
from gitmem.search.calibration import CODE, RECORDS, measure_evidence
from gitmem.search.engine import rank_candidates
from gitmem.search.query_parser import parse_query
from gitmem.search.retrieval import Retrieval, retrieve
from gitmem.search.scope import Scope
from gitmem.workspace import open_workspace
from tests.bench.commands import load_gitmem
from tests.bench.document_corpus import open_project, read_projects
from tests.bench.document_quality import row_places
from tests.bench.history_features import search_trees
from tests.bench.history_queries import TreeQuery, make_doc_queries, read_commit_queries
from tests.bench.processes import run
from tests.bench.quality import BenchQuery, find_tree, read_names, read_queries
from tests.bench.ranking_features import places_of
from tests.bench.scoring import DEPTH, Place, Target
from tests.bench.subjects import clone_subject, work_folder

MODES: Final = ("hybrid", "lexical", "semantic")
FOREIGN: Final = "about another repository"
Places = Callable[[Scope, Retrieval], Sequence[Place]]


class Sample(NamedTuple):
    """One result: its query, kind of content, mode, weighted sum and evidence, and whether it is relevant.

    `best` marks the first result of a query. The category of a query about another repository is FOREIGN.
    """

    query_set: str
    repository: str
    category: str
    kind: str
    mode: str
    best: bool
    sum: float
    evidence: Mapping[str, float]
    relevant: bool


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options for the three sets of queries and for the file of samples."""
    parser.add_argument("--queries", type=Path, help="folder with repos.json and queries/")
    parser.add_argument("--trees", type=Path, nargs="+", default=[], help="folders with a repository per name")
    parser.add_argument("--mined", type=Path, help="output of models.recipe.histories")
    parser.add_argument("--repositories", type=Path, metavar="DIR", help="holds a clone OWNER+NAME/repo per repository")
    parser.add_argument("--documents", action="store_true", help="use the document queries, see document-quality")
    parser.add_argument("--samples", type=Path, metavar="FILE", help="file of samples: read if it exists, else written")


def load_samples(options: argparse.Namespace) -> list[Sample]:
    """Return the samples of all sets of queries; cache them in a file if the options name one."""
    if options.samples and options.samples.exists():
        return [Sample(*json.loads(line)) for line in options.samples.read_text(encoding="utf-8").splitlines()]
    samples = [
        *(collect_known(options) if options.queries else ()),
        *(collect_mined(options) if options.mined else ()),
        *(collect_documents(options) if options.documents else ()),
    ]
    if options.samples:
        options.samples.write_text("".join(json.dumps(one) + "\n" for one in samples), encoding="utf-8")
    return samples


def collect_known(options: argparse.Namespace) -> Iterator[Sample]:
    """Yield the samples of the queries with known answers."""
    gitmem = load_gitmem(options)
    queries = {name: read_queries(options.queries, name) for name in read_names(options.queries, [])}
    for trees in options.trees:
        for name in queries:
            with work_folder(options) as work:
                subject = clone_subject(find_tree(trees, name), work)
                run(gitmem.index(subject.path))
                searcher = open_searcher(open_workspace(subject.path, os.environ), WORKING_TREE, refresh=False)
                (scope,) = searcher.scopes.select(ALL_CONTENT)
                for query in [*queries[name], *choose_foreign(queries, name)]:
                    yield from sample_query(trees.name, scope, query, places_of)


def collect_mined(options: argparse.Namespace) -> Iterator[Sample]:
    """Yield the samples of messages, documentation and names, each searched in its own tree."""
    mined = {path.stem: read_commit_queries(path) for path in sorted(options.mined.glob("*.jsonl"))}
    queries = {name: [_known(name, one) for one in own] for name, own in mined.items() if own}
    for name in queries:
        with work_folder(options) as work:
            clone = clone_subject(options.repositories / name / "repo", work).path
            tree = mined[name][0].tree
            foreign = [TreeQuery(FOREIGN, tree, one.text, ()) for one in choose_foreign(queries, name)]
            asked = [*mined[name], *foreign, *make_doc_queries(clone, tree)]
            for query, scope in search_trees(open_workspace(clone, os.environ), work / "index", asked):
                yield from sample_query("mined", scope, _known(name, query), places_of)


def _known(name: str, query: TreeQuery) -> BenchQuery:
    return BenchQuery(name, query.text, query.kind, tuple(Target(path) for path in query.paths))


def collect_documents(options: argparse.Namespace) -> Iterator[Sample]:
    """Yield the samples of headings of documentation, of the projects whose clones exist."""
    with work_folder(options) as work:
        opened = {
            project.name: open_project(project, options.repositories, work)
            for project in read_projects("development")
            if (options.repositories / project.name.replace("/", "+")).is_dir()
        }
        queries = {name: list(own) for name, (_, own) in opened.items()}
        for name, (workspace, own) in opened.items():
            searcher = open_searcher(workspace, WORKING_TREE, ("documents",), refresh=False)
            (scope,) = searcher.scopes.select(SearchFilters(kinds=("documents",)))
            places = partial(_shown_places, row_places(workspace, scope))
            for query in [*own, *choose_foreign(queries, name)]:
                yield from sample_query("documents", scope, query, places)


def _shown_places(shown: Mapping[int, Place], _scope: Scope, retrieved: Retrieval) -> list[Place]:
    return [shown[row] for row in retrieved.candidates.row.tolist()]


def choose_foreign(queries: Mapping[str, Sequence[BenchQuery]], name: str) -> list[BenchQuery]:
    """Return as many queries about other repositories as there are about this one, with nothing relevant."""
    others = [one.text for other, own in queries.items() if other != name for one in own]
    others.sort(key=lambda text: hashlib.sha256((name + text).encode()).digest())
    return [BenchQuery(name, text, FOREIGN, ()) for text in others[: len(queries[name])]]


@cache
def _encoder() -> BundledEncoder:
    return BundledEncoder()


def sample_query(query_set: str, scope: Scope, query: BenchQuery, places: Places) -> Iterator[Sample]:
    """Yield the first result of each of the ten best files, in every mode."""
    parsed = parse_query(query.text)
    for mode in MODES:
        retrieved = retrieve(scope, parsed, _encoder(), mode=mode)
        candidates = retrieved.candidates
        ranking = rank_candidates(retrieved, limit=DEPTH)
        if not ranking.selected:
            continue
        evidence: dict[str, float] = {}
        if mode != "semantic":
            evidence = measure_evidence(parsed, candidates, retrieved.idf, ranking.sums, retrieved.files)
        kind = RECORDS if candidates.are_records else CODE
        shown, files = places(scope, retrieved), set[int]()
        for position, _ in ranking.selected:
            file = int(candidates.file[position])
            if file not in files:
                relevant = any(target.is_met_by(shown[position]) for target in query.targets)
                own = (kind, mode, not files, float(ranking.sums[position]), evidence, relevant)
                yield Sample(query_set, query.repository, query.category, *own)
            files.add(file)
