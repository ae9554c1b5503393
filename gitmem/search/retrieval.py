"""Retrieve the candidates of a query by words and by meaning: the stage of a search that reads the index."""

from collections.abc import Mapping
from typing import Final

import numpy as np

from gitmem.arrays import NDArray
from gitmem.embedding.encoder import Encoder
from gitmem.named_tuple import NamedTuple
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
from gitmem.search.fuse import COSINE_PRIOR, standardise, standardise_lexical
from gitmem.search.hits import RetrievedRows, Spans, load_candidates
from gitmem.search.lexical import max_score
from gitmem.search.named_places import NO_PLACES, NamedPlaces, find_places
from gitmem.search.outdated import OutdatedCandidates
from gitmem.search.parsed_query import ParsedQuery
from gitmem.search.rank import NO_SHARES, Candidates
from gitmem.search.scope import Scope
from gitmem.search.whole_conversations import score_conversations
from gitmem.store.graph import RowGraph
from gitmem.words import count_identifiers

PATH_LIMIT: Final = 48
"""Files without filters whose paths are compared with the query: those with the highest sum of z-scores.

The sum adds the cosine of the file's best chunk and its lexical score. The other files would need more than a good path
to come among the first.
"""


class Retrieval(NamedTuple):
    """Candidates of a query before fusion: their fused scores are zero as yet.

    `idf` is that of the query's terms. `role_shares` is the share of each path role in the searched files. `elsewhere`
    marks candidates in other repositories than the user's, if these are searched, `outdated` notes among them. `files`
    is the number of files in scope, filters apart. `names_vector` is the vector of the query by the encoder of names.
    `quoting` are the rows that may have the quotation of the query, because they hold all of its words.

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
    names_vector: NDArray[np.float32] | None = None
    quoting: NDArray[np.int64] | None = None


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
        candidates, spans = load_candidates(scope.whole, rows)
        return Retrieval(
            query._replace(spoken=()), candidates, spans, {}, mode=mode, elsewhere=_are_elsewhere(scope, rows),
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
    candidates, spans = load_candidates(scope.whole, rows)
    candidates = _weigh_places(candidates, rows, places)
    if candidates.are_records:
        conversation = score_conversations(whole.lexical, query.dates, rows.entry, candidates.chunk_type, rows.pool)
        candidates = candidates._replace(conversation=conversation)
    path_vector = None
    if vector is not None and not candidates.are_records:
        path_encoder = encoder.names
        path_vector = vector if path_encoder is encoder else encode_query(query, path_encoder)
        cosines = _path_cosines(candidates, path_encoder, path_vector, max_score(idf))
        candidates = candidates._replace(path_cosine=cosines)
    shares = scope.whole.role_shares
    outdated = find_outdated_rows(scope, rows)
    files = scope.whole.document_counts.files
    elsewhere = _are_elsewhere(scope, rows)
    query = query._replace(spoken=whole.spoken)
    return Retrieval(
        query, candidates, spans, idf, shares, mode, elsewhere, outdated, files, path_vector, whole.quoting
    )


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
