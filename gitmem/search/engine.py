"""A search from end to end: retrieve twice, fuse, rank as code, select."""

from collections.abc import Mapping
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gitmem.search.dense import exact_cosines, search_dense
from gitmem.search.fuse import FusionWeights, fuse_ranks, fuse_zscores
from gitmem.search.hits import Hit, Signals, Spans, choose, load_candidates, load_hit, load_spans
from gitmem.search.lexical import LexicalScores, search_lexical
from gitmem.search.query import Query
from gitmem.search.rank import Candidates, Features, combine, features_of, rank
from gitmem.search.scope import Scope
from gitmem.store.graph import RowGraph

KEEP: Final = 200
"""Candidates of each retrieval that are ranked."""

FUSION_WEIGHTS: Final = FusionWeights(semantic=0.8, lexical=0.22)
"""The lexical share is small because the ranking features carry the words once more (symbol, stem, covered)."""

RRF_SCALE: Final = 60.0
"""Brings a sum of reciprocal ranks to the range of a standard score."""

MIN_COSINE: Final = 0.3
"""A chunk that shares no word with the question must be at least this near to be a hit: what questions about nothing in
a repository (cooking, sports) come to at the most."""


def search(
    scope: Scope,
    query: Query,
    vector: NDArray[np.float32],
    *,
    limit: int,
    mode: str = "hybrid",
    fusion: str = "zscore",
    weights: FusionWeights = FUSION_WEIGHTS,
    graph: RowGraph | None = None,
) -> list[Hit]:
    """The best hits in scope, best first.

    `vector` is the question's embedding, [dimensions], unused in lexical mode. `weights` are those of the fusion
    `zscore`. A graph speeds up retrieval by meaning over very many rows; without one it is exact.
    """
    if not scope.rows:
        return []
    retrieved = retrieve(scope, query, vector, mode=mode, graph=graph)
    ordered = order(retrieved, limit=limit, fusion=fusion, weights=weights)
    return [
        load_hit(scope, retrieved.found, place, score, features_of(ordered.features, place))
        for place, score in ordered.chosen
    ]


class Retrieved(NamedTuple):
    """What a question found, before its two scores are fused: `found` has no fused score yet, `idf` is of its terms.

    It holds on to nothing of the index.
    """

    query: Query
    found: Candidates
    spans: Spans
    idf: Mapping[str, float]


class Ordered(NamedTuple):
    """Places of the best candidates with their scores, best first, and the features of all candidates."""

    features: Features
    chosen: list[tuple[int, float]]


def retrieve(
    scope: Scope, query: Query, vector: NDArray[np.float32], *, mode: str = "hybrid", graph: RowGraph | None = None
) -> Retrieved:
    """The candidates of a question; all that costs a look into the index."""
    lexical = search_lexical(scope, query.terms)
    rows, dense = _candidates(scope, vector, lexical, mode, graph)
    words = lexical.scores[rows] if mode != "semantic" else np.zeros(len(rows), np.float32)
    signals = Signals(dense, words, np.zeros(len(rows), np.float32), _covered(scope, lexical, rows))
    return Retrieved(query, load_candidates(scope, rows, signals), load_spans(scope, rows), lexical.idf)


def order(
    retrieved: Retrieved, *, limit: int, fusion: str = "zscore", weights: FusionWeights = FUSION_WEIGHTS
) -> Ordered:
    """Fuse, rank and select; the same candidates can be ordered by other weights again."""
    found = retrieved.found
    found = found._replace(fused=_fuse(found.dense, found.lexical, fusion, weights))
    features = rank(retrieved.query, found, retrieved.idf)
    return Ordered(features, choose(found, retrieved.spans, combine(features).tolist(), limit))


def _candidates(
    scope: Scope, vector: NDArray[np.float32], lexical: LexicalScores, mode: str, graph: RowGraph | None
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Rows of either retrieval, ascending, and their cosines."""
    by_words = _best(lexical.scores, KEEP) if mode != "semantic" else np.zeros(0, np.int64)
    if mode == "lexical":
        return by_words, np.zeros(len(by_words), np.float32)
    near = search_dense(scope, vector, KEEP, graph)
    close = near.rows[(near.cosines >= MIN_COSINE) | (lexical.scores[near.rows] > 0)]
    rows = np.unique(np.concatenate([by_words, close]), return_index=True)[0]  # without, numpy imports numpy.ma
    return rows, exact_cosines(scope.snapshot, vector, rows)


def _best(scores: NDArray[np.float32], keep: int) -> NDArray[np.int64]:
    """Rows of the highest positive scores, at least `keep` where there are so many: ties of the last are all taken."""
    likely = np.flatnonzero((scores > 0) & (scores >= _floor(scores, keep)))
    if len(likely) <= keep:
        return likely
    limit = np.partition(scores[likely], -keep)[-keep]
    best: NDArray[np.int64] = likely[scores[likely] >= limit]
    return best


def _floor(scores: NDArray[np.float32], keep: int) -> float:
    """What at least `keep` of very many scores reach: the bests of as many groups. Spares sorting out all of them."""
    size = len(scores) // (8 * keep)
    if size < 2:
        return 0.0
    bests = scores[: size * 8 * keep].reshape(size, -1).max(axis=0)
    return float(np.partition(bests, -keep)[-keep])


def _fuse(
    dense: NDArray[np.float32], words: NDArray[np.float32], fusion: str, weights: FusionWeights
) -> NDArray[np.float32]:
    if fusion == "rrf":
        return fuse_ranks(dense, words) * RRF_SCALE
    return fuse_zscores(dense, words, weights)


def _covered(scope: Scope, lexical: LexicalScores, rows: NDArray[np.int64]) -> NDArray[np.float64]:
    """For each row the share of the question, by idf, that stands in any of the rows of its file."""
    idf = np.array(list(lexical.idf.values()) or [0.0])
    if not len(rows) or idf.sum() <= 0:
        return np.zeros(len(rows))
    held = lexical.coverage(rows)
    _, file = np.unique(scope.entry_of[rows], return_inverse=True)
    by_file = np.zeros((int(file.max()) + 1, len(idf)), bool)
    np.logical_or.at(by_file, file, held)
    share: NDArray[np.float64] = (by_file @ idf)[file] / idf.sum()
    return share
