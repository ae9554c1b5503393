"""Weights are learnt from queries with one informative feature, and their NDCG equals that of `scoring`."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.bench.fit_code_weights import bootstrap, merge, readable, validate
from tests.bench.pairwise_learning import Problem, fit
from tests.bench.quality import BenchQuery
from tests.bench.ranking_features import COLUMNS, JudgedQuery
from tests.bench.scoring import Place, Target, score

TELLING = COLUMNS.index("semantic")
MISLEADING = COLUMNS.index("lexical")


def judged_query(number: int, values: np.ndarray, file: list[int], targets: list[int]) -> JudgedQuery:
    """Return a query about repository `number % 7` whose targets are the files `targets`."""
    query = BenchQuery(f"r{number % 7}", "words", "semantic", tuple(Target(f"{target:03}.py") for target in targets))
    met = np.array([[one == target for target in targets] for one in file], bool).reshape(len(file), len(targets))
    return JudgedQuery("trees", query, values.astype(np.float32), np.array(file, np.int64), met)


def informative_queries(count: int) -> list[JudgedQuery]:
    """Return queries with one informative feature, often in a second chunk, and a misleading one."""
    dice = np.random.default_rng(0)
    judged = []
    for number in range(count):
        file = np.repeat(np.arange(15), 2)
        values = dice.normal(size=(30, len(COLUMNS))) * 0.3
        answer = int(dice.integers(0, 15))
        values[2 * answer + number % 2, TELLING] += 3
        values[file != answer, MISLEADING] += 0.5
        judged.append(judged_query(number, values, file.tolist(), [answer]))
    return judged


@settings(max_examples=60, deadline=None)
@given(
    scores=st.lists(st.tuples(st.integers(0, 14), st.integers(-3, 3)), min_size=1, max_size=40),
    targets=st.lists(st.integers(0, 16), min_size=1, max_size=3, unique=True),
)
def test_ndcg_ranks_files_by_their_best_chunk(scores: list[tuple[int, int]], targets: list[int]) -> None:
    scores.sort(key=lambda pair: pair[0])
    names = sorted({file for file, _ in scores})
    values = np.zeros((len(scores), len(COLUMNS)))
    values[:, TELLING] = [value for _, value in scores]
    file = [names.index(name) for name, _ in scores]
    met = np.array([[name == target for target in targets] for name, _ in scores], bool)
    one = judged_query(0, values, file, targets)
    problem = Problem([JudgedQuery(one.tree_set, one.query, one.values, one.file, met), *informative_queries(1)])
    weights = np.eye(len(COLUMNS))[TELLING]
    best = {name: max(value for other, value in scores if other == name) for name in names}
    ranked = [Place(f"{name:03}.py", 1, 1) for name in sorted(names, key=lambda name: (-best[name], name))]
    assert problem.ndcg(weights)[0] == pytest.approx(score(ranked, one.query.targets).ndcg)


def test_ndcg_of_a_query_without_candidates_is_zero() -> None:
    empty = judged_query(1, np.zeros((0, len(COLUMNS))), [], [3])
    problem = Problem([*informative_queries(1), empty, *informative_queries(2)])
    gains = problem.ndcg(np.eye(len(COLUMNS))[TELLING])
    assert gains.tolist() == [1.0, 0.0, 1.0, 1.0]


def test_each_repository_has_the_same_share_of_the_mean() -> None:
    problem = Problem(informative_queries(8))
    values = np.array([1.0, 0, 0, 0, 0, 0, 0, 0])
    assert problem.mean(values, np.ones(8, bool)) == pytest.approx(1 / 14)


def test_fitted_weights_generalise_to_held_out_repositories() -> None:
    problem = Problem(informative_queries(42))
    fit_result = validate(problem, 7, 0.01)
    everything = np.ones(42, bool)
    assert problem.mean(fit_result.held_out, everything) > 0.9
    assert fit_result.weights[TELLING] > 1
    assert fit_result.weights[MISLEADING] < 0
    blind = validate(problem, 7, 0.01, np.array([name == "file" for name in COLUMNS]))
    assert problem.mean(blind.held_out, everything) < 0.5


def test_inactive_weights_do_not_change_and_a_strong_penalty_keeps_all() -> None:
    problem = Problem(informative_queries(14))
    inside = np.ones(14, bool)
    prior = np.full(len(COLUMNS), 0.5)
    active = np.array([name != "semantic" for name in COLUMNS])
    weights = fit(problem, inside, prior, 0.01, active)
    assert weights[TELLING] == pytest.approx(0.5)
    assert weights[MISLEADING] != pytest.approx(0.5, abs=0.05)
    assert fit(problem, inside, prior, 1000.0, active) == pytest.approx(prior, abs=0.1)


def test_an_interval_contains_the_mean_and_shrinks_with_more_queries() -> None:
    values = np.random.default_rng(3).normal(0.1, 1.0, 400)
    wide, narrow = bootstrap(values[:40], np.ones(40)), bootstrap(values, np.ones(400))
    assert narrow[0] < values.mean() < narrow[1]
    assert narrow[1] - narrow[0] < wide[1] - wide[0]


def test_the_table_contains_every_weight_and_ties_the_rare_ones() -> None:
    table = merge(dict.fromkeys(COLUMNS, 2.0))
    assert table["fused"] == 1.0
    assert table["definition_folded"] == pytest.approx(1.6)
    assert readable(0.123456) == 0.12
