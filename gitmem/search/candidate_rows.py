"""Retrieve the rows that are ranked: the best by words, the nearest by meaning, and those that the query names.

With filters there are two searches. The one without them gives the pool, by which all candidates are judged; the other
one finds what passes the filters, however far down it is.
"""

import time
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from gitmem.arrays import NDArray, distinct, distinct_with_places, is_among
from gitmem.search.adjacent_turns import TURN_KIND, following_turns
from gitmem.search.definition_rows import find_definitions, find_spoken
from gitmem.search.dense import exact_cosines, find_near_rows, search_exactly
from gitmem.search.hits import RetrievalScores, RetrievedRows
from gitmem.search.lexical import LexicalQuery
from gitmem.search.named_places import NamedPlaces
from gitmem.search.outdated import OutdatedCandidates, find_outdated_candidates, missing_successors
from gitmem.search.parsed_query import ParsedQuery
from gitmem.search.scope import Scope
from gitmem.search.top_rows import are_best, find_contenders
from gitmem.store.graph import RowGraph

CANDIDATE_LIMIT: Final = 120
"""Candidates of each retrieval that are ranked."""

MIN_COSINE: Final = 0.3
"""Minimum cosine of a row that shares no word with the query.

It is the most that queries about subjects absent from a repository (cooking, sports) reach.
"""


MAX_QUOTING: Final = 32
"""Rows with all words of a quotation that are candidates though no retriever found them."""


class RowRetrieval:
    """Retrieval of candidates in one scope. Without a vector only words count."""

    def __init__(
        self,
        scope: Scope,
        query: ParsedQuery,
        vector: NDArray[np.float32] | None,
        places: NamedPlaces,
        graph: RowGraph | None,
        limit: int = CANDIDATE_LIMIT,
    ) -> None:
        self._scope = scope
        self._limit = limit
        self._vector = vector
        self._graph = graph
        self._terms = frozenset(query.terms)
        self._is_name = query.coded
        self.lexical = LexicalQuery(scope, (*query.terms, *query.compounds), query.weights)
        named = [row for row in sorted(places.rows) if scope.entry_of[row] >= 0]
        self._groups = [np.array([row], np.int64) for row in named]
        if query.names:
            self._groups += find_definitions(query, self.lexical)
        spoken = find_spoken(query, self.lexical)
        self.spoken = tuple(name for name, _ in spoken)
        self._groups += [np.array([row], np.int64) for _, rows in spoken for row in rows]
        self.quoting = np.zeros(0, np.int64)
        if query.quotation is not None:
            self.quoting = self.lexical.rows_with_all(query.quotation.terms)
            self._groups += [self.quoting[place : place + 1] for place in range(min(len(self.quoting), MAX_QUOTING))]

    def find(self) -> RetrievedRows:
        """Return the rows of either retrieval, ascending.

        Each group of named rows is added if no retrieval found one of it. If the query is a name, all of its rows are:
        the first piece of a long definition may repeat the name less often than others.
        """
        groups = self._groups
        best = find_contenders(self.lexical, self._limit)
        near = self._find_near()
        rows = distinct(np.concatenate([best, near, *groups]))
        scores = self.lexical.score_rows(rows)
        selected = np.zeros(len(rows), bool)
        positions = np.searchsorted(rows, best)
        selected[positions] = are_best(scores[positions], self._limit)
        is_near = np.zeros(len(rows), bool)
        is_near[np.searchsorted(rows, near)] = True
        cosines = self._compare(rows, selected | is_near)
        # A row that shares a word with the query may be less similar to it.
        selected |= is_near & ((cosines >= MIN_COSINE) | (scores > 0))
        if not selected.any():
            selected = is_near  # filters may leave nothing better, and they must not hide what there is
        added = _missed_groups(rows, selected, groups, whole=self._is_name)
        selected[added] = True
        cosines[added] = self._compare(rows[added])
        return self._score_files(rows[selected], scores[selected], cosines[selected])

    def score(self, rows: NDArray[np.int64]) -> RetrievedRows:
        """Return some rows with their scores."""
        return self._score_files(rows, self.lexical.score_rows(rows), self._compare(rows))

    def _find_near(self) -> NDArray[np.int64]:
        if self._vector is None:
            return np.zeros(0, np.int64)
        return find_near_rows(self._scope, self._vector, self._limit, self._graph)

    def _compare(self, rows: NDArray[np.int64], compared: NDArray[np.bool_] | None = None) -> NDArray[np.float32]:
        """Return the cosines of rows and query, zero for those that are not compared."""
        cosines = np.zeros(len(rows), np.float32)
        if self._vector is not None:
            inside = np.arange(len(rows)) if compared is None else np.flatnonzero(compared)
            cosines[inside] = exact_cosines(self._scope.snapshot, self._vector, rows[inside])
        return cosines

    def _score_files(
        self, rows: NDArray[np.int64], scores: NDArray[np.float32], cosines: NDArray[np.float32]
    ) -> RetrievedRows:
        own = self._scope.entry_of[rows].astype(np.int64)
        entries, file = distinct_with_places(own)
        matches = self.lexical.match_files(entries, self._terms)
        retrieved = RetrievalScores(cosines, scores, matches.scores[file], matches.coverages[file])
        everything = np.ones(len(rows), bool)
        return RetrievedRows(rows, own, retrieved, everything, everything)


