"""Find the rows with the highest lexical scores, without scoring every row that holds a common term."""

# MaxScore (Turtle and Flood 1995, "Query evaluation: strategies and optimizations"): terms are taken by falling idf, so
# rare ones first. A term adds at most `idf * (k1 + 1)` to any score. As soon as enough rows have a score that all
# remaining terms together cannot reach, only rows that already have a score can be among the best, and of these only
# the ones that the remaining terms could still lift. The remaining terms, the common ones, are then looked up for these
# few rows alone.
#
# The first terms are accumulated in an array over all rows, one term at a time: numpy has no loop that would step
# through several lists together, as document-at-a-time methods (WAND, block-max WAND) do. Their blocks would also have
# to store a bound that depends on the mean length of the tree that is searched.
#
# Accumulated scores serve to discard rows only. The rows that remain are scored again in the order of the query, so
# that a score does not depend on the way a row was found.

from typing import Final

import numpy as np

from gitmem.arrays import NDArray
from gitmem.search.lexical import K1, ROW_WEIGHTS, LexicalQuery, WeightedTerm, row_norm, saturate

FEW_ROWS: Final = 2_000
"""Number of rows in a scope below which all of them are scored."""

LOOKUP_COST: Final = 8
"""Cost of looking up a row in the postings of a term, in postings that are accumulated in the same time."""

MARGIN: Final = 1e-4
"""Allowance for rounding, relative to the highest possible score: 32-bit sums of a hundred terms err by less."""


def find_contenders(query: LexicalQuery, count: int) -> NDArray[np.int64]:
    """Return rows of the query's scope, ascending, among which are the `count` with the highest scores."""
    scope = query.scope
    return np.flatnonzero(scope.mask) if scope.row_count <= FEW_ROWS else _Search(query, count).run()


def are_best(scores: NDArray[np.float32], count: int) -> NDArray[np.bool_]:
    """Return which are the `count` highest positive scores, with all that tie with the last of them."""
    best = scores > 0
    if np.count_nonzero(best) > count:
        best &= scores >= np.partition(scores, -count)[-count]
    return best


class _Search:
    """Search for the best rows of the query's scope."""

    def __init__(self, query: LexicalQuery, count: int) -> None:
        self._query = query
        self._scope = query.scope
        self._count = count
        self._terms = sorted((term for term in query.terms if term.row_idf > 0), key=lambda term: -term.row_idf)
        bounds = [(K1 + 1) * term.row_idf for term in self._terms]
        # What the terms from each one on can add to a score, and 0 at the end.
        self._rest = np.cumsum([0.0, *reversed(bounds)])[::-1].tolist()
        self._slack = MARGIN * self._rest[0]
        self._scores = np.zeros(self._scope.snapshot.rows, np.float32)
        # No term lifts these, so that the scores need no mask.
        self._scores[self._scope.outside] = -np.inf

    def run(self) -> NDArray[np.int64]:
        """Return rows among which the best are."""
        for number, term in enumerate(self._terms):
            # Before this term no row can have more than the bounds of the earlier ones.
            if self._rest[0] - self._rest[number] > self._rest[number]:
                rows = self._candidates(self._rest[number])
                if rows is not None and LOOKUP_COST * len(rows) < term.postings.size:
                    return self._refine(rows, number)
            self._accumulate(term)
        rows = self._candidates(0.0)
        return np.flatnonzero(self._scores > 0) if rows is None else rows

    def _candidates(self, rest: float) -> NDArray[np.int64] | None:
        """Return the rows that may be among the best if no score grows by more than `rest`; None if any row may be."""
        threshold = lower_bound(self._scores, self._count) - rest - self._slack
        return np.flatnonzero(self._scores >= threshold) if threshold > 0 else None

    def _refine(self, rows: NDArray[np.int64], number: int) -> NDArray[np.int64]:
        """Add the terms from `number` on to the scores of some rows; discard rows as soon as they fall behind."""
        scores = self._scores[rows]
        for position in range(number, len(self._terms)):
            numbers = rows.astype(np.int32)
            scores += self._query.score_term(self._terms[position], numbers, row_norm(self._scope, numbers))
            if len(rows) > self._count:
                threshold = np.partition(scores, -self._count)[-self._count] - self._rest[position + 1] - self._slack
                rows, scores = rows[scores >= threshold], scores[scores >= threshold]
        return rows

    def _accumulate(self, term: WeightedTerm) -> None:
        """Add what a term contributes to all rows; rows out of scope stay at minus infinity."""
        postings = term.postings
        by_entry = self._add_paths(term)
        # numpy would convert any other type at each of the four uses as an index, which takes as long as they do.
        rows, symbol_rows = postings.text.rows.astype(np.intp), postings.symbol.rows
        frequency = np.float32(ROW_WEIGHTS.text) * postings.text.counts
        frequency /= row_norm(self._scope, rows)
        symbol_frequency = np.float32(ROW_WEIGHTS.symbol) * postings.symbol.counts
        positions, holds = postings.text.find(symbol_rows)
        frequency[positions[holds]] += symbol_frequency[holds]
        self._add_rows(term, rows, frequency, by_entry)
        self._add_rows(term, symbol_rows[~holds].astype(np.intp), symbol_frequency[~holds], by_entry)

    def _add_paths(self, term: WeightedTerm) -> NDArray[np.float32] | None:
        """Add what a term contributes to all rows by their paths; return the frequency in each path, [entries]."""
        stem, folder = term.postings.stem, term.postings.folder
        if not len(stem) and not len(folder):
            return None
        # One more element for -1, the entry of rows out of scope.
        by_entry = np.zeros(len(self._scope.view) + 1, np.float32)
        by_entry[stem] = ROW_WEIGHTS.stem
        by_entry[folder] += np.float32(ROW_WEIGHTS.folder)
        entries = np.flatnonzero(by_entry)
        rows = self._scope.rows_of(entries)
        self._scores[rows] += (term.row_idf * saturate(by_entry))[self._scope.entry_of[rows]]
        return by_entry

    def _add_rows(
        self,
        term: WeightedTerm,
        rows: NDArray[np.intp],
        frequency: NDArray[np.float32],
        by_entry: NDArray[np.float32] | None,
    ) -> None:
        """Add what a term contributes to some rows by text and symbol, beyond what their paths have added."""
        if by_entry is None:
            added = saturate(frequency)
        else:
            path = by_entry.take(self._scope.entry_of.take(rows))
            added = saturate(frequency + path) - saturate(path)
        added *= np.float32(term.row_idf)
        added += self._scores.take(rows)
        self._scores[rows] = added


def lower_bound(scores: NDArray[np.float32], count: int) -> float:
    """Return a score that at least `count` of very many scores reach; 0 for few scores."""
    # Split the scores into 8 * count groups and take the maximum of each: the count-th highest maximum is reached by
    # at least `count` scores. It is close to the threshold, and the search for that needs to look at few scores then.
    size = len(scores) // (8 * count)
    if size < 2:
        return 0.0
    maxima = scores[: size * 8 * count].reshape(size, -1).max(axis=0)
    return float(np.partition(maxima, -count)[-count])
