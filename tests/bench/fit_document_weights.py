"""Fit the ranking weights for records on the development half of the document queries.

Training orders windows, because a result must show the right one; the validation ranks documents. Folds are those of
`fit_code_weights`. Prints the tables for `gitmem/search/rank.py` and `gitmem/search/engine.py`.
"""

import argparse
from collections.abc import Sequence
from dataclasses import replace
from typing import Final, NamedTuple

import numpy as np

from gitmem.answering.search_query import SearchFilters
from gitmem.answering.searcher import open_searcher
from gitmem.embedding.bundled import BundledEncoder
from gitmem.freshness.tree_selection import WORKING_TREE
from gitmem.search.engine import FUSION_WEIGHTS
from gitmem.search.query_parser import parse_query
from gitmem.search.retrieval import retrieve
from gitmem.workspace import Workspace
from tests.bench.document_corpus import open_project, read_projects
from tests.bench.document_quality import add_project_options, row_places
from tests.bench.figures import Figure
from tests.bench.fit_code_weights import readable
from tests.bench.pairwise_learning import Problem, Vector, fit
from tests.bench.quality import BenchQuery
from tests.bench.ranking_features import COLUMNS, JudgedQuery, judge
from tests.bench.scoring import Place
from tests.bench.subjects import work_folder

FITTED: Final = ("semantic", "lexical", "file")
"""Features that differ between passages: passages have no path in a tree, and headings that are queries are removed."""

HELD: Final = {"lexical_gap": -0.5}
"""Weight of the passage relative to its document, on the scale of the fitted weights. It is not fitted: pairs of
windows gave -0.1, with fewer right windows than any value from -0.5 to -1."""

PENALTY: Final = 0.03
FOLDS: Final = 6
KIND: Final = "documents"


class Pair(NamedTuple):
    """Query with its candidates grouped by document, and by shown window."""

    documents: JudgedQuery
    windows: JudgedQuery


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options for the clones and the fit."""
    add_project_options(parser)
    parser.add_argument("--penalty", type=float, default=PENALTY, help="weight of the L2 penalty")


def measure(options: argparse.Namespace) -> list[Figure]:
    """Fit, print the table, and validate."""
    pairs: list[Pair] = []
    with work_folder(options) as work:
        for project in read_projects(options.half):
            workspace, queries = open_project(project, options.repositories, options.cache or work)
            pairs += collect(workspace, queries)
    documents, windows = Problem([one.documents for one in pairs]), Problem([one.windows for one in pairs])
    every = np.ones(len(pairs), bool)
    active = np.array([name in FITTED for name in COLUMNS])
    prior = np.array([HELD.get(name, 0.0) for name in COLUMNS])
    names = sorted(set(documents.repositories.tolist()))
    held_out = np.zeros(len(pairs))
    for fold in range(FOLDS):
        outside = np.isin(documents.repositories, names[fold::FOLDS])
        held_out[outside] = documents.ndcg(fit(windows, ~outside, prior, options.penalty, active))[outside]
    weights = fit(windows, every, prior, options.penalty, active)
    print(format_table(weights))
    return [
        Figure("all", "queries", len(pairs)),
        Figure("all", "in-sample NDCG@10", documents.mean(documents.ndcg(weights), every)),
        Figure("all", "NDCG@10 held out by folds", documents.mean(held_out, every)),
    ]


def collect(workspace: Workspace, queries: Sequence[BenchQuery]) -> list[Pair]:
    """Run all queries of one project."""
    searcher = open_searcher(workspace, WORKING_TREE, (KIND,), refresh=False)
    (scope,), encoder = searcher.scopes.select(SearchFilters(kinds=(KIND,))), BundledEncoder()
    shown = row_places(workspace, scope)
    pairs = []
    for query in queries:
        retrieved = retrieve(scope, parse_query(query.text), encoder)
        places = [shown[row] for row in retrieved.candidates.row.tolist()]
        by_document = np.argsort(retrieved.candidates.file, kind="stable")
        judged = judge(KIND, query, retrieved, places)
        pairs.append(Pair(judged, by_window(judged, [places[at] for at in by_document.tolist()])))
    return pairs


def by_window(judged: JudgedQuery, places: Sequence[Place]) -> JudgedQuery:
    """Return the same candidates grouped by window."""
    numbers: dict[Place, int] = {}
    window = np.array([numbers.setdefault(place, len(numbers)) for place in places], np.int64)
    order = np.argsort(window, kind="stable")
    return replace(judged, values=judged.values[order], file=window[order], met=judged.met[order])


def format_table(weights: Vector) -> str:
    """Format the weights as in the code."""
    fitted = dict(zip(COLUMNS, weights.tolist(), strict=True))
    fused = (fitted["semantic"] + fitted["lexical"]) / sum(FUSION_WEIGHTS)
    semantic, lexical = (readable(fitted[name] / fused) for name in ("semantic", "lexical"))
    weights_of_records = {"fused": fused, "lexical_gap": fitted["lexical_gap"], "file": fitted["file"]}
    return "\n".join(
        [
            f"RECORD_FUSION: Final = FusionWeights(semantic={semantic}, lexical={lexical})",
            f"RECORD_WEIGHTS = { ({name: readable(value) for name, value in weights_of_records.items()}) }",
        ]
    )
