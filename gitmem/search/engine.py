"""Run a search: retrieve by words and by meaning, fuse the scores, rank the candidates, select the hits.

Retrieval is cheap per row and sees all rows in scope; ranking is expensive per row and sees a few hundred candidates.
"""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gitmem.embedding.encoder import Encoder
from gitmem.search.definition_rows import find_definitions
from gitmem.search.dense import exact_cosines, find_near_rows
from gitmem.search.fuse import (
    COSINE_PRIOR,
    FusionWeights,
    fuse_ranks,
    fuse_zscores,
    standardise,
    standardise_lexical,
)
from gitmem.search.hits import Hit, RetrievalScores, Spans, load_candidates, load_hits, load_spans, select_candidates
from gitmem.search.lexical import LexicalQuery, max_score
from gitmem.search.named_places import NO_PLACES, NamedPlaces, find_places
from gitmem.search.parsed_query import ParsedQuery
from gitmem.search.rank import NO_SHARES, Candidates, Features, combine_features, compute_features, confidence
from gitmem.search.scope import Scope
from gitmem.search.top_rows import are_best, find_contenders
from gitmem.store.graph import RowGraph
from gitmem.words import count_identifiers

CANDIDATE_LIMIT: Final = 120
"""Candidates of each retrieval that are ranked."""

FUSION_WEIGHTS: Final = FusionWeights(semantic=0.49, lexical=0.63)
"""Fitted on public retrieval queries, see the benchmarks."""

RECORD_FUSION: Final = FusionWeights(semantic=0.42, lexical=0.7)
"""The same for records, fitted on headings of public documentation."""

PATH_LIMIT: Final = 48
"""Files whose paths are compared with the query: those with the highest sum of z-scores.

The sum adds the cosine of the file's best chunk and its lexical score. The other files would need more than a good path
to come among the first.
"""

ROW_SHARE: Final = 0.2
"""Weight of a row's own lexical score, relative to that of its file, in `fused_row`.

`fused_row` measures how much of a file matches.
"""

RRF_SCALE: Final = 60.0
"""Factor that brings a sum of reciprocal ranks to the range of a z-score, for which the ranking weights are fitted."""

SHOWN_TERMS: Final = 16
"""Terms of a long text by which snippets are chosen and highlighted: with all of them every line would match."""

MIN_COSINE: Final = 0.3
"""Minimum cosine of a hit that shares no word with the query.

It is the most that queries about subjects absent from a repository (cooking, sports) reach.
"""


class SearchResult(NamedTuple):
    """Terms of the query to highlight in the hits, and the hits, best first.

    `unit_terms` choose between the units of a hit, if others than those of the query do.
    """

    terms: tuple[str, ...]
    hits: list[Hit]
    unit_terms: tuple[str, ...] = ()


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
) -> SearchResult:
    """Return the best hits in scope; their score is the probability that they answer the query.

    The encoder must be the one that made the index; mode `lexical` does not use it. `weights` apply to the fusion
    `zscore`. A graph speeds up retrieval by meaning over very many rows; without one the retrieval scans all of them.
    """
    if not scope.row_count:
        return SearchResult(query.terms, [])
    retrieved = retrieve(scope, query, encoder, mode=mode, graph=graph)
    ranking = rank_candidates(retrieved, limit=limit, fusion=fusion, weights=weights)
    selected = [(position, confidence(score)) for position, score in ranking.selected]
    hits = load_hits(scope, retrieved.candidates, selected, ranking.features)
    return SearchResult(_shown_terms(retrieved), hits)


def _shown_terms(retrieved: "Retrieval") -> tuple[str, ...]:
    """Return the terms to highlight: those of the query, of a long text the ones that say most."""
    if not retrieved.query.weights:
        return retrieved.query.terms
    return tuple(sorted(retrieved.idf, key=lambda term: -retrieved.idf[term])[:SHOWN_TERMS])


class Retrieval(NamedTuple):
    """Candidates of a query before fusion: their fused scores are zero as yet.

    `idf` is that of the query's terms. `role_shares` is the share of each path role in the searched files.

    It holds no reference to the index.
    """

    query: ParsedQuery
    candidates: Candidates
    spans: Spans
    idf: Mapping[str, float]
    role_shares: Mapping[str, float] = NO_SHARES


