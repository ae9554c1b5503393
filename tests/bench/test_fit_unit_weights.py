"""The fit of the weights by which a definition is shown finds what the answers have in common."""

import numpy as np
import pytest

from gitmem.search.unit_meaning import WEIGHTS
from gitmem.types import ResultUnit
from tests.bench.fit_unit_weights import HELD, SENTENCE, TEXT, Answer, Choice, fit, validate

NAMES = list(WEIGHTS)


def make_choices(kind: str, request: float, feature: str, count: int = 120) -> list[Choice]:
    """Return choices in which the definition with the most of a feature and of the cosine is right."""
    numbers = np.random.default_rng(3)
    choices = []
    for place in range(count):
        features = numbers.normal(size=(5, len(NAMES)))
        wanted = features[:, NAMES.index("text")] + 3 * features[:, NAMES.index(feature)] + numbers.gumbel(size=5)
        choices.append(Choice(f"r{place % 9}", kind, request, features, wanted == wanted.max()))
    return choices


def test_questions_and_requests_get_weights_of_their_own() -> None:
    choices = [*make_choices(SENTENCE, 0.0, "name"), *make_choices(TEXT, 1.0, "size")]
    question, request = (dict(zip(NAMES, part, strict=True)) for part in fit(choices).reshape(2, -1).tolist())
    assert question["text"] == request["text"] == 1.0
    assert question["name"] == pytest.approx(3.0, abs=1.2)
    assert abs(question["size"]) < 0.6
    assert request["size"] == pytest.approx(3.0, abs=1.2)
    assert abs(request["name"]) < 0.6
    assert [question[name] for name in HELD] == [WEIGHTS[name].question for name in HELD]


def test_each_repository_is_judged_by_weights_that_were_fitted_without_it() -> None:
    choices = make_choices(SENTENCE, 0.0, "words", 90)
    judged = dict(validate(choices))
    assert sorted(judged) == list(range(90))
    # One repository with contradicting answers: nothing fitted on the others can show them.
    other = [choice._replace(repository="other", features=-choice.features) for choice in choices[:30]]
    judged = dict(validate([*choices, *other]))
    assert sum(judged[place] for place in range(90)) > 60
    assert sum(judged[place] for place in range(90, 120)) < 6


def test_a_definition_is_met_by_its_name_and_lines() -> None:
    unit = ResultUnit(0, 90, 10, 20, "method", "Ring.rotate, empty")
    assert Answer("a.py", 12, 14, "empty").is_met(unit)
    assert Answer("a.py", 20, 30, "rotate").is_met(unit)
    assert not Answer("a.py", 21, 30, "rotate").is_met(unit)
    assert not Answer("a.py", 12, 14, "rot").is_met(unit)