def nearest_rows(scope: Scope, vector: NDArray[np.float32], count: int, graph: RowGraph | None = None) -> RetrievedRows:
    """Return the rows of a scope with the highest cosines, ascending; exactly `count` and ties without a graph."""
    if graph is None:
        rows, cosines = search_exactly(scope, vector, count)
    else:
        return score_by_cosine(scope, vector, find_near_rows(scope, vector, count, graph))
    zeros, everything = np.zeros_like(cosines), np.ones(len(rows), bool)
    entries = scope.entry_of[rows].astype(np.int64)
    return RetrievedRows(rows, entries, RetrievalScores(cosines, zeros, zeros, zeros), everything, everything)


def join_retrieved(pool: RetrievedRows, own: RetrievedRows, scope: Scope) -> RetrievedRows:
    """Return the rows of the search without filters, and then further ones of the search with filters, `scope`."""
    # A row outside the filters by its path in the pool may pass them by another path of the same blob.
    inside = scope.entry_of[pool.row] == pool.entry
    places = np.minimum(np.searchsorted(pool.row, own.row), max(len(pool.row) - 1, 0))
    new = np.ones(len(own.row), bool)
    if len(pool.row):
        new = (pool.row[places] != own.row) | (pool.entry[places] != own.entry)
    added = int(new.sum())
    scores = (np.concatenate([one, other[new]]) for one, other in zip(pool.scores, own.scores, strict=True))
    return RetrievedRows(
        np.concatenate([pool.row, own.row[new]]),
        np.concatenate([pool.entry, own.entry[new]]),
        RetrievalScores(*scores),
        np.concatenate([pool.pool, np.zeros(added, bool)]),
        np.concatenate([inside, np.ones(added, bool)]),
    )


def add_successors(
    scope: Scope, rows: RetrievedRows, score: Callable[[NDArray[np.int64]], RetrievedRows]
) -> RetrievedRows:
    """Add the notes that replaced others among the rows, but were not retrieved: they may lack the query's words."""
    outdated = scope.whole.outdated
    if outdated is None:
        return rows
    missing = np.array(missing_successors(outdated, rows.entry[rows.inside].tolist()), np.int64)
    missing = missing[scope.blob_of[missing] >= 0]
    added = scope.rows_of(missing)
    return _append(rows, score(np.sort(added))) if len(added) else rows


def add_following_turns(
    scope: Scope, rows: RetrievedRows, score: Callable[[NDArray[np.int64]], RetrievedRows]
) -> RetrievedRows:
    """Add the turn after each turn among the rows of the search without filters: it may be the answer to it."""
    are_turns = rows.pool & (scope.snapshot.gather(("kind",), rows.row)["kind"] == TURN_KIND)
    if not are_turns.any():
        return rows
    missing = np.array(following_turns(scope.view, rows.entry[are_turns].tolist()), np.int64)
    missing = missing[scope.blob_of[missing] >= 0]
    added = distinct(scope.rows_of(missing))
    added = added[~is_among(added, rows.row)]
    return _append(rows, score(added)) if len(added) else rows


def find_outdated_rows(scope: Scope, rows: RetrievedRows) -> OutdatedCandidates | None:
    """Return which rows are outdated notes now; None if none is."""
    outdated = scope.whole.outdated
    if outdated is None:
        return None
    # A note whose successor does not pass the filters is the best there is.
    entries = np.where(rows.inside, rows.entry, -1).tolist()
    return find_outdated_candidates(outdated, entries, time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime()))


def _append(retrieved: RetrievedRows, others: RetrievedRows) -> RetrievedRows:
    """Return rows with further ones that pass the filters, but are outside of the pool."""
    columns = (np.concatenate([one, other]) for one, other in zip(retrieved.scores, others.scores, strict=True))
    return RetrievedRows(
        np.concatenate([retrieved.row, others.row]),
        np.concatenate([retrieved.entry, others.entry]),
        RetrievalScores(*columns),
        np.concatenate([retrieved.pool, np.zeros(len(others.row), bool)]),
        np.concatenate([retrieved.inside, np.ones(len(others.row), bool)]),
    )


def score_by_cosine(scope: Scope, vector: NDArray[np.float32], rows: NDArray[np.int64]) -> RetrievedRows:
    """Return some rows of a scope with their cosines."""
    cosines = exact_cosines(scope.snapshot, vector, rows)
    zeros, everything = np.zeros_like(cosines), np.ones(len(rows), bool)
    entries = scope.entry_of[rows].astype(np.int64)
    return RetrievedRows(rows, entries, RetrievalScores(cosines, zeros, zeros, zeros), everything, everything)


def _missed_groups(
    rows: NDArray[np.int64], selected: NDArray[np.bool_], groups: Sequence[NDArray[np.int64]], *, whole: bool
) -> NDArray[np.int64]:
    """Return the positions of the rows of each group of which none is selected, ascending; of all groups if `whole`."""
    positions = [np.searchsorted(rows, group) for group in groups]
    missed = [own[~selected[own]] for own in positions if whole or not selected[own].any()]
    return distinct(np.concatenate([np.zeros(0, np.int64), *missed]))
