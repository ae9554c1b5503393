"""Retrieval by words: BM25 over each row's own text, its symbol, and the name and folders of its file.

Statistics are taken over the rows in scope, so an answer depends on the tree that is searched and on nothing else the
index happens to hold. BM25: Robertson and Zaragoza 2009, with idf = ln(1 + (n - df + 0.5) / (df + 0.5)).
"""

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gitmem.search.scope import Scope

K1: Final = 1.2
B: Final = 0.75
SYMBOL_WEIGHT: Final = 0.8
STEM_WEIGHT: Final = 0.8
FOLDER_WEIGHT: Final = 0.3


class LexicalScores(NamedTuple):
    """Scores of rows, zero where no word matches; `idf` of each term over the rows' text, and the rows that hold it,
    ascending."""

    scores: NDArray[np.float32]
    idf: dict[str, float]
    holders: dict[str, NDArray[np.int64]]

    def coverage(self, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which of the terms each row holds, [rows, terms]."""
        return np.stack([_among(rows, held) for held in self.holders.values()] or [np.zeros(len(rows), bool)], axis=1)


def search_lexical(scope: Scope, terms: Sequence[str]) -> LexicalScores:
    """Score every row in scope."""
    scores = np.zeros(scope.snapshot.rows, np.float32)
    idf, holders = {}, {}
    for term in terms:
        word = term.encode("utf-8", "replace")
        rows, counts = find_rows(scope, "text", word)
        holders[term] = rows
        idf[term] = inverse_frequency(scope.rows, len(rows))
        scores[rows] += idf[term] * counts * (K1 + 1) / (counts + _norm(scope, rows))
        named, _ = find_rows(scope, "symbol", word)
        scores[named] += SYMBOL_WEIGHT * inverse_frequency(scope.rows, len(named))
    by_path = _score_paths(scope, terms)
    if by_path.any():
        scores += by_path[scope.entry_of]
    return LexicalScores(scores, idf, holders)


def _norm(scope: Scope, rows: NDArray[np.int64]) -> NDArray[np.float32]:
    """BM25's measure of how long rows are."""
    norm: NDArray[np.float32] = K1 * (1 - B + B * scope.words[rows] / max(scope.mean_words, 1e-9))
    return norm


def _among(rows: NDArray[np.int64], held: NDArray[np.int64]) -> NDArray[np.bool_]:
    if not len(held):
        return np.zeros(len(rows), bool)
    places = np.minimum(np.searchsorted(held, rows), len(held) - 1)
    return held[places] == rows  # type: ignore[no-any-return]


def inverse_frequency(total: int, holding: int) -> float:
    """BM25's idf; never negative."""
    return math.log(1 + (total - holding + 0.5) / (holding + 0.5)) if holding else 0.0


def find_rows(scope: Scope, field: str, word: bytes) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Rows in scope that hold a term in a field, and how often."""
    rows, counts = [], []
    for segment, base in zip(scope.snapshot.segments, scope.snapshot.bases, strict=False):
        found = segment.find_postings(field, word)
        if found is not None:
            rows.append(found[0].astype(np.int64) + base)
            counts.append(found[1])
    if not rows:
        return np.zeros(0, np.int64), np.zeros(0, np.float32)
    joined, times = np.concatenate(rows), np.concatenate(counts).astype(np.float32)
    if scope.whole:
        return joined, times
    inside = scope.mask[joined]
    return joined[inside], times[inside]


def _score_paths(scope: Scope, terms: Sequence[str]) -> NDArray[np.float32]:
    """What the words of its path are worth to each row of an entry, [entries + 1]; the last, a zero, stands for rows
    out of scope."""
    scores = np.zeros(len(scope.view) + 1, np.float32)
    for term in terms:
        for field, weight in (("stem", STEM_WEIGHT), ("folder", FOLDER_WEIGHT)):
            entries = scope.view.find_postings(field, term.encode("utf-8", "replace"))
            if entries is not None:
                scores[entries] += weight * inverse_frequency(scope.entries, int(scope.filled[entries].sum()))
    return scores
