"""Learn the weights of a linear ranking of files by pairs; the score of a file is that of its best chunk.

The loss is that of LambdaRank (Burges 2010): pairs of a relevant and another file, each weighted by the change of NDCG
if the two were swapped. An L2 penalty, in units of each feature's standard deviation, keeps the weights near a prior.
Pure.
"""

import math
from collections import Counter
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tests.bench.ranking_features import JudgedQuery
from tests.bench.scoring import DEPTH

ROUNDS: Final = 10
STEPS: Final = 20
RATE: Final = 0.05
SCHEDULE: Final = ((0.5, 1.0), (0.8, 0.3), (1.0, 0.1))
"""Schedule of the learning rate: up to each share of the steps, the factor of RATE."""

Vector = NDArray[np.float64]


class Problem:
    """Queries with all their candidates in one array.

    `values` [candidates, features]. Files are numbered for each query anew: `file_of` [candidates] and `query_of`
    [files] are ascending.
    """

    def __init__(self, judged: Sequence[JudgedQuery]) -> None:
        self.queries = [one.query for one in judged]
        self.sets = np.array([one.tree_set for one in judged])
        self.repositories = np.array([one.query.repository for one in judged])
        self.categories = np.array([one.query.category for one in judged])
        self.values = np.concatenate([one.values for one in judged]).astype(np.float64)
        files = [int(one.file[-1]) + 1 if len(one.file) else 0 for one in judged]
        bases = np.cumsum([0, *files])
        self.file_of = np.concatenate([one.file + base for one, base in zip(judged, bases, strict=False)])
        self.first = np.searchsorted(self.file_of, np.arange(bases[-1]))
        self.query_of = np.repeat(np.arange(len(judged)), files)
        self.share = self.shares(np.ones(len(judged), bool))
        self.ideal = np.array([_ideal(len(one.query.targets)) for one in judged])
        self._number_targets(judged)
        self._pair_files(bases)

    def _number_targets(self, judged: Sequence[JudgedQuery]) -> None:
        """Number the targets of all queries consecutively, and pair each candidate with the targets it shows."""
        candidates, targets = 0, 0
        pairs: list[NDArray[np.int64]] = []
        for one in judged:
            pairs.append(np.argwhere(one.met) + np.array([candidates, targets]))
            candidates, targets = candidates + len(one.file), targets + len(one.query.targets)
        self.showing, self.shown = np.concatenate(pairs).T
        self.query_of_target = np.repeat(np.arange(len(judged)), [len(one.query.targets) for one in judged])

    def _pair_files(self, bases: NDArray[np.int64]) -> None:
        """Pair each file that shows a target with every file of its query."""
        self.answering = np.unique(self.file_of[self.showing])
        queries = self.query_of[self.answering]
        sizes = (bases[1:] - bases[:-1])[queries]
        within = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        self.one = np.repeat(np.arange(len(self.answering)), sizes)
        self.other = np.repeat(bases[queries], sizes) + within

    def score_files(self, scores: Vector) -> Vector:
        """Return the score of the best candidate of each file."""
        best: Vector = np.maximum.reduceat(scores, self.first)
        return best

    def ndcg(self, weights: Vector) -> Vector:
        """Return NDCG@10 of each query; a file takes one rank, and ties are broken by path."""
        scores = self.values @ weights
        best = self.score_files(scores)
        own = best[self.answering][self.one]
        before = (best[self.other] > own) | ((best[self.other] == own) & (self.other < self.answering[self.one]))
        ranks = 1 + np.bincount(self.one, before, len(self.answering)).astype(np.int64)
        file = self.file_of[self.showing]
        in_top = scores[self.showing] == best[file]
        rank = ranks[np.searchsorted(self.answering, file)]
        in_top &= rank <= DEPTH
        best_rank = np.full(len(self.query_of_target), DEPTH + 1)
        np.minimum.at(best_rank, self.shown[in_top], rank[in_top])
        has_hit = best_rank <= DEPTH
        places = np.unique(self.query_of_target[has_hit] * (DEPTH + 1) + best_rank[has_hit])
        query, place = np.divmod(places, DEPTH + 1)
        gains: Vector = np.bincount(query, 1 / np.log2(place + 1), len(self.queries)) / self.ideal
        return gains

    def reciprocal_ranks(self, weights: Vector) -> Vector:
        """Return 1 / rank of the first file of each query that shows a target, 0 if none does."""
        best = self.score_files(self.values @ weights)
        answer = np.full(len(self.queries), -np.inf)
        np.maximum.at(answer, self.query_of[self.answering], best[self.answering])
        ranks = 1 + np.bincount(self.query_of, best > answer[self.query_of], len(self.queries))
        reciprocal: Vector = np.where(np.isfinite(answer), 1.0 / ranks, 0.0)
        return reciprocal

    def shares(self, inside: NDArray[np.bool_]) -> Vector:
        """Return the weight of each query in the mean over repositories of the mean over their queries."""
        groups = Counter(zip(self.sets[inside].tolist(), self.repositories[inside].tolist(), strict=True))
        names = zip(self.sets.tolist(), self.repositories.tolist(), strict=True)
        shares = [1 / len(groups) / groups[name] if name in groups else 0.0 for name in names]
        return np.where(inside, np.array(shares), 0.0)

    def mean(self, values: Vector, inside: NDArray[np.bool_]) -> float:
        """Return the mean over repositories of the values of some queries."""
        return float(values @ self.shares(inside))


