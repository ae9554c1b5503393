"""Chunks like a given one, by the vectors both were stored with. Nothing is embedded."""

import numpy as np
from numpy.typing import NDArray

from gitmem.search.dense import search_dense
from gitmem.search.engine import KEEP
from gitmem.search.hits import Columns, Hit, load_candidate, load_hit, load_scored, read_columns
from gitmem.search.scope import Scope
from gitmem.search.select import select


def search_related(scope: Scope, row: int, limit: int) -> list[Hit]:
    """The nearest chunks in scope, best first, without the chunk itself and what overlaps it in its blob."""
    vector = scope.snapshot.unit_vectors(np.array([row]))[0]
    if not vector.any():
        return []
    near = search_dense(scope, vector, KEEP)
    columns = read_columns(scope.snapshot)
    apart = ~_overlaps(scope, columns, near.rows, row) & (near.cosines > 0)
    rows, cosines = near.rows[apart], near.cosines[apart]
    found = [
        load_candidate(scope, columns, other, dense=cosine, lexical=0.0, fused=cosine, covered=0.0)
        for other, cosine in zip(rows.tolist(), cosines.tolist(), strict=True)
    ]
    scored = [load_scored(columns, place, item, min(1.0, item.dense)) for place, item in enumerate(found)]
    return [load_hit(scope, columns, found[place], score, {}) for place, score in select(scored, limit)]


def _overlaps(scope: Scope, columns: Columns, rows: NDArray[np.int64], row: int) -> NDArray[np.bool_]:
    """Which rows share bytes with one row: in the same blob, with meeting spans."""
    first, last = _blob_rows(scope, row)
    start, end = int(columns.start[row]), int(columns.start[row]) + int(columns.length[row])
    starts = columns.start[rows].astype(np.int64)
    ends = starts + columns.length[rows].astype(np.int64)
    beside = (rows >= first) & (rows < last)
    met: NDArray[np.bool_] = (beside & (starts < end) & (ends > start)) | (rows == row)
    return met


def _blob_rows(scope: Scope, row: int) -> tuple[int, int]:
    first = scope.snapshot.blob_first
    blob = int(np.searchsorted(first, row, side="right")) - 1
    return int(first[blob]), int(first[blob + 1])
