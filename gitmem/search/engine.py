"""Run a search: retrieve by words and by meaning, fuse the scores, rank the candidates, select the hits.

Retrieval is cheap per row and sees all rows in scope; ranking is expensive per row and sees a few hundred candidates.
Files and records are searched apart, because they differ too much in length and number to share statistics or a list
of candidates. Their scores are likelihoods, by which the results are merged.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import numpy as np

from gitmem.arrays import NDArray
from gitmem.embedding.encoder import Encoder
from gitmem.named_tuple import NamedTuple
from gitmem.search.calibration import (
    ELSEWHERE,
    FLOOR,
    calibrate,
    find_curve,
    makes_sense,
    measure_evidence,
    weigh_evidence,
)
from gitmem.search.candidate_rows import CANDIDATE_LIMIT
from gitmem.search.exact_spelling import lift_exact_spelling, lift_spoken_names
from gitmem.search.first_pieces import lift_first_pieces
from gitmem.search.fuse import FusionWeights, Sample, fuse_ranks, fuse_zscores
from gitmem.search.hits import LIFT, NO_ADJUSTMENTS, Hit, find_further_rows, load_hits, select_candidates
from gitmem.search.lexical import max_score
from gitmem.search.outdated import lower_outdated
from gitmem.search.parsed_query import NO_LITERAL, Literal, ParsedQuery
from gitmem.search.quoting_rows import ReadTexts, choose_quoting, find_quoting
from gitmem.search.rank import (
    RECORD_WEIGHTS,
    WEIGHTS,
    Candidates,
    Features,
    combine_features,
    compute_features,
    lift_above,
)
from gitmem.search.retrieval import Retrieval, retrieve
from gitmem.search.scope import Scope
from gitmem.search.select import REPEAT_DECAY
from gitmem.search.spoken_names import SpokenName
from gitmem.search.unit_meaning import QueryMeaning
from gitmem.store.graph import RowGraph

FUSION_WEIGHTS: Final = FusionWeights(semantic=0.49, lexical=0.63)
"""Fitted on public retrieval queries, see the benchmarks."""

RECORD_FUSION: Final = FusionWeights(semantic=0.42, lexical=0.7)
"""The same for records, fitted on headings of public documentation."""

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

    With `meaning` the definitions in the hits can be compared; `literal` tells which the query names or quotes.
    `rejected` are the results that the least score left out, None if there are none. `notes` say what the search could
    not do.
    """

    terms: tuple[str, ...]
    hits: list[Hit]
    rejected: Rejected | None = None
    notes: tuple[str, ...] = ()
    meaning: QueryMeaning | None = None
    literal: Literal = NO_LITERAL


class SearchOptions(NamedTuple):
    """How to search: the mode, the fusion with its weights, and a graph for retrieval over very many rows.

    With `read_texts` a query that quotes code or a message finds it.
    """

    mode: str = "hybrid"
    fusion: str = "zscore"
    weights: FusionWeights = FUSION_WEIGHTS
    graph: RowGraph | None = None
    read_texts: ReadTexts | None = None


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
        meaning=next((own.meaning for own in ranked if own.meaning is not None), None),
        literal=Literal(
            (*query.named_members, *((spoken.name,) for own in ranked for spoken in own.spoken)),
            query.quotation if any(own.is_quoted for own in ranked) else None,
        ),
    )


class _SearchedScope(NamedTuple):
    """Terms to highlight, hits of one scope, and whether the query makes sense in it, filters apart.

    `is_quoted` is True if the query quotes some of the hits. `spoken` are names of definitions that it says in words.
    """

    terms: tuple[str, ...]
    hits: list[Hit]
    makes_sense: bool
    meaning: QueryMeaning | None
    is_quoted: bool
    spoken: Sequence[SpokenName]


def _search_scope(
    scope: Scope, query: ParsedQuery, encoder: Encoder, limit: int, options: SearchOptions
) -> _SearchedScope:
    count = max(CANDIDATE_LIMIT, 2 * limit)
    while True:
        retrieved = retrieve(scope, query, encoder, mode=options.mode, graph=options.graph, nearest=count)
        quoting = _find_quoting(scope, retrieved, options)
        ranking = rank_candidates(
            retrieved, limit=limit, fusion=options.fusion, weights=options.weights, quoting=quoting
        )
        # By cosine alone the answer is exact: results that overlap better ones must not make it shorter.
        if options.mode != "semantic" or len(ranking.selected) >= limit or count >= scope.row_count:
            break
        count *= 4
    meaning = _find_meaning(retrieved, encoder)
    adjustments = {"query": np.full(len(ranking.sums), ranking.evidence), **ranking.adjustments}
    further: list[tuple[int, float]] = []
    if meaning is not None:
        further, adjustments[LIFT] = find_further_rows(retrieved.candidates, ranking.sums, ranking.selected)
    loaded = load_hits(scope, retrieved.candidates, [*ranking.selected, *further], ranking.features, adjustments)
    hits, others = loaded[: len(ranking.selected)], loaded[len(ranking.selected) :]
    return _SearchedScope(
        _shown_terms(retrieved), _attach(hits, others), ranking.makes_sense, meaning, ranking.is_quoted,
        retrieved.query.spoken,
    )  # fmt: skip


