"""Chunks like a given one, by the vectors both were stored with. Nothing is embedded."""

import numpy as np
from numpy.typing import NDArray

from gitmem.search.dense import search_dense
from gitmem.search.engine import KEEP
from gitmem.search.hits import Hit, Signals, load_candidates, load_hit, load_spans, select_candidates
from gitmem.search.scope import Scope


def search_related(scope: Scope, row: int, limit: int) -> list[Hit]:
    """The nearest chunks in scope, best first, without the chunk itself and what overlaps it in its blob."""
    vector = scope.snapshot.unit_vectors(np.array([row]))[0]
    if not vector.any():
        return []
    near = search_dense(scope, vector, KEEP)
    apart = ~_overlaps(scope, near.rows, row) & (near.cosines > 0)
    rows, cosines = near.rows[apart], near.cosines[apart]
    none = np.zeros(len(rows), np.float32)
    found = load_candidates(scope, rows, Signals(cosines, none, none))
    chosen = select_candidates(found, load_spans(scope, rows), np.minimum(cosines, 1.0).tolist(), limit)
    return [load_hit(scope, found, place, score, {}) for place, score in chosen]


def _overlaps(scope: Scope, rows: NDArray[np.int64], row: int) -> NDArray[np.bool_]:
    """Which rows share bytes with one row: in the same blob, with meeting spans."""
    first, last = _blob_rows(scope, row)
    spans = scope.snapshot.gather(("start", "length"), np.append(rows, row))
    starts = spans["start"].astype(np.int64)
    ends = starts + spans["length"].astype(np.int64)
    beside = (rows >= first) & (rows < last)
    met: NDArray[np.bool_] = (beside & (starts[:-1] < ends[-1]) & (ends[:-1] > starts[-1])) | (rows == row)
    return met


def _blob_rows(scope: Scope, row: int) -> tuple[int, int]:
    first = scope.snapshot.blob_first
    blob = int(np.searchsorted(first, row, side="right")) - 1
    return int(first[blob]), int(first[blob + 1])