def _ideal(targets: int) -> float:
    return sum(1 / math.log2(rank + 1) for rank in range(1, min(DEPTH, targets) + 1))


class _Pairs(NamedTuple):
    """Best candidates of files as `values` [files, features]; `better` and `worse` are rows of it, one pair each.

    `share` is the weight of each pair.
    """

    values: Vector
    better: NDArray[np.int64]
    worse: NDArray[np.int64]
    share: Vector


def fit(
    problem: Problem, inside: NDArray[np.bool_], prior: Vector, penalty: float, active: NDArray[np.bool_]
) -> Vector:
    """Fit the weights that rank the queries `inside` best; inactive ones keep their prior."""
    spread = problem.values.std(axis=0)
    moving = active & (spread > 0)
    spread = np.where(spread > 0, spread, 1.0)
    scaled = prior * spread
    start = scaled.copy()
    mean, square = np.zeros_like(scaled), np.zeros_like(scaled)
    for round_number in range(ROUNDS):
        pairs = _choose_pairs(problem, scaled / spread, spread, inside)
        for step in range(round_number * STEPS + 1, (round_number + 1) * STEPS + 1):
            slope = (_slope(pairs, scaled) + penalty * (scaled - start)) * moving
            mean, square = 0.9 * mean + 0.1 * slope, 0.99 * square + 0.01 * slope**2  # Adam: Kingma and Ba 2015
            rate = RATE * next(factor for share, factor in SCHEDULE if step <= share * ROUNDS * STEPS)
            scaled -= rate * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.99**step)) + 1e-8)
    return scaled / spread


def _choose_pairs(problem: Problem, weights: Vector, spread: Vector, inside: NDArray[np.bool_]) -> _Pairs:
    """Return all pairs of the queries inside, weighted by the ranks under the weights."""
    scores = problem.values @ weights
    best = problem.score_files(scores)
    holders = np.flatnonzero(scores == best[problem.file_of])
    holder = np.zeros(len(best), np.int64)
    holder[problem.file_of[holders][::-1]] = holders[::-1]
    better, worse = problem.answering[problem.one], problem.other
    selected = inside[problem.query_of[better]] & ~np.isin(worse, problem.answering)
    better, worse = better[selected], worse[selected]
    gain = 1 / np.log2(_ranks(problem, best) + 1)
    query = problem.query_of[better]
    share = np.abs(gain[better] - gain[worse]) / problem.ideal[query] * problem.share[query]
    used, places = np.unique(np.concatenate([better, worse]), return_inverse=True)
    return _Pairs(problem.values[holder[used]] / spread, places[: len(better)], places[len(better) :], share)


def _ranks(problem: Problem, best: Vector) -> NDArray[np.int64]:
    """Return the rank of each file within its query."""
    order = np.lexsort((-best, problem.query_of))
    ranks = np.empty(len(best), np.int64)
    ranks[order] = np.arange(len(best)) - np.searchsorted(problem.query_of, problem.query_of[order]) + 1
    return ranks


def _slope(pairs: _Pairs, scaled: Vector) -> Vector:
    """Return the gradient of the loss, the sum of share * ln(1 + exp(worse - better))."""
    scores = pairs.values @ scaled
    pull = pairs.share / (1 + np.exp(np.clip(scores[pairs.better] - scores[pairs.worse], -30, 30)))
    size = len(scores)
    each = np.bincount(pairs.worse, pull, size) - np.bincount(pairs.better, pull, size)
    slope: Vector = pairs.values.T @ each
    return slope
