"""Run a search: retrieve by words and by meaning, fuse the scores, rank the candidates, select the hits.

Retrieval is cheap per row and sees all rows in scope; ranking is expensive per row and sees a few hundred candidates.
Files and records are searched apart, because they differ too much in length and number to share statistics or a list
of candidates. Their scores are likelihoods, by which the results are merged.
"""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gitmem.embedding.encoder import Encoder
from gitmem.search.calibration import (
    ELSEWHERE,
    FLOOR,
    calibrate,
    find_curve,
    makes_sense,
    measure_evidence,
    weigh_evidence,
)
from gitmem.search.candidate_rows import (
    CANDIDATE_LIMIT,
    RowRetrieval,
    add_following_turns,
    add_successors,
    find_outdated_rows,
    join_retrieved,
    nearest_rows,
    score_by_cosine,
)
from gitmem.search.first_pieces import lift_first_pieces
from gitmem.search.fuse import (
    COSINE_PRIOR,
    FusionWeights,
    Sample,
    fuse_ranks,
    fuse_zscores,
    standardise,
    standardise_lexical,
)
from gitmem.search.hits import (
    NO_ADJUSTMENTS,
    Hit,
    RetrievedRows,
    Spans,
    load_candidates,
    load_hits,
    load_spans,
    select_candidates,
)
from gitmem.search.lexical import max_score
from gitmem.search.named_places import NO_PLACES, NamedPlaces, find_places
from gitmem.search.outdated import OutdatedCandidates, lower_outdated
from gitmem.search.parsed_query import ParsedQuery
from gitmem.search.rank import (
    NO_SHARES,
    RECORD_WEIGHTS,
    WEIGHTS,
    Candidates,
    Features,
    combine_features,
    compute_features,
)
from gitmem.search.scope import Scope
from gitmem.search.select import REPEAT_DECAY
from gitmem.search.whole_conversations import score_conversations
from gitmem.store.graph import RowGraph
from gitmem.words import count_identifiers

FUSION_WEIGHTS: Final = FusionWeights(semantic=0.49, lexical=0.63)
"""Fitted on public retrieval queries, see the benchmarks."""

RECORD_FUSION: Final = FusionWeights(semantic=0.42, lexical=0.7)
"""The same for records, fitted on headings of public documentation."""