class Ranking(NamedTuple):
    """Positions of the selected candidates with their scores, best first, and the features of all candidates."""

    features: Features
    selected: list[tuple[int, float]]


def retrieve(
    scope: Scope, query: ParsedQuery, encoder: Encoder, *, mode: str = "hybrid", graph: RowGraph | None = None
) -> Retrieval:
    """Retrieve the candidates of a query; only this stage searches the index."""
    lexical = LexicalQuery(scope, (*query.terms, *query.compounds), query.weights)
    vector = None if mode == "lexical" else _encode(query, encoder)
    places = find_places(scope, query.mentions) if query.mentions else NO_PLACES
    named = [np.array([row], np.int64) for row in sorted(places.rows)]
    if query.names and mode != "semantic":
        named += find_definitions(query, lexical)
    rows, scores = _find_rows(scope, lexical, vector, mode, graph, named)
    candidates = load_candidates(scope, rows, scores)
    candidates = _weigh_places(scope, candidates, places)
    if vector is not None:
        path_cosines = _path_cosines(candidates, encoder, vector, max_score(lexical.idf))
        candidates = candidates._replace(path_cosine=path_cosines[candidates.file])
    return Retrieval(query, candidates, load_spans(scope, rows), lexical.idf, scope.role_shares)


def _encode(query: ParsedQuery, encoder: Encoder) -> NDArray[np.float32]:
    """Embed a query; the parts of a long text are embedded apart, so that a long part does not drown the others."""
    if not query.texts:
        return encoder.encode_query(query.text)
    vectors = encoder.encode_names([text for text, _ in query.texts])
    vector = np.array([weight for _, weight in query.texts], np.float32) @ vectors
    return (vector / max(float(np.sqrt(vector @ vector)), 1e-6)).astype(np.float32)


def _weigh_places(scope: Scope, candidates: Candidates, places: NamedPlaces) -> Candidates:
    """Return the candidates with the weights of the named places that they are."""
    if not places.files:
        return candidates
    entries = scope.entry_of[candidates.row]
    return candidates._replace(
        named_file=np.array([places.files.get(entry, 0.0) for entry in entries.tolist()], np.float32),
        named_row=np.array([places.rows.get(row, 0.0) for row in candidates.row.tolist()], np.float32),
    )


def _find_rows(
    scope: Scope,
    lexical: LexicalQuery,
    vector: NDArray[np.float32] | None,
    mode: str,
    graph: RowGraph | None,
    named: Sequence[NDArray[np.int64]],
) -> tuple[NDArray[np.int64], RetrievalScores]:
    """Return the rows of either retrieval, ascending, and their scores.

    Each group of rows in `named` is added if no retrieval found one of it. The scores of a retrieval that the mode
    excludes are zero.
    """
    # With a limit for each partition, long documents cannot crowd out code, nor a large tree a note.
    parts = zip(scope.partitions, scope.partition_sizes, strict=True) if mode != "semantic" else ()
    contenders = [find_contenders(lexical, part, size, CANDIDATE_LIMIT) for part, size in parts]
    near = np.zeros(0, np.int64) if vector is None else find_near_rows(scope, vector, CANDIDATE_LIMIT, graph)
    # Without `return_index`, numpy imports numpy.ma.
    rows = np.unique(np.concatenate([*contenders, near, *named]), return_index=True)[0]
    scores = lexical.score_rows(rows)
    selected = np.zeros(len(rows), bool)
    for own in contenders:
        positions = np.searchsorted(rows, own)
        selected[positions] |= are_best(scores[positions], CANDIDATE_LIMIT)
    cosines = np.zeros(len(rows), np.float32)
    if vector is not None:
        is_near = np.zeros(len(rows), bool)
        is_near[np.searchsorted(rows, near)] = True
        compared = np.flatnonzero(selected | is_near)
        cosines[compared] = exact_cosines(scope.snapshot, vector, rows[compared])
        # A row that shares a word with the query may be less similar to it.
        selected |= is_near & ((cosines >= MIN_COSINE) | (scores > 0))
    added = _missed_groups(rows, selected, named)
    selected[added] = True
    if vector is not None:
        cosines[added] = exact_cosines(scope.snapshot, vector, rows[added])
    rows, scores, cosines = rows[selected], scores[selected], cosines[selected]
    if mode == "semantic":
        return rows, RetrievalScores(cosines, np.zeros_like(cosines), np.zeros_like(cosines))
    entries, file = np.unique(scope.entry_of[rows].astype(np.int64), return_inverse=True)
    return rows, RetrievalScores(cosines, scores, lexical.score_files(entries)[file])


