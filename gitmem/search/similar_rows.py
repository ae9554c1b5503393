"""Find chunks similar to a given one by comparing stored vectors. Nothing is embedded."""

import numpy as np

from gitmem.arrays import NDArray
from gitmem.search.candidate_rows import CANDIDATE_LIMIT
from gitmem.search.dense import search_dense
from gitmem.search.hits import (
    Hit,
    RetrievalScores,
    RetrievedRows,
    load_candidates,
    load_hits,
    load_spans,
    select_candidates,
)
from gitmem.search.scope import Scope


def search_similar(scope: Scope, row: int, limit: int, vector: NDArray[np.float32] | None = None) -> list[Hit]:
    """Return the chunks in scope that are nearest to a chunk, best first, without those that overlap it.

    With a `vector` it stands for a unit of the row. Then the row itself is a result too, for its other units.
    """
    compared = scope.snapshot.unit_vectors(np.array([row]))[0] if vector is None else vector
    if not compared.any():
        return []  # a chunk without words has a zero vector
    nearest = search_dense(scope, compared, CANDIDATE_LIMIT)
    distinct = ~_overlaps(scope, nearest.rows, row)
    if vector is not None:
        distinct |= nearest.rows == row
    distinct &= nearest.cosines > 0
    rows, cosines = nearest.rows[distinct], nearest.cosines[distinct]
    zeros = np.zeros(len(rows), np.float32)
    everything, entries = np.ones(len(rows), bool), scope.entry_of[rows].astype(np.int64)
    retrieved = RetrievedRows(rows, entries, RetrievalScores(cosines, zeros, zeros, zeros), everything, everything)
    candidates, spans = load_candidates(scope, retrieved)
    # The cosine is the score: signals that relate words to names or paths need a query.
    scores = np.minimum(cosines, 1.0).tolist()
    selected = select_candidates(candidates, spans, scores, limit, decay=1.0)
    return load_hits(scope, candidates, selected, {})


def _overlaps(scope: Scope, rows: NDArray[np.int64], row: int) -> NDArray[np.bool_]:
    """Return which rows show bytes that one row shows: same blob, overlapping spans."""
    first, last = _blob_rows(scope, row)
    starts, ends, _ = load_spans(scope, np.concatenate([rows, [row]]))
    same_blob = (rows >= first) & (rows < last)
    overlaps: NDArray[np.bool_] = (same_blob & (starts[:-1] < ends[-1]) & (ends[:-1] > starts[-1])) | (rows == row)
    return overlaps


def _blob_rows(scope: Scope, row: int) -> tuple[int, int]:
    """Return the range of rows, half-open, of the blob that holds a row."""
    first = scope.snapshot.blob_first
    blob = int(np.searchsorted(first, row, side="right")) - 1
    return int(first[blob]), int(first[blob + 1])
