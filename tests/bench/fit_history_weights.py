"""Fit the ranking weights on commit messages, documentation and names of public repositories; validate on others.

A quarter of the repositories is held back, chosen by name: their figures are those of weights that never saw them. With
`--queries` and `--trees`, queries with known answers are measured too. They take no part in the fit.
"""

import argparse
import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gitmem.search.engine import FUSION_WEIGHTS
from gitmem.search.rank import WEIGHTS
from tests.bench.figures import Figure
from tests.bench.fit_code_weights import HELD, format_weights
from tests.bench.history_features import add_history_options, load_history_features
from tests.bench.pairwise_learning import Problem, Vector, fit
from tests.bench.ranking_features import COLUMNS, FUSED, load_features
from tests.bench.subjects import SubjectError

PENALTY: Final = 0.01
HELD_BACK_SHARE: Final = 4
"""One repository in so many is held back."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options for mined repositories, the fit, and queries with known answers."""
    add_history_options(parser)
    parser.add_argument("--penalty", type=float, default=PENALTY, help="weight of the L2 penalty")
    parser.add_argument("--around", choices=("zero", "current"), default="zero", help="the prior")
    parser.add_argument("--kinds", nargs="+", default=["commit", "doc", "file", "name"], help="queries to fit on")
    parser.add_argument("--queries", type=Path, help="folder with repos.json and queries/")
    parser.add_argument("--trees", type=Path, nargs="+", help="folders with a repository per name")
    parser.add_argument("--features", type=Path, metavar="FILE", help="file of the features of these queries")


def measure(options: argparse.Namespace) -> list[Figure]:
    """Fit, print the table, and compare it with the current weights."""
    judged = load_history_features(options)
    if not judged["hybrid"]:
        raise SubjectError(f"{options.mined} has no queries")
    problem, lexical = Problem(judged["hybrid"]), Problem(judged["lexical"])
    held_back = is_held_back(problem.repositories)
    if held_back.all() or not held_back.any():
        raise SubjectError(f"{options.mined} has too few repositories: none is held back, or all are")
    fitted = fit_weights(problem, ~held_back & np.isin(problem.sets, options.kinds), options.penalty, options.around)
    print(format_weights(fitted))
    tables = {"current weights": current_weights(), "fitted weights": fitted}
    figures = compare_tables("held back", problem, tables, held_back)
    figures += compare_tables("held back, lexical mode", lexical, tables, held_back)
    if options.queries:
        known = Problem(load_features(options)["hybrid"])
        figures += compare_tables("known answers", known, tables, np.ones(len(known.queries), bool))
    return figures


def fit_weights(problem: Problem, inside: NDArray[np.bool_], penalty: float, around: str) -> Vector:
    """Fit the weights on some queries; those in HELD stay."""
    active = np.array([name not in HELD for name in COLUMNS])
    current = current_weights()
    return fit(problem, inside, current if around == "current" else np.where(active, 0.0, current), penalty, active)


def current_weights() -> Vector:
    """Return the weights in the code, in the order of COLUMNS."""
    return np.array([getattr(FUSION_WEIGHTS, name) if name in FUSED else WEIGHTS[name] for name in COLUMNS])


def is_held_back(repositories: NDArray[np.str_]) -> NDArray[np.bool_]:
    """Return which queries belong to repositories that the fit must not see."""
    digests = [hashlib.sha256(name.encode()).digest()[0] for name in repositories.tolist()]
    return np.array([digest % HELD_BACK_SHARE == 0 for digest in digests], bool)


def compare_tables(
    label: str, problem: Problem, tables: Mapping[str, Vector], inside: NDArray[np.bool_]
) -> list[Figure]:
    """Return NDCG@10 and mean reciprocal rank of files by set of queries, for each table of weights."""
    figures = []
    for query_set in sorted(set(problem.sets[inside].tolist())):
        own = inside & (problem.sets == query_set)
        for name, weights in tables.items():
            for measured, values in (("NDCG@10", problem.ndcg), ("reciprocal rank", problem.reciprocal_ranks)):
                mean = problem.mean(values(weights), own)
                figures.append(Figure(f"{label}: {query_set}", f"{measured}, {name}", mean))
    return figures
