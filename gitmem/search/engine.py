"""A search from end to end: retrieve twice, fuse, rank as code, select."""

from collections.abc import Mapping
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gitmem.embedding.encoder import Encoder
from gitmem.search.dense import exact_cosines, search_dense
from gitmem.search.fuse import COSINE_PRIOR, FusionWeights, fuse_ranks, fuse_zscores, standardise, standardise_lexical
from gitmem.search.hits import Hit, Signals, Spans, load_candidates, load_hit, load_spans, select_candidates
from gitmem.search.lexical import LexicalScores, max_score, search_lexical
from gitmem.search.query_parser import ParsedQuery
from gitmem.search.rank import Candidates, Features, combine_features, compute_features, confidence
from gitmem.search.scope import Scope
from gitmem.store.graph import RowGraph
from gitmem.words import count_identifiers

KEEP: Final = 120
"""Candidates of each retrieval that are ranked."""

FUSION_WEIGHTS: Final = FusionWeights(semantic=0.49, lexical=0.63)
"""What fits public retrieval queries, see the benchmarks."""

RECORD_FUSION: Final = FusionWeights(semantic=0.42, lexical=0.7)
"""The same for records: what fits headings of public documentation."""

PATHS: Final = 48
"""Files whose paths are compared with the question: those whose best chunk and words promise most. The others would
need more than a path to come among the first."""

ROW_SHARE: Final = 0.2
"""What a row's own words count beside those of its file, where it is asked how much of the file was found."""

RRF_SCALE: Final = 60.0
"""Brings a sum of reciprocal ranks to the range of a standard score."""

MIN_COSINE: Final = 0.3
"""A chunk that shares no word with the question must be at least this near to be a hit: what questions about nothing in
a repository (cooking, sports) come to at the most."""


def search(
    scope: Scope,
    query: ParsedQuery,
    encoder: Encoder,
    *,
    limit: int,
    mode: str = "hybrid",
    fusion: str = "zscore",
    weights: FusionWeights = FUSION_WEIGHTS,
    graph: RowGraph | None = None,
) -> list[Hit]:
    """The best hits in scope, best first, each with the likelihood that it answers the question.

    The encoder is the one the index was made with, unused in lexical mode. `weights` are those of the fusion `zscore`.
    A graph speeds up retrieval by meaning over very many rows; without one it is exact.
    """
    if not scope.rows:
        return []
    retrieved = retrieve(scope, query, encoder, mode=mode, graph=graph)
    ordered = rank_candidates(retrieved, limit=limit, fusion=fusion, weights=weights)
    return [
        load_hit(scope, retrieved.candidates, place, confidence(score), ordered.features)
        for place, score in ordered.chosen
    ]


class Retrieval(NamedTuple):
    """What a question found, before its two scores are fused: `candidates` have no fused score
    yet, `idf` is of its terms.

    It holds on to nothing of the index.
    """

    query: ParsedQuery
    candidates: Candidates
    spans: Spans
    idf: Mapping[str, float]


class Ranking(NamedTuple):
    """Places of the best candidates with their scores, best first, and the features of all candidates."""

    features: Features
    chosen: list[tuple[int, float]]


def retrieve(
    scope: Scope, query: ParsedQuery, encoder: Encoder, *, mode: str = "hybrid", graph: RowGraph | None = None
) -> Retrieval:
    """The candidates of a question; all that costs a look into the index."""
    lexical = search_lexical(scope, (*query.terms, *query.compounds))
    by_words = _best_of_parts(scope, lexical.rows) if mode != "semantic" else np.zeros(0, np.int64)
    if mode == "lexical":
        found = load_candidates(scope, by_words, _signals(scope, by_words, lexical))
        return Retrieval(query, found, load_spans(scope, by_words), lexical.idf)
    vector = encoder.encode_query(query.text)
    rows = _with_near_rows(scope, by_words, vector, lexical, graph)
    cosines = exact_cosines(scope.snapshot, vector, rows)
    found = load_candidates(scope, rows, _signals(scope, rows, lexical if mode == "hybrid" else None, cosines))
    most = max_score(lexical.idf)
    found = found._replace(path_cosine=_path_cosines(found, encoder, vector, most)[found.file])
    return Retrieval(query, found, load_spans(scope, rows), lexical.idf)