PATH_LIMIT: Final = 48
"""Files without filters whose paths are compared with the query: those with the highest sum of z-scores.

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


class Rejected(NamedTuple):
    """Results below the least score: their number, the highest of their scores, and the least score."""

    number: int
    best: float
    least: float


class SearchResult(NamedTuple):
    """Terms of the query to highlight in the hits, and the hits, best first.

    `rejected` are the results that the least score left out, None if there are none. `notes` say what the search could
    not do.
    """

    terms: tuple[str, ...]
    hits: list[Hit]
    rejected: Rejected | None = None
    notes: tuple[str, ...] = ()


class SearchOptions(NamedTuple):
    """How to search: the mode, the fusion with its weights, and a graph for retrieval over very many rows."""

    mode: str = "hybrid"
    fusion: str = "zscore"
    weights: FusionWeights = FUSION_WEIGHTS
    graph: RowGraph | None = None


DEFAULT_OPTIONS: Final = SearchOptions()


def search(
    scopes: Sequence[Scope],
    query: ParsedQuery,
    encoder: Encoder,
    *,
    limit: int,
    options: SearchOptions = DEFAULT_OPTIONS,
    min_score: float | None = None,
) -> SearchResult:
    """Return the best hits in some scopes; their score is the likelihood that they are relevant.

    The encoder must be the one that made the index; mode `lexical` does not use it. Hits below `min_score` are left
    out. Without it, a scope has no hits if the query makes no sense in it, see `calibration.makes_sense`.
    """
    ranked = [_search_scope(scope, query, encoder, limit, options) for scope in scopes if scope.row_count]
    hits: list[Hit] = []
    rejected: list[float] = []
    for own in ranked:
        for hit in own.hits:
            is_low = not own.makes_sense if min_score is None else hit.score < min_score
            (rejected.append(hit.score) if is_low else hits.append(hit))
    hits.sort(key=lambda hit: -hit.score)  # stable, so that ties keep their order
    least = FLOOR if min_score is None else min_score
    return SearchResult(
        ranked[0].terms if ranked else query.terms,
        hits[:limit],
        rejected=Rejected(len(rejected), max(rejected), least) if rejected else None,
    )


class _SearchedScope(NamedTuple):
    """Terms to highlight, hits of one scope, and whether the query makes sense in it, filters apart."""

    terms: tuple[str, ...]
    hits: list[Hit]
    makes_sense: bool


def _search_scope(
    scope: Scope, query: ParsedQuery, encoder: Encoder, limit: int, options: SearchOptions
) -> _SearchedScope:
    count = max(CANDIDATE_LIMIT, 2 * limit)
    while True:
        retrieved = retrieve(scope, query, encoder, mode=options.mode, graph=options.graph, nearest=count)
        ranking = rank_candidates(retrieved, limit=limit, fusion=options.fusion, weights=options.weights)
        # By cosine alone the answer is exact: results that overlap better ones must not make it shorter.
        if options.mode != "semantic" or len(ranking.selected) >= limit or count >= scope.row_count:
            break
        count *= 4
    adjustments = {"query": np.full(len(ranking.sums), ranking.evidence), **ranking.adjustments}
    hits = load_hits(scope, retrieved.candidates, ranking.selected, ranking.features, adjustments)
    return _SearchedScope(_shown_terms(retrieved), hits, ranking.makes_sense)


def _shown_terms(retrieved: "Retrieval") -> tuple[str, ...]:
    """Return the terms to highlight: those of the query, of a long text the ones that say most."""
    if not retrieved.query.weights:
        return retrieved.query.terms
    return tuple(sorted(retrieved.idf, key=lambda term: -retrieved.idf[term])[:SHOWN_TERMS])


class Retrieval(NamedTuple):
    """Candidates of a query before fusion: their fused scores are zero as yet.

    `idf` is that of the query's terms. `role_shares` is the share of each path role in the searched files. `elsewhere`
    marks candidates in other repositories than the user's, if these are searched, `outdated` notes among them. `files`
    is the number of files in scope, filters apart.

    It holds no reference to the index.
    """

    query: ParsedQuery
    candidates: Candidates
    spans: Spans
    idf: Mapping[str, float]
    role_shares: Mapping[str, float] = NO_SHARES
    mode: str = "hybrid"
    elsewhere: NDArray[np.bool_] | None = None
    outdated: OutdatedCandidates | None = None
    files: int = 0


class Ranking(NamedTuple):
    """Positions of the selected candidates with their scores, best first, and the features of all candidates.

    `sums` are the weighted sums of the features, `evidence` what the query as a whole adds to the logits of the scores,
    and `makes_sense` the result of the function of that name. `adjustments` are what else changed the scores, by the
    names in `hits.ADJUSTMENTS`, [candidates] each.
    """

    features: Features
    selected: list[tuple[int, float]]
    sums: NDArray[np.float64]
    evidence: float
    makes_sense: bool
    adjustments: Features = NO_ADJUSTMENTS


def retrieve(
    scope: Scope,
    query: ParsedQuery,
    encoder: Encoder,
    *,
    mode: str = "hybrid",
    graph: RowGraph | None = None,
    nearest: int = CANDIDATE_LIMIT,
    limit: int = CANDIDATE_LIMIT,
) -> Retrieval:
    """Retrieve the candidates of a query; only this stage searches the index.

    Mode `semantic` retrieves the `nearest` rows, exactly unless there is a graph. In the other modes each retrieval
    gives `limit` rows.
    """
    vector = None if mode == "lexical" else encode_query(query, encoder)
    if mode == "semantic":
        assert vector is not None
        rows = nearest_rows(scope.whole, vector, nearest, graph)
        if scope.is_filtered:
            rows = join_retrieved(rows, nearest_rows(scope, vector, nearest, graph), scope)
        rows = add_successors(scope, rows, lambda missing: score_by_cosine(scope, vector, missing))
        candidates, spans = load_candidates(scope.whole, rows), load_spans(scope, rows.row)
        return Retrieval(
            query, candidates, spans, {}, mode=mode, elsewhere=_are_elsewhere(scope, rows),
            outdated=find_outdated_rows(scope, rows),
        )  # fmt: skip
    places = find_places(scope.whole, query.mentions) if query.mentions else NO_PLACES
    whole = RowRetrieval(scope.whole, query, vector, places, graph, limit)
    rows = whole.find()
    if scope.is_filtered:
        rows = join_retrieved(rows, RowRetrieval(scope, query, vector, places, graph, limit).find(), scope)
    rows = add_successors(scope, rows, whole.score)
    rows = add_following_turns(scope, rows, whole.score)
    idf = whole.lexical.idf
    candidates = _weigh_places(load_candidates(scope.whole, rows), rows, places)
    if candidates.are_records:
        conversation = score_conversations(whole.lexical, query.dates, rows.entry, candidates.chunk_type, rows.pool)
        candidates = candidates._replace(conversation=conversation)
    if vector is not None and not candidates.are_records:
        path_encoder = encoder.names
        path_vector = vector if path_encoder is encoder else encode_query(query, path_encoder)
        cosines = _path_cosines(candidates, path_encoder, path_vector, max_score(idf))
        candidates = candidates._replace(path_cosine=cosines)
    spans, shares = load_spans(scope, rows.row), scope.whole.role_shares
    outdated = find_outdated_rows(scope, rows)
    files = scope.whole.document_counts.files
    return Retrieval(query, candidates, spans, idf, shares, mode, _are_elsewhere(scope, rows), outdated, files)


def _are_elsewhere(scope: Scope, rows: RetrievedRows) -> NDArray[np.bool_] | None:
    """Return which rows are in other repositories than the user's; None in a search of one repository."""
    return None if scope.whole.elsewhere is None else scope.whole.elsewhere[rows.entry]


