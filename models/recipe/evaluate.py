"""Measure retrieval by a table: mean reciprocal rank and recall at 10 among the code of the query's own package."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from models.recipe.bags import Bags, Corpus, bags_of_texts

MIN_PACKAGE: Final = 40
"""Minimum number of pairs: smaller packages are too easy."""

MAX_CODES: Final = 400
MAX_QUERIES: Final = 60
"""Of a large package only the first codes and queries count."""

_BATCH: Final = 256


class Figures(NamedTuple):
    """`mrr` and `recall` (share of queries whose code is among the first ten), both from 0 to 1."""

    mrr: float
    recall: float
    queries: int

    def __str__(self) -> str:
        return f"MRR {self.mrr:.4f}  recall@10 {self.recall:.4f}  ({self.queries} queries)"


def measure_pairs(table: NDArray[np.float32], corpus: Corpus) -> dict[str, Figures]:
    """Measure held-out pairs: each query against the codes of its package, without and with their names."""
    packages = list(_packages(corpus))
    return {
        name: figures_of(
            [
                rank_of_own(
                    embed(table, corpus.query, members[:MAX_QUERIES]) @ embed(table, codes, members).T,
                    np.arange(min(len(members), MAX_QUERIES)),
                )
                for members in packages
            ]
        )
        for name, codes in (("pairs/code", corpus.code), ("pairs/name", corpus.named))
    }


def _packages(corpus: Corpus) -> Iterator[NDArray[np.int64]]:
    for package in np.unique(corpus.package):
        members = np.flatnonzero(corpus.package == package)
        if len(members) >= MIN_PACKAGE:
            yield members[:MAX_CODES]


def measure_docstrings(
    table: NDArray[np.float32], tokenizer: Tokenizer, rows: Sequence[Mapping[str, str]]
) -> dict[str, Figures]:
    """Measure docstrings as queries against all functions of their repository.

    Each row is a function with `repo`, `path`, `name`, `code` without its docstring, and the docstring as `query`. An
    empty query means that the function only serves as a candidate. Measured three times: with the code alone, with the
    qualified name in front, and with path and name in front.
    """
    heads = {
        "docstrings/code": [""] * len(rows),
        "docstrings/name": [f"{row['name']}\n" for row in rows],
        "docstrings/path": [f"{row['path']} {row['name']}\n" for row in rows],
    }
    queries = bags_of_texts(tokenizer, (row["query"] or "" for row in rows))
    repositories = np.array([row["repo"] for row in rows])
    has_query = np.array([bool(row["query"]) for row in rows])
    figures = {}
    for name, head in heads.items():
        codes = bags_of_texts(tokenizer, (start + row["code"] for start, row in zip(head, rows, strict=True)))
        ranks = []
        for repository in np.unique(repositories[has_query]):
            members = np.flatnonzero(repositories == repository)
            targets = np.flatnonzero(has_query[members])
            scores = embed(table, queries, members[targets]) @ embed(table, codes, members).T
            ranks.append(rank_of_own(scores, targets))
        figures[name] = figures_of(ranks)
    return figures


def embed(table: NDArray[np.float32], bags: Bags, chosen: NDArray[np.int64]) -> NDArray[np.float32]:
    """Return the unit vectors of some bags, float32 [chosen, dimensions]; zeros for an empty bag."""
    # In batches, because the gathered rows of all bags at once would not fit into memory.
    vectors = np.zeros((len(chosen), table.shape[1]), np.float32)
    filled = np.flatnonzero(bags.sizes[chosen])
    for first in range(0, len(filled), _BATCH):
        places = filled[first : first + _BATCH]
        ids, weights, offsets = bags.take(chosen[places])
        vectors[places] = np.add.reduceat(table[ids] * weights[:, None], offsets)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-6)
    return vectors


def rank_of_own(scores: NDArray[np.float32], targets: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the rank of each query's own code, from 1. Codes with equal scores share the mean of their ranks.

    `scores` [queries, codes]; `targets` [queries] is the position of the own code.
    """
    own = scores[np.arange(len(targets)), targets][:, None]
    # Counting ties as wins would reward a table that gives all codes the same score.
    above, equal = (scores > own).sum(axis=1), (scores == own).sum(axis=1)
    ranks: NDArray[np.float64] = above + (equal + 1) / 2
    return ranks


def figures_of(groups: Sequence[NDArray[np.float64]]) -> Figures:
    """Return the figures of all ranks together. Raises ValueError without ranks."""
    ranks = np.concatenate(groups) if groups else np.zeros(0)
    if not len(ranks):
        raise ValueError(f"no package of {MIN_PACKAGE} pairs to measure on")
    return Figures(float(np.mean(1 / ranks)), float(np.mean(ranks <= 10)), len(ranks))
