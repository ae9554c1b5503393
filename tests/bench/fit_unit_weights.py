"""Fit the weights by which the shown definition of a file is chosen, and validate them on other repositories.

Questions are sentences of removed documentation, as in `definition_choice`; their answer is the definition that they
described. Requests are messages of commits, as in `change_requests`; their answers are the functions that the commit
changed. The likelihood of a definition among those that are compared is a softmax of the weighted features, and each
weight is one of a question and one of a request. Prints the table for `gitmem/search/unit_meaning.py`.
"""

import argparse
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gitmem.chunking.blob_text import text_of
from gitmem.embedding.bundled import BundledEncoder
from gitmem.git.object_reader import ObjectReader
from gitmem.git.objects import open_reader
from gitmem.search.engine import SearchResult, search
from gitmem.search.query_parser import parse_query
from gitmem.search.unit_choice import is_compared, rows_of_file
from gitmem.search.unit_meaning import WEIGHTS, measure_units
from gitmem.types import ResultUnit
from gitmem.workspace import open_workspace
from tests.bench.definition_choice import choose, remove_all
from tests.bench.figures import Figure
from tests.bench.history_features import search_trees
from tests.bench.history_queries import TreeQuery
from tests.bench.scoring import DEPTH
from tests.bench.subjects import SubjectError, clone_subject, git, remove_subject, work_folder

SENTENCE: Final = "sentences"
LINE: Final = "messages of one line"
TEXT: Final = "messages with a paragraph"

HELD: Final = ("brevity", "topic")
"""Features that these queries cannot fit, because none of them is a topic alone: their weights stay unchanged.

So does a weight of 0.
"""

FOLDS: Final = 7
PENALTY: Final = 1.0
MESSAGE_COUNT: Final = 3
"""Times that a message counts in the fit: there are fewer of them than of sentences."""

STEPS: Final = 30

Vector = NDArray[np.float64]


class Answer(NamedTuple):
    """Definition that answers a query: a path, 1-based lines, inclusive, and the name without its container."""

    path: str
    first: int
    last: int
    name: str

    def is_met(self, unit: ResultUnit) -> bool:
        """Return whether a unit of the same file is the definition."""
        return unit.start_line <= self.last and self.first <= unit.end_line and self.name in _names(unit.symbol)


