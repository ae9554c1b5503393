"""Rows as candidates and as results: what a row's chunk is called, where it stands, which paths hold it."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gitmem.git.names import path_text
from gitmem.search.rank import Candidate
from gitmem.search.scope import Scope
from gitmem.search.select import Scored
from gitmem.store.snapshot import Snapshot
from gitmem.types import KINDS


class Hit(NamedTuple):
    """One result. Lines are 1-based, inclusive; `scores` holds the parts of `score`, `also` the blob's other paths."""

    path: str
    start: int
    end: int
    start_line: int
    end_line: int
    kind: str
    symbol: str
    language: str
    blob: str
    chunk: int
    score: float
    scores: Mapping[str, float]
    also: tuple[str, ...] = ()


class Columns(NamedTuple):
    """The columns of a snapshot that turn rows into hits, read once."""

    start: NDArray[np.generic]
    length: NDArray[np.generic]
    line: NDArray[np.generic]
    lines: NDArray[np.generic]
    kind: NDArray[np.generic]


def read_columns(snapshot: Snapshot) -> Columns:
    """Read them."""
    return Columns(*(snapshot.column(name) for name in ("start", "length", "line", "lines", "kind")))


def load_candidate(
    scope: Scope, columns: Columns, row: int, *, dense: float, lexical: float, fused: float, covered: float
) -> Candidate:
    """What ranking needs to know of a row."""
    entry = int(scope.entry_of[row])
    segment, own = scope.snapshot.locate(row)
    return Candidate(
        row=row,
        path=path_text(scope.view.path(entry)),
        kind=KINDS[int(columns.kind[row])],
        symbol=segment.symbol(own),
        words=float(scope.words[row]),
        file_words=float(scope.file_words[entry]),
        covered=covered,
        dense=dense,
        lexical=lexical,
        fused=fused,
    )


def load_scored(columns: Columns, place: int, found: Candidate, score: float) -> Scored:
    """A candidate as selection sees it."""
    start = int(columns.start[found.row])
    return Scored(place, found.path, start, start + int(columns.length[found.row]), int(columns.line[found.row]), score)


def load_hit(scope: Scope, columns: Columns, found: Candidate, score: float, features: Mapping[str, float]) -> Hit:
    """A ranked row as a result."""
    row = found.row
    entry = int(scope.entry_of[row])
    segment, own = scope.snapshot.locate(row)
    blob = int(np.searchsorted(segment.first, own, side="right")) - 1
    start, line = int(columns.start[row]), int(columns.line[row])
    return Hit(
        path=found.path,
        start=start,
        end=start + int(columns.length[row]),
        start_line=line,
        end_line=line + int(columns.lines[row]) - 1,
        kind=found.kind,
        symbol=found.symbol,
        language=segment.languages[int(segment.blob_languages[blob])],
        blob=scope.view.oid(entry),
        chunk=own - int(segment.first[blob]),
        score=score,
        scores={"semantic": max(0.0, found.dense), "lexical": found.lexical, **features},
        also=_other_paths(scope, entry),
    )


def _other_paths(scope: Scope, entry: int) -> tuple[str, ...]:
    """Further paths of the view with the same blob."""
    keys = scope.view.keys
    same = np.flatnonzero((keys == keys[entry]) & (scope.view.reasons == 0))
    return tuple(path_text(scope.view.path(other)) for other in same.tolist() if other != entry)