def encode_query(query: ParsedQuery, encoder: Encoder) -> NDArray[np.float32]:
    """Embed a query; the parts of a long text are embedded apart, so that a long part does not drown the others."""
    if not query.texts:
        return encoder.encode_query(query.text)
    vectors = encoder.encode_names([text for text, _ in query.texts])
    vector = np.array([weight for _, weight in query.texts], np.float32) @ vectors
    return (vector / max(float(np.sqrt(vector @ vector)), 1e-6)).astype(np.float32)


def _weigh_places(candidates: Candidates, rows: RetrievedRows, places: NamedPlaces) -> Candidates:
    """Return the candidates with the weights of the named places that they are."""
    if not places.files:
        return candidates
    return candidates._replace(
        named_file=np.array([places.files.get(entry, 0.0) for entry in rows.entry.tolist()], np.float32),
        named_row=np.array([places.rows.get(row, 0.0) for row in rows.row.tolist()], np.float32),
    )


def _path_cosines(
    candidates: Candidates, encoder: Encoder, vector: NDArray[np.float32], max_lexical: float
) -> NDArray[np.float32]:
    """Return the cosine of the path's words and the query for the candidates of promising files, zero for others.

    Path vectors are computed per query and not stored: paths are not part of the index, so moving a file costs nothing.
    """
    pool = candidates.pool
    sums = standardise(candidates.dense, COSINE_PRIOR, pool)
    sums += standardise_lexical(candidates.file_lexical, max_lexical, pool)
    promise = np.full(len(candidates.paths), -np.inf, np.float32)
    np.maximum.at(promise, candidates.file[pool], sums[pool])
    best = np.sort(promise[np.isfinite(promise)])[-PATH_LIMIT:]
    # Files that only the search with filters found are compared with the same threshold.
    outside = ~pool & ~np.isfinite(promise)[candidates.file]
    np.maximum.at(promise, candidates.file[outside], sums[outside])
    promising = np.flatnonzero(promise >= best[0])
    cosines = np.zeros(len(promise), np.float32)
    names = encoder.encode_names([count_identifiers(candidates.paths[file]) for file in promising.tolist()])
    # einsum, because paths with the same words must get the same bits: a matrix product does not promise that.
    cosines[promising] = np.einsum("ij,j->i", names, vector)
    return cosines[candidates.file]


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
    records = candidates.are_records
    curve = find_curve(retrieved.mode, records=records)
    if not len(candidates.row):
        return Ranking({}, [], np.zeros(0), curve.bias, makes_sense=False)
    measured: Mapping[str, float] = {}
    if retrieved.mode == "semantic":
        features: Features = {}
        sums, evidence, decay = candidates.dense.astype(np.float64), curve.bias, 1.0
    else:
        candidates = fuse_candidates(retrieved, fusion, record_weights if records else weights)
        features = compute_features(retrieved.query, candidates, retrieved.idf, retrieved.role_shares)
        sums = combine_features(features, RECORD_WEIGHTS if records else WEIGHTS)
        measured = measure_evidence(retrieved.query, candidates, retrieved.idf, sums, retrieved.files)
        evidence, decay = weigh_evidence(curve, measured), REPEAT_DECAY
    scores = calibrate(curve, sums, evidence)
    sensible = makes_sense(float(scores[candidates.pool].max(initial=0.0)), measured)
    adjustments: dict[str, NDArray[np.float64]] = {}
    lifts = lift_first_pieces(retrieved.query, candidates, retrieved.spans, sums) if features else None
    if lifts is not None:
        adjustments["first_piece"] = lifts
        sums = sums + lifts
    if retrieved.elsewhere is not None:
        # Whether the query makes sense, and how well it is matched, does not depend on where the user is.
        adjustments["elsewhere"] = retrieved.elsewhere.astype(np.float64)
    if adjustments:
        scores = calibrate(curve, sums, evidence + ELSEWHERE * adjustments.get("elsewhere", 0.0))
    if retrieved.outdated is not None:
        final = lower_outdated(retrieved.outdated, scores)
        adjustments["currency"] = final / np.maximum(scores, 1e-9)
        scores = final
    selected = select_candidates(candidates, retrieved.spans, scores.tolist(), limit, decay)
    return Ranking(features, selected, sums, evidence, sensible, adjustments)


