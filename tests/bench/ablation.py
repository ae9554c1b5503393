"""Contribution of each signal of the ranking: NDCG@10 without it, with the other weights refitted or unchanged.

Folds and fit are those of `fit`. Unchanged weights were fitted on all repositories; compare with in-sample figures.
"""

import argparse
from typing import Final

import numpy as np

from tests.bench.figures import Figure
from tests.bench.fit_code_weights import HELD, Validated, add_fit_options, validate
from tests.bench.pairwise_learning import Problem, Vector
from tests.bench.ranking_features import COLUMNS, add_collection_options, load_features

GROUPS: Final = {
    "all features of the embedding": ("semantic", "path_cosine"),
    "all features of the path": ("stem", "folder", "path_cosine"),
    "all roles": ("test", "example", "document", "auxiliary"),
}


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options for queries, repositories and the fit."""
    add_collection_options(parser)
    add_fit_options(parser)


def measure(options: argparse.Namespace) -> list[Figure]:
    """Remove one signal after the other."""
    problem = Problem(load_features(options)["hybrid"])
    whole = validate(problem, options.folds, options.penalty)
    figures = describe(problem, "nothing", whole, whole.in_sample)
    for name, removed in {**{name: (name,) for name in COLUMNS if name not in HELD}, **GROUPS}.items():
        remaining = np.array([column not in (*HELD, *removed) for column in COLUMNS])
        without = validate(problem, options.folds, options.penalty, remaining)
        active = np.array([column not in removed for column in COLUMNS])
        figures += describe(problem, name, without, problem.ndcg(whole.weights * active))
    return figures


def describe(problem: Problem, removed: str, refitted: Validated, unchanged: Vector) -> list[Figure]:
    """Return the figures without a signal for each set of trees."""
    figures = []
    for tree_set in dict.fromkeys(problem.sets.tolist()):
        inside = problem.sets == tree_set
        figures.append(Figure(f"without {removed}", f"{tree_set}, refitted", problem.mean(refitted.held_out, inside)))
        figures.append(Figure(f"without {removed}", f"{tree_set}, unchanged", problem.mean(unchanged, inside)))
    return figures
