"""Values of the ranking's features for every candidate of every query, as arrays for the fit of the weights."""

import argparse
import os
import pickle
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gitmem.answering.search_query import ALL_CONTENT
from gitmem.answering.searcher import open_searcher
from gitmem.embedding.bundled import BundledEncoder
from gitmem.freshness.tree_selection import WORKING_TREE
from gitmem.search.engine import rank_candidates
from gitmem.search.fuse import FusionWeights
from gitmem.search.query_parser import parse_query
from gitmem.search.rank import WEIGHTS
from gitmem.search.retrieval import Retrieval, retrieve
from gitmem.search.scope import Scope
from gitmem.workspace import open_workspace
from tests.bench.commands import Gitmem, load_gitmem
from tests.bench.processes import run
from tests.bench.quality import BenchQuery, find_tree, read_names, read_queries
from tests.bench.scoring import Place
from tests.bench.subjects import clone_subject, work_folder

FUSED: Final = {"semantic": FusionWeights(1.0, 0.0), "lexical": FusionWeights(0.0, 1.0)}
"""The two standard scores whose weighted sum is `fused`; they are fitted separately."""

TIED: Final = {"definition_folded": ("definition", 0.8)}
"""Features too rare for their own weight: the factor of another feature's weight."""

COLUMNS: Final = (*FUSED, *(name for name in WEIGHTS if name != "fused" and name not in TIED))
"""Features with their own weight."""

MODES: Final = ("hybrid", "lexical")


@dataclass(frozen=True, slots=True)
class JudgedQuery:
    """Candidates of a query, ordered by file.

    `values` [candidates, COLUMNS], `file` [candidates] counts files from 0, `met` [candidates, targets] is true
    if a candidate shows a target.
    """

    tree_set: str
    query: BenchQuery
    values: NDArray[np.float32]
    file: NDArray[np.int64]
    met: NDArray[np.bool_]


def add_collection_options(parser: argparse.ArgumentParser) -> None:
    """Add the options for queries, sets of repositories and the file of features."""
    parser.add_argument("--queries", type=Path, required=True, help="folder with repos.json and queries/")
    parser.add_argument("--trees", type=Path, nargs="+", required=True, help="folders with a repository per name")
    parser.add_argument(
        "--features", type=Path, metavar="FILE", help="file of the features: read if it exists, else written"
    )


def load_features(options: argparse.Namespace) -> dict[str, list[JudgedQuery]]:
    """Return the features of all queries by mode; cache them in a file if the options name one."""
    if options.features and options.features.exists():
        with options.features.open("rb") as file:
            cached: dict[str, list[JudgedQuery]] = pickle.load(file)
        return cached
    features = collect(options)
    if options.features:
        with options.features.open("wb") as file:
            pickle.dump(features, file)
    return features


def collect(options: argparse.Namespace) -> dict[str, list[JudgedQuery]]:
    """Index all repositories of all sets of trees and collect the features of their queries by mode."""
    gitmem = load_gitmem(options)
    features: dict[str, list[JudgedQuery]] = {mode: [] for mode in MODES}
    for trees in options.trees:
        for name in read_names(options.queries, []):
            queries = read_queries(options.queries, name)
            with work_folder(options) as work:
                subject = clone_subject(find_tree(trees, name), work)
                for mode, judged in _collect_query_features(gitmem, trees.name, subject.path, queries):
                    features[mode].append(judged)
    return features


def _collect_query_features(
    gitmem: Gitmem, tree_set: str, path: Path, queries: list[BenchQuery]
) -> Iterator[tuple[str, JudgedQuery]]:
    run(gitmem.index(path))
    workspace = open_workspace(path, os.environ)
    searcher = open_searcher(workspace, WORKING_TREE, refresh=False)
    (scope,), encoder = searcher.scopes.select(ALL_CONTENT), BundledEncoder()
    for query in queries:
        for mode in MODES:
            retrieved = retrieve(scope, parse_query(query.text), encoder, mode=mode)
            yield mode, judge(tree_set, query, retrieved, places_of(scope, retrieved))


def places_of(scope: Scope, retrieved: Retrieval) -> list[Place]:
    """Return the locations of the candidates."""
    candidates = retrieved.candidates
    lines = scope.snapshot.gather(("line", "lines"), candidates.row)
    first = lines["line"].astype(np.int64)
    last = first + lines["lines"].astype(np.int64) - 1
    paths = [candidates.paths[file] for file in candidates.file.tolist()]
    return [Place(*values) for values in zip(paths, first.tolist(), last.tolist(), strict=True)]


def judge(tree_set: str, query: BenchQuery, retrieved: Retrieval, places: Sequence[Place]) -> JudgedQuery:
    """Return the features of retrieved candidates and the targets they meet; `places` are their shown locations."""
    candidates = retrieved.candidates
    features = rank_candidates(retrieved, limit=1).features
    columns = {name: values for name, values in features.items() if name in COLUMNS}
    for name, weights in FUSED.items():
        columns[name] = rank_candidates(retrieved, limit=1, weights=weights, record_weights=weights).features["fused"]
    for name, (other, share) in TIED.items():
        columns[other] = columns[other] + share * features[name]
    met = [[target.is_met_by(place) for target in query.targets] for place in places]
    by_file = np.argsort(candidates.file, kind="stable")
    return JudgedQuery(
        tree_set,
        query,
        np.stack([columns[name] for name in COLUMNS], axis=1).astype(np.float32)[by_file],
        candidates.file[by_file].astype(np.int64),
        np.array(met, bool).reshape(len(places), len(query.targets))[by_file],
    )