def _find_quoting(scope: Scope, retrieved: Retrieval, options: SearchOptions) -> NDArray[np.bool_] | None:
    """Return which candidates have the quotation that the query may be, [candidates]; None for no quotation."""
    quotation = retrieved.query.quotation
    if quotation is None or retrieved.quoting is None or options.read_texts is None:
        return None
    return find_quoting(scope, retrieved.candidates, retrieved.quoting, quotation, options.read_texts)


def _find_meaning(retrieved: Retrieval, encoder: Encoder) -> QueryMeaning | None:
    """Return what the query means; None if definitions are not compared by it: in records, and for the name of code."""
    query = retrieved.query
    if retrieved.names_vector is None or query.coded:
        return None
    names = encoder.names
    return QueryMeaning(query, retrieved.idf, retrieved.names_vector, names, names is encoder)


def _attach(hits: Sequence[Hit], others: Sequence[Hit]) -> list[Hit]:
    """Return the hits, of each file the first one with the further rows of the file."""
    rows: dict[str, list[Hit]] = {}
    for other in others:
        rows.setdefault(other.path, []).append(other)
    return [hit._replace(others=tuple(rows.pop(hit.path, ()))) for hit in hits]


def _shown_terms(retrieved: Retrieval) -> tuple[str, ...]:
    """Return the terms to highlight: those of the query, of a long text the ones that say most."""
    if not retrieved.query.weights:
        return retrieved.query.terms
    return tuple(sorted(retrieved.idf, key=lambda term: -retrieved.idf[term])[:SHOWN_TERMS])


class Ranking(NamedTuple):
    """Positions of the selected candidates with their scores, best first, and the features of all candidates.

    `sums` are the weighted sums of the features, `evidence` what the query as a whole adds to the logits of the scores,
    and `makes_sense` the result of the function of that name. `adjustments` are what else changed the scores, by the
    names in `hits.ADJUSTMENTS`, [candidates] each. `is_quoted` is True if the query quotes candidates that pass the
    filters.
    """

    features: Features
    selected: list[tuple[int, float]]
    sums: NDArray[np.float64]
    evidence: float
    makes_sense: bool
    adjustments: Features = NO_ADJUSTMENTS
    is_quoted: bool = False


def rank_candidates(
    retrieved: Retrieval,
    *,
    limit: int,
    fusion: str = "zscore",
    weights: FusionWeights = FUSION_WEIGHTS,
    record_weights: FusionWeights = RECORD_FUSION,
    quoting: NDArray[np.bool_] | None = None,
) -> Ranking:
    """Fuse, rank and select. The same candidates can be ranked again by other weights.

    `quoting` marks those that have the query as it is written, if it may be a quotation.
    """
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
    is_quoted = False
    if features:
        meant = np.zeros(len(sums), bool)
        if quoting is not None and retrieved.query.quotation is not None:
            meant = choose_quoting(retrieved.query.quotation, candidates, features, quoting)
        is_quoted = bool((meant & candidates.inside).any())
        sensible |= bool((meant & candidates.pool).any())
        sums, adjustments = _lift(retrieved, candidates, features, sums, meant)
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
    return Ranking(features, selected, sums, evidence, sensible, adjustments, is_quoted)


def _lift(
    retrieved: Retrieval,
    candidates: Candidates,
    features: Features,
    sums: NDArray[np.float64],
    quoted: NDArray[np.bool_],
) -> tuple[NDArray[np.float64], dict[str, NDArray[np.float64]]]:
    """Return the sums with what puts some candidates before all others, and each such lift by its name."""
    query, pool = retrieved.query, candidates.pool
    lifts: Mapping[str, Callable[[NDArray[np.float64]], NDArray[np.float64] | None]] = {
        "quotation": lambda sums: lift_above(quoted, quoted & pool, ~quoted & pool, sums),
        "spoken_name": lambda sums: lift_spoken_names(query, candidates, features, sums),
        "spelling": lambda sums: lift_exact_spelling(query, candidates, features, sums),
        "first_piece": lambda sums: lift_first_pieces(query, candidates, retrieved.spans, sums, features["definition"]),
    }
    applied: dict[str, NDArray[np.float64]] = {}
    for name, find in lifts.items():
        lift = find(sums)
        if lift is not None:
            applied[name] = lift
            sums = sums + lift
    return sums, applied


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
