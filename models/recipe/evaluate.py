"""How well a table finds code: mean reciprocal rank and recall at 10, among the code of the question's own package."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from models.recipe.bags import Bags, Corpus, bags_of_texts

MIN_PACKAGE: Final = 40
MAX_CODES: Final = 400
MAX_QUESTIONS: Final = 60
"""A package with fewer pairs is too easy; of a large one only the first codes and questions count."""

_AT_ONCE: Final = 256


class Figures(NamedTuple):
    """`mrr` and `recall` (share of questions whose code is among the first ten), both within 0 and 1."""

    mrr: float
    recall: float
    questions: int

    def __str__(self) -> str:
        return f"MRR {self.mrr:.4f}  recall@10 {self.recall:.4f}  ({self.questions} questions)"


def measure_pairs(table: NDArray[np.float32], corpus: Corpus) -> dict[str, Figures]:
    """Held-out pairs: each question among the codes of its package, without and with their names."""
    places = list(_packages(corpus))
    return {
        name: figures_of(
            [
                place_of_own(
                    embed(table, corpus.question, members[:MAX_QUESTIONS]) @ embed(table, codes, members).T,
                    np.arange(min(len(members), MAX_QUESTIONS)),
                )
                for members in places
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
    """Functions with `repo`, `path`, `name`, `code` and, where they are asked for, `query`: the docstring, taken out.

    Each question among all functions of its repository: the code alone, with the qualified name, with path and name.
    """
    heads = {
        "docstrings/code": [""] * len(rows),
        "docstrings/name": [f"{row['name']}\n" for row in rows],
        "docstrings/path": [f"{row['path']} {row['name']}\n" for row in rows],
    }
    questions = bags_of_texts(tokenizer, (row["query"] or "" for row in rows))
    repositories = np.array([row["repo"] for row in rows])
    asked = np.array([bool(row["query"]) for row in rows])
    found = {}
    for name, head in heads.items():
        codes = bags_of_texts(tokenizer, (start + row["code"] for start, row in zip(head, rows, strict=True)))
        places = []
        for repository in np.unique(repositories[asked]):
            members = np.flatnonzero(repositories == repository)
            targets = np.flatnonzero(asked[members])
            scores = embed(table, questions, members[targets]) @ embed(table, codes, members).T
            places.append(place_of_own(scores, targets))
        found[name] = figures_of(places)
    return found


def embed(table: NDArray[np.float32], bags: Bags, chosen: NDArray[np.int64]) -> NDArray[np.float32]:
    """Unit vectors of some bags, float32 [chosen, dimensions]; zeros for an empty bag."""
    vectors = np.zeros((len(chosen), table.shape[1]), np.float32)
    filled = np.flatnonzero(bags.sizes[chosen])
    for first in range(0, len(filled), _AT_ONCE):
        places = filled[first : first + _AT_ONCE]
        ids, weights, offsets = bags.take(chosen[places])
        vectors[places] = np.add.reduceat(table[ids] * weights[:, None], offsets)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-6)
    return vectors


def place_of_own(scores: NDArray[np.float32], targets: NDArray[np.int64]) -> NDArray[np.float64]:
    """The rank of each question's own code, from 1; among equals the mean of their ranks.

    `scores` [questions, codes]; `targets` [questions] says which code is its own.
    """
    own = scores[np.arange(len(targets)), targets][:, None]
    above, equal = (scores > own).sum(axis=1), (scores == own).sum(axis=1)
    ranks: NDArray[np.float64] = above + (equal + 1) / 2
    return ranks


def figures_of(places: Sequence[NDArray[np.float64]]) -> Figures:
    """All ranks together; raise `ValueError` where nothing was asked."""
    ranks = np.concatenate(places) if places else np.zeros(0)
    if not len(ranks):
        raise ValueError(f"no package of {MIN_PACKAGE} pairs to measure on")
    return Figures(float(np.mean(1 / ranks)), float(np.mean(ranks <= 10)), len(ranks))