def fuse_candidates(retrieved: Retrieval, fusion: str, weights: FusionWeights) -> Candidates:
    """Return the candidates with their fused scores."""
    candidates = retrieved.candidates
    # The embedding of a symbol says little about where it is defined: the chunks near it are those with little else in
    # them. For a symbol, cosines therefore count only if no word matches.
    ignore_cosines = retrieved.query.coded and bool(candidates.file_lexical[candidates.pool].any())
    dense = np.zeros_like(candidates.dense) if ignore_cosines else candidates.dense
    fused_row, fused = _fuse_row_and_file(candidates, dense, fusion, weights, max_score(retrieved.idf))
    return candidates._replace(fused_row=fused_row, fused=fused)


def _fuse_row_and_file(
    candidates: Candidates, dense: NDArray[np.float32], fusion: str, weights: FusionWeights, max_lexical: float
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return the cosines fused with the lexical scores of the rows, and with those of their files."""
    row_weights = weights._replace(lexical=ROW_SHARE * weights.lexical)
    pool = candidates.pool
    by_row = _fuse(dense, candidates.lexical, fusion, row_weights, max_lexical, pool)
    return by_row, _fuse(dense, candidates.file_lexical, fusion, weights, max_lexical, pool)


def _fuse(
    dense: NDArray[np.float32],
    lexical: NDArray[np.float32],
    fusion: str,
    weights: FusionWeights,
    max_lexical: float,
    sample: Sample,
) -> NDArray[np.float32]:
    if fusion == "rrf":
        return fuse_ranks(dense, lexical, sample=sample) * RRF_SCALE
    return fuse_zscores(dense, lexical, weights, max_lexical, sample)