class Choice(NamedTuple):
    """Definitions of a file among which one is chosen: their features [definitions, weights], and which are right.

    `request` is how surely the query asks for a change.
    """

    repository: str
    kind: str
    request: float
    features: Vector
    is_right: NDArray[np.bool_]


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the repositories of both kinds of queries."""
    parser.add_argument("--repositories", type=Path, required=True, help="folder of bare clones, OWNER+NAME/repo")
    parser.add_argument("--mined", type=Path, required=True, help="output of models.recipe.histories for some of them")
    parser.add_argument("--queries", type=int, default=200, help="most sentences of a repository")
    parser.add_argument("--commits", type=int, default=24, help="most commits of a repository")


def measure(options: argparse.Namespace) -> list[Figure]:
    """Fit, print the table, and compare with the current weights on repositories that were left out."""
    choices = [choice for folder in sorted(options.repositories.iterdir()) for choice in collect(options, folder)]
    if not choices:
        raise SubjectError(f"{options.repositories} has no queries")
    print(format_weights(fit(choices)))
    figures = []
    held_out = [is_right for _, is_right in sorted(validate(choices))]
    shipped = [shows_right(choice, _current_weights()) for choice in choices]
    for kind in (SENTENCE, LINE, TEXT):
        places = [place for place, choice in enumerate(choices) if choice.kind == kind]
        if places:
            subject = f"{len(places)} files of {kind}"
            figures += [
                Figure(subject, "right definition, current weights", float(np.mean([shipped[at] for at in places]))),
                Figure(subject, "right definition, held-out weights", float(np.mean([held_out[at] for at in places]))),
                Figure(subject, "among the compared", float(np.mean([choices[at].is_right.any() for at in places]))),
            ]
    return figures


def collect(options: argparse.Namespace, folder: Path) -> Iterator[Choice]:
    """Yield the choices of one repository, of both kinds of queries."""
    name = folder.name
    with work_folder(options) as work:
        subject = clone_subject(folder / "repo", work)
        yield from collect_choices(name, subject.path, read_messages(options.mined / f"{name}.jsonl", options.commits))
        sentences = choose(remove_all(subject.path), options.queries)
        tree = git(subject.path, "rev-parse", "HEAD^{tree}").strip()
        queries = {
            TreeQuery(SENTENCE, tree, one.definition.sentence, (one.path,)): [
                Answer(one.path, one.definition.line, one.definition.line, one.definition.name)
            ]
            for one in sentences
        }
        yield from collect_choices(name, subject.path, queries)
        remove_subject(subject)


def read_messages(mined: Path, limit: int) -> dict[TreeQuery, list[Answer]]:
    """Return the messages of commits with the functions that they changed; one with a paragraph gives two queries."""
    queries: dict[TreeQuery, list[Answer]] = {}
    for line in mined.read_text(encoding="utf-8").splitlines()[:limit] if mined.exists() else []:
        entry = json.loads(line)
        answers = [
            Answer(one["path"], one["start"], one["end"], one["symbol"].rpartition(".")[2])
            for one in entry["functions"]
        ]
        paths = tuple(dict.fromkeys(answer.path for answer in answers))
        for text in dict.fromkeys((entry["subject"], entry["text"])):
            queries[TreeQuery(TEXT if "\n" in text else LINE, entry["tree"], text, paths)] = answers
    return queries


def collect_choices(repository: str, clone: Path, queries: Mapping[TreeQuery, Sequence[Answer]]) -> Iterator[Choice]:
    """Search for queries in their trees, and yield the choices in the files of their answers that are found."""
    workspace, encoder = open_workspace(clone, os.environ), BundledEncoder()
    with open_reader(workspace.location, bulk=True) as reader:
        for query, scope in search_trees(workspace, clone / ".bench-index", list(queries), names=False):
            result = search([scope], parse_query(query.text), encoder, limit=DEPTH)
            yield from _choices_of(repository, query, result, queries[query], reader)


def _choices_of(
    repository: str, query: TreeQuery, result: SearchResult, answers: Sequence[Answer], reader: ObjectReader
) -> Iterator[Choice]:
    if result.meaning is None:
        return
    for path in query.paths:
        hits = [hit for hit in result.hits if hit.path == path]
        if not hits:
            continue
        ranked = rows_of_file(hits)
        rows = [row for place, row in enumerate(ranked) if is_compared(place, row)]
        texts = {row.source: text_of(reader.read(row.blob) or b"", row.language) for row in rows[:1]}
        measured = [one for units in measure_units(rows, texts, result.meaning) for one in units]
        own = [answer for answer in answers if answer.path == path]
        is_right = [any(answer.is_met(one.unit) for answer in own) for one in measured]
        features = np.array([one.features for one in measured])
        yield Choice(repository, query.kind, result.meaning.request, features, np.array(is_right))


def _names(symbol: str) -> list[str]:
    return re.split(r"[^\w]+", symbol)


def shows_right(choice: Choice, weights: Vector) -> bool:
    """Return whether the definition with the highest rating is right."""
    return bool(choice.is_right[np.argmax(_by_kind(choice) @ weights)])


def validate(choices: Sequence[Choice]) -> Iterator[tuple[int, bool]]:
    """Yield the place of each choice, and whether weights fitted without its repository show the right definition."""
    names = sorted({choice.repository for choice in choices})
    for fold in range(FOLDS):
        outside = set(names[fold::FOLDS])
        weights = fit([choice for choice in choices if choice.repository not in outside])
        for place, choice in enumerate(choices):
            if choice.repository in outside:
                yield place, shows_right(choice, weights)


def _by_kind(choice: Choice) -> Vector:
    """Return the features of a choice as those of a question and of a request, [definitions, twice the weights]."""
    parts = (1.0 - choice.request) * choice.features, choice.request * choice.features
    return np.concatenate(parts, axis=1)


def fit(choices: Iterable[Choice]) -> Vector:
    """Return the weights, those of questions before those of requests, in units of that of the text.

    Newton's method on the logarithm of the likelihood of the right definitions, with an L2 penalty in units of each
    feature's standard deviation.
    """
    used = [choice for choice in choices if choice.is_right.any() and not choice.is_right.all()]
    fitted_names = np.array([name not in HELD for name in WEIGHTS] * 2) & (_current_weights() != 0)
    tables = [_by_kind(choice)[:, fitted_names] for choice in used]
    deviation = np.concatenate(tables).std(axis=0) + 1e-9
    scaled = [table / deviation for table in tables]
    times = [1 if choice.kind == SENTENCE else MESSAGE_COUNT for choice in used]
    fitted = np.zeros(len(deviation))
    for _ in range(STEPS):
        gradient, curvature = -PENALTY * fitted, np.diag(np.full(len(fitted), PENALTY))
        for table, choice, count in zip(scaled, used, times, strict=True):
            every = _softmax(table @ fitted)
            right = every * choice.is_right / (every @ choice.is_right)
            gradient += count * (right - every) @ table
            centred = table - every @ table
            curvature += count * (centred.T * every) @ centred
        fitted += np.linalg.solve(curvature, gradient)
    weights = _current_weights()
    weights[fitted_names] = fitted / deviation
    for first in (0, len(WEIGHTS)):
        own = first + np.flatnonzero(fitted_names[first : first + len(WEIGHTS)])
        weights[own] /= abs(weights[first]) or 1.0  # without any request all of its weights are 0
    return weights


def _current_weights() -> Vector:
    return np.array([[weight.question, weight.request] for weight in WEIGHTS.values()]).T.ravel()


def _softmax(values: Vector) -> Vector:
    powers: Vector = np.exp(values - values.max())
    return powers / float(powers.sum())


def format_weights(weights: Vector) -> str:
    """Format the table as in the code, with two significant digits."""
    questions, requests = weights.reshape(2, -1).tolist()
    lines = zip(WEIGHTS, questions, requests, strict=True)
    return "\n".join(f'    "{name}": UnitWeight({one:.2g}, {other:.2g}),' for name, one, other in lines)
