"""Fit the ranking weights for code on queries with known targets, and validate them on held-out repositories.

Cross-validation over repositories: each fold is scored with weights fitted on the others. A repository that is in two
sets of trees (its source folder, all of it) is in one fold. Prints the tables for `gitmem/search/rank.py` and
`gitmem/search/engine.py`.
"""

import argparse
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gitmem.search.rank import WEIGHTS
from tests.bench.figures import Figure
from tests.bench.pairwise_learning import Problem, Vector, fit
from tests.bench.ranking_features import COLUMNS, FUSED, TIED, add_collection_options, load_features
from tests.bench.scoring import DEPTH

HELD: Final = ("path", "named_file", "named_row", "lexical_gap")
"""Features that these queries cannot fit, because their targets are files: their weights stay unchanged."""

PENALTY: Final = 0.01
LIMITS: Final = (0.88, 0.86)
"""For the first set of trees, source folders, and for others, whole repositories."""

DRAWS: Final = 2000


class Validated(NamedTuple):
    """NDCG@10 of each query: by weights fitted without its repository, and by `weights`, fitted on all.

    `folds` are the queries of each fold and the weights fitted without them.
    """

    held_out: Vector
    in_sample: Vector
    weights: Vector
    folds: list[tuple[NDArray[np.bool_], Vector]]


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options for queries, repositories and the fit."""
    add_collection_options(parser)
    add_fit_options(parser)


def add_fit_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the fit."""
    parser.add_argument("--folds", type=int, default=7)
    parser.add_argument("--penalty", type=float, default=PENALTY, help="weight of the L2 penalty")


def measure(options: argparse.Namespace) -> list[Figure]:
    """Fit, print the table, and validate."""
    hybrid, lexical = (Problem(judged) for judged in load_features(options).values())
    validated = validate(hybrid, options.folds, options.penalty)
    print(format_weights(validated.weights))
    others = {
        "lexical": judge_folds(lexical, validated.folds),
        "lexical with weights of its own": validate(lexical, options.folds, options.penalty).held_out,
    }
    return [*judge_sets(hybrid, validated), *compare_modes(hybrid, validated.held_out, others)]


def validate(problem: Problem, folds: int, penalty: float, active: NDArray[np.bool_] | None = None) -> Validated:
    """Fit on all repositories and without each fold of them."""
    active = np.array([name not in HELD for name in COLUMNS]) if active is None else active
    prior = np.array([WEIGHTS[name] if name in HELD else 0.0 for name in COLUMNS])
    names = sorted(set(problem.repositories.tolist()))
    fitted = []
    for fold in range(folds):
        outside = np.isin(problem.repositories, names[fold::folds])
        fitted.append((outside, fit(problem, ~outside, prior, penalty, active)))
    weights = fit(problem, np.ones(len(problem.queries), bool), prior, penalty, active)
    return Validated(judge_folds(problem, fitted), problem.ndcg(weights), weights, fitted)


def judge_folds(problem: Problem, folds: Iterable[tuple[NDArray[np.bool_], Vector]]) -> Vector:
    """Return NDCG@10 of each query by the weights of its fold."""
    held_out = np.zeros(len(problem.queries))
    for outside, weights in folds:
        held_out[outside] = problem.ndcg(weights)[outside]
    return held_out


def judge_sets(problem: Problem, validated: Validated) -> list[Figure]:
    """Return held-out and in-sample means of each set of trees, by category and by repository."""
    figures = []
    for place, tree_set in enumerate(dict.fromkeys(problem.sets.tolist())):
        inside = problem.sets == tree_set
        for kind, values in (("repository", problem.repositories), ("category", problem.categories)):
            for value in sorted(set(values[inside].tolist())):
                mean = problem.mean(validated.held_out, inside & (values == value))
                figures.append(Figure(f"{tree_set}: {value}", f"held-out NDCG@10 of a {kind}", mean))
        figures.append(Figure(tree_set, "in-sample NDCG@10", problem.mean(validated.in_sample, inside)))
        mean = problem.mean(validated.held_out, inside)
        figures.append(Figure(tree_set, "held-out NDCG@10", mean, at_least=LIMITS[min(place, 1)]))
    return figures


def compare_modes(problem: Problem, ours: Vector, others: Mapping[str, Vector]) -> list[Figure]:
    """Return the gain of hybrid over other modes, by set of trees and category.

    The 95 % interval is that of a paired bootstrap over queries. The limit applies to `--mode lexical`, the first of
    the others.
    """
    figures = []
    for tree_set, category in sorted(set(zip(problem.sets.tolist(), problem.categories.tolist(), strict=True))):
        inside = (problem.sets == tree_set) & (problem.categories == category)
        for place, (name, theirs) in enumerate(others.items()):
            low, high = bootstrap((ours - theirs)[inside], problem.shares(inside)[inside])
            gain = problem.mean(ours - theirs, inside)
            label = f"hybrid less {name} [{low:+.3f}, {high:+.3f}]"
            figures.append(Figure(f"{tree_set}: {category}", label, gain, at_least=None if place else 0.0))
    return figures


def bootstrap(values: Vector, share: Vector) -> tuple[float, float]:
    """Return the interval with 95 % of the weighted means of resampled queries."""
    samples = np.random.default_rng(1).integers(0, len(values), (DRAWS, len(values)))
    means = np.sort((values * share)[samples].sum(axis=1) / share[samples].sum(axis=1))
    return float(means[DRAWS // 40]), float(means[-DRAWS // 40])


def best_files(problem: Problem, weights: Vector) -> tuple[Vector, NDArray[np.int64]]:
    """Return the sum of every file, and the ten best files of each query."""
    best = problem.score_files(problem.values @ weights)
    order = np.lexsort((-best, problem.query_of))
    place = np.arange(len(order)) - np.searchsorted(problem.query_of, problem.query_of[order])
    return best, order[place < DEPTH]


def format_weights(weights: Vector) -> str:
    """Format the tables as in the code."""
    fitted = dict(zip(COLUMNS, map(readable, weights.tolist()), strict=True))
    semantic, lexical = (fitted[name] for name in FUSED)
    lines = [f"FUSION_WEIGHTS: Final = FusionWeights(semantic={semantic}, lexical={lexical})", ""]
    lines += [f'    "{name}": {value},' for name, value in merge(fitted).items()]
    return "\n".join([*lines, ""])


def merge(fitted: dict[str, float]) -> dict[str, float]:
    """Return the fitted weights in the order of the table, including those of tied features."""
    tied = {name: readable(fitted[other] * share) for name, (other, share) in TIED.items()}
    return {name: 1.0 if name == "fused" else (fitted | tied)[name] for name in WEIGHTS}


def readable(value: float) -> float:
    """Round to two significant digits; the queries support no more."""
    return float(f"{value:.2g}")