def _missed_groups(
    rows: NDArray[np.int64], selected: NDArray[np.bool_], groups: Sequence[NDArray[np.int64]]
) -> NDArray[np.int64]:
    """Return the positions of the rows of each group of which none is selected, ascending."""
    positions = [np.searchsorted(rows, group) for group in groups]
    missed = [own for own in positions if not selected[own].any()]
    return np.sort(np.concatenate([np.zeros(0, np.int64), *missed]))


def _path_cosines(
    candidates: Candidates, encoder: Encoder, vector: NDArray[np.float32], max_lexical: float
) -> NDArray[np.float32]:
    """Return the cosine of each promising path's words and the query, [paths]; zero for other paths and records.

    Path vectors are computed per query and not stored: paths are not part of the index, so moving a file costs nothing.
    """
    promise = np.full(len(candidates.paths), -np.inf, np.float32)
    by_meaning = standardise(candidates.dense, COSINE_PRIOR)
    np.maximum.at(promise, candidates.file, by_meaning + standardise_lexical(candidates.file_lexical, max_lexical))
    promise[candidates.file[candidates.records]] = -np.inf
    best = np.argsort(-promise, kind="stable")[: min(PATH_LIMIT, int(np.isfinite(promise).sum()))]
    names = encoder.encode_names([count_identifiers(candidates.paths[file]) for file in best.tolist()])
    cosines = np.zeros(len(promise), np.float32)
    # einsum, because paths with the same words must get the same bits: a matrix product does not promise that.
    cosines[best] = np.einsum("ij,j->i", names, vector)
    return cosines


def rank_candidates(
    retrieved: Retrieval,
    *,
    limit: int,
    fusion: str = "zscore",
    weights: FusionWeights = FUSION_WEIGHTS,
    record_weights: FusionWeights = RECORD_FUSION,
) -> Ranking:
    """Fuse, rank and select. The same candidates can be ranked again by other weights."""
    candidates = retrieved.candidates
    # The embedding of a symbol says little about where it is defined: the chunks near it are those with little else in
    # them. For a symbol, cosines therefore count only if no word matches.
    ignore_cosines = retrieved.query.coded and bool(candidates.file_lexical.any())
    dense = np.zeros_like(candidates.dense) if ignore_cosines else candidates.dense
    max_lexical = max_score(retrieved.idf)
    fused_row, fused = _fuse_row_and_file(candidates, dense, fusion, weights, max_lexical)
    if candidates.records.any():
        record_row, record = _fuse_row_and_file(candidates, dense, fusion, record_weights, max_lexical)
        fused_row = np.where(candidates.records, record_row, fused_row)
        fused = np.where(candidates.records, record, fused)
    candidates = candidates._replace(fused_row=fused_row, fused=fused)
    features = compute_features(retrieved.query, candidates, retrieved.idf, retrieved.role_shares)
    scores = combine_features(features, candidates.records).tolist()
    return Ranking(features, select_candidates(candidates, retrieved.spans, scores, limit))


def _fuse_row_and_file(
    candidates: Candidates, dense: NDArray[np.float32], fusion: str, weights: FusionWeights, max_lexical: float
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return the cosines fused with the lexical scores of the rows, and with those of their files."""
    row_weights = weights._replace(lexical=ROW_SHARE * weights.lexical)
    by_row = _fuse(dense, candidates.lexical, fusion, row_weights, max_lexical)
    return by_row, _fuse(dense, candidates.file_lexical, fusion, weights, max_lexical)


def _fuse(
    dense: NDArray[np.float32], lexical: NDArray[np.float32], fusion: str, weights: FusionWeights, max_lexical: float
) -> NDArray[np.float32]:
    if fusion == "rrf":
        return fuse_ranks(dense, lexical) * RRF_SCALE
    return fuse_zscores(dense, lexical, weights, max_lexical)
