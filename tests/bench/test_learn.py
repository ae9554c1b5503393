"""Weights are learnt from questions whose answer one feature tells, and judged as answers are scored elsewhere."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.bench.features import COLUMNS, Judged
from tests.bench.fit import bootstrap, calibrate, merge, readable, validate
from tests.bench.learn import Problem, fit
from tests.bench.quality import Question
from tests.bench.scoring import Place, Target, score

TELLING = COLUMNS.index("semantic")
MISLEADING = COLUMNS.index("lexical")


def made_judged(number: int, values: np.ndarray, file: list[int], targets: list[int]) -> Judged:
    """A question about repository `number % 7` whose answers are the files `targets`."""
    question = Question(f"r{number % 7}", "words", "semantic", tuple(Target(f"{target:03}.py") for target in targets))
    met = np.array([[one == target for target in targets] for one in file], bool).reshape(len(file), len(targets))
    return Judged("trees", question, values.astype(np.float32), np.array(file, np.int64), met)


def told_questions(count: int) -> list[Judged]:
    """Questions whose answering file is told by one feature, often in a second chunk, while another one points away."""
    dice = np.random.default_rng(0)
    judged = []
    for number in range(count):
        file = np.repeat(np.arange(15), 2)
        values = dice.normal(size=(30, len(COLUMNS))) * 0.3
        answer = int(dice.integers(0, 15))
        values[2 * answer + number % 2, TELLING] += 3
        values[file != answer, MISLEADING] += 0.5
        judged.append(made_judged(number, values, file.tolist(), [answer]))
    return judged


@settings(max_examples=60, deadline=None)
@given(
    scores=st.lists(st.tuples(st.integers(0, 14), st.integers(-3, 3)), min_size=1, max_size=40),
    targets=st.lists(st.integers(0, 16), min_size=1, max_size=3, unique=True),
)
def test_ndcg_is_that_of_the_files_in_the_order_of_their_best_chunks(
    scores: list[tuple[int, int]], targets: list[int]
) -> None:
    scores.sort(key=lambda pair: pair[0])
    names = sorted({file for file, _ in scores})
    values = np.zeros((len(scores), len(COLUMNS)))
    values[:, TELLING] = [value for _, value in scores]
    file = [names.index(name) for name, _ in scores]
    met = np.array([[name == target for target in targets] for name, _ in scores], bool)
    one = made_judged(0, values, file, targets)
    problem = Problem([Judged(one.tree_set, one.question, one.values, one.file, met), *told_questions(1)])
    weights = np.eye(len(COLUMNS))[TELLING]
    best = {name: max(value for other, value in scores if other == name) for name in names}
    ranked = [Place(f"{name:03}.py", 1, 1) for name in sorted(names, key=lambda name: (-best[name], name))]
    assert problem.ndcg(weights)[0] == pytest.approx(score(ranked, one.question.targets).ndcg)


def test_a_question_without_candidates_is_worth_nothing() -> None:
    none = made_judged(1, np.zeros((0, len(COLUMNS))), [], [3])
    problem = Problem([*told_questions(1), none, *told_questions(2)])
    gains = problem.ndcg(np.eye(len(COLUMNS))[TELLING])
    assert gains.tolist() == [1.0, 0.0, 1.0, 1.0]


def test_the_mean_is_over_repositories() -> None:
    problem = Problem(told_questions(8))
    values = np.array([1.0, 0, 0, 0, 0, 0, 0, 0])
    assert problem.mean(values, np.ones(8, bool)) == pytest.approx(1 / 14)


def test_weights_follow_what_tells_the_answers_in_repositories_never_seen() -> None:
    problem = Problem(told_questions(42))
    made = validate(problem, 7, 0.01)
    everything = np.ones(42, bool)
    assert problem.mean(made.held_out, everything) > 0.9
    assert made.weights[TELLING] > 1
    assert made.weights[MISLEADING] < 0
    blind = validate(problem, 7, 0.01, np.array([name == "file" for name in COLUMNS]))
    assert problem.mean(blind.held_out, everything) < 0.5


def test_what_is_held_does_not_move_and_a_strong_penalty_holds_all() -> None:
    problem = Problem(told_questions(14))
    inside = np.ones(14, bool)
    prior = np.full(len(COLUMNS), 0.5)
    active = np.array([name != "semantic" for name in COLUMNS])
    weights = fit(problem, inside, prior, 0.01, active)
    assert weights[TELLING] == pytest.approx(0.5)
    assert weights[MISLEADING] != pytest.approx(0.5, abs=0.05)
    assert fit(problem, inside, prior, 1000.0, active) == pytest.approx(prior, abs=0.1)


def test_scores_are_calibrated_to_how_often_files_answer() -> None:
    problem = Problem(told_questions(20))
    weights = np.eye(len(COLUMNS))[TELLING]
    best = problem.score_files(problem.values @ weights).reshape(20, 15)
    shown = np.sort(best, axis=1)[:, -10:]
    scores = 1 / (1 + np.exp(-(shown + calibrate(problem, weights))))
    assert scores.mean() == pytest.approx(0.1, abs=0.01)


def test_an_interval_holds_the_mean_and_shrinks_with_more_questions() -> None:
    values = np.random.default_rng(3).normal(0.1, 1.0, 400)
    wide, narrow = bootstrap(values[:40], np.ones(40)), bootstrap(values, np.ones(400))
    assert narrow[0] < values.mean() < narrow[1]
    assert narrow[1] - narrow[0] < wide[1] - wide[0]


def test_the_table_names_every_weight_and_ties_the_rare_ones() -> None:
    table = merge(dict.fromkeys(COLUMNS, 2.0))
    assert table["fused"] == 1.0
    assert table["definition_folded"] == pytest.approx(1.6)
    assert readable(0.123456) == 0.12
