"""Chunks like a given one, by the vectors both were stored with. Nothing is embedded."""

import numpy as np
from numpy.typing import NDArray

from gitmem.search.dense import search_dense
from gitmem.search.engine import KEEP, Columns, Hit, load_candidate, load_hit, read_columns
from gitmem.search.scope import Scope
from gitmem.search.select import Scored, select


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
        load_candidate(scope, columns, other, cosine, 0.0, cosine)
        for other, cosine in zip(rows.tolist(), cosines, strict=True)
    ]
    scored = [
        Scored(place, item.path, int(columns.start[item.row]), int(columns.start[item.row] + columns.length[item.row]),
               int(columns.line[item.row]), min(1.0, item.dense))
        for place, item in enumerate(found)
    ]  # fmt: skip
    return [load_hit(scope, columns, found[place], score, {}) for place, score in select(scored, limit)]


def _overlaps(scope: Scope, columns: Columns, rows: NDArray[np.int64], row: int) -> NDArray[np.bool_]:
    """Which rows share bytes with one row: in the same blob, with meeting spans."""
    first, last = _blob_rows(scope, row)
    start, end = int(columns.start[row]), int(columns.start[row]) + int(columns.length[row])
    starts = columns.start[rows].astype(np.int64)
    ends = starts + columns.length[rows].astype(np.int64)
    met: NDArray[np.bool_] = (rows >= first) & (rows < last) & (starts < end) & (ends > start)
    return met | (rows == row)


def _blob_rows(scope: Scope, row: int) -> tuple[int, int]:
    first = scope.snapshot.blob_first
    blob = int(np.searchsorted(first, row, side="right")) - 1
    return int(first[blob]), int(first[blob + 1])