def _path_cosines(found: Candidates, encoder: Encoder, vector: NDArray[np.float32], most: float) -> NDArray[np.float32]:
    """How near the words of each promising path are to the question, zero for the others and for records.

    No path is part of what is stored, so a move costs nothing. einsum, as paths of the same words shall give the same
    bits, which a matrix product does not promise.
    """
    promise = np.full(len(found.paths), -np.inf, np.float32)
    near = standardise(found.dense, COSINE_PRIOR)
    np.maximum.at(promise, found.file, near + standardise_lexical(found.file_lexical, most))
    promise[found.file[found.records]] = -np.inf
    best = np.argsort(-promise, kind="stable")[: min(PATHS, int(np.isfinite(promise).sum()))]
    names = encoder.encode_names([count_identifiers(found.paths[file]) for file in best.tolist()])
    cosines = np.zeros(len(promise), np.float32)
    cosines[best] = np.einsum("ij,j->i", names, vector)
    return cosines


def _signals(
    scope: Scope, rows: NDArray[np.int64], lexical: LexicalScores | None, cosines: NDArray[np.float32] | None = None
) -> Signals:
    """Both scores of some rows; zeros for the one that has no say."""
    none = np.zeros(len(rows), np.float32)
    return Signals(
        dense=none if cosines is None else cosines,
        lexical=none if lexical is None else lexical.rows[rows],
        file_lexical=none if lexical is None else lexical.files[scope.entry_of[rows]],
    )


def _with_near_rows(
    scope: Scope,
    by_words: NDArray[np.int64],
    vector: NDArray[np.float32],
    lexical: LexicalScores,
    graph: RowGraph | None,
) -> NDArray[np.int64]:
    """Rows of either retrieval, ascending."""
    near = search_dense(scope, vector, KEEP, graph)
    close = near.rows[(near.cosines >= MIN_COSINE) | (lexical.rows[near.rows] > 0)]
    joined = np.concatenate([by_words, close])
    return np.unique(joined, return_index=True)[0]  # without return_index, numpy imports numpy.ma


def rank_candidates(
    retrieved: Retrieval,
    *,
    limit: int,
    fusion: str = "zscore",
    weights: FusionWeights = FUSION_WEIGHTS,
    record_weights: FusionWeights = RECORD_FUSION,
) -> Ranking:
    """Fuse, rank and select; the same candidates can be ordered by other weights again.

    What a symbol means says little of where it is defined: chunks near to it are those that hold little else. So its
    cosines count only where no word was found.
    """
    found = retrieved.candidates
    by_words = retrieved.query.coded and bool(found.file_lexical.any())
    dense = np.zeros_like(found.dense) if by_words else found.dense
    most = max_score(retrieved.idf)
    fused_row, fused = _fuse_both(found, dense, fusion, weights, most)
    if found.records.any():
        told_row, told = _fuse_both(found, dense, fusion, record_weights, most)
        fused_row, fused = np.where(found.records, told_row, fused_row), np.where(found.records, told, fused)
    found = found._replace(fused_row=fused_row, fused=fused)
    features = compute_features(retrieved.query, found, retrieved.idf)
    return Ranking(
        features, select_candidates(found, retrieved.spans, combine_features(features, found.records).tolist(), limit)
    )


def _fuse_both(
    found: Candidates, dense: NDArray[np.float32], fusion: str, weights: FusionWeights, most: float
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Fused scores of the candidates with their own words, and with those of their files."""
    by_row = weights._replace(lexical=ROW_SHARE * weights.lexical)
    return _fuse(dense, found.lexical, fusion, by_row, most), _fuse(dense, found.file_lexical, fusion, weights, most)


def _best_of_parts(scope: Scope, scores: NDArray[np.float32]) -> NDArray[np.int64]:
    """The best rows of each part of a scope: a long document crowds out no code, and no large tree a note."""
    if len(scope.parts) == 1:
        return _best(scores, KEEP)
    return np.concatenate([_best(np.where(part, scores, np.float32(0)), KEEP) for part in scope.parts])


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
    dense: NDArray[np.float32], words: NDArray[np.float32], fusion: str, weights: FusionWeights, most: float
) -> NDArray[np.float32]:
    if fusion == "rrf":
        return fuse_ranks(dense, words) * RRF_SCALE
    return fuse_zscores(dense, words, weights, most)
