"""A search from end to end: retrieve twice, fuse, rank as code, select."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from gitmem.git.names import path_text
from gitmem.search.dense import exact_cosines, search_dense
from gitmem.search.fuse import fuse_ranks, fuse_zscores
from gitmem.search.lexical import LexicalScores, search_lexical
from gitmem.search.query import Query
from gitmem.search.rank import WEIGHTS, Candidate, combine, rank
from gitmem.search.scope import Scope
from gitmem.search.select import Scored, select
from gitmem.types import KINDS

if TYPE_CHECKING:
    from gitmem.store.snapshot import Snapshot

KEEP: Final = 200
"""Candidates of each retrieval that are ranked."""

FUSION_WEIGHTS: Final = (0.8, 1.0)
RRF_SCALE: Final = 60.0
"""Brings a sum of reciprocal ranks to the range of a standard score."""

MIN_COSINE: Final = 0.2
"""A chunk that shares no word with the question must be at least this near to be a hit."""


@dataclass(frozen=True, slots=True)
class Hit:
    """One result. Lines are 1-based and inclusive; `scores` holds the parts of `score`, `also` other paths of the blob."""

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
    scores: Mapping[str, float] = field(default_factory=dict)
    also: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of a snapshot that turn rows into hits, read once."""

    start: NDArray[np.generic]
    length: NDArray[np.generic]
    line: NDArray[np.generic]
    lines: NDArray[np.generic]
    kind: NDArray[np.generic]


def read_columns(snapshot: "Snapshot") -> Columns:
    """Read them."""
    return Columns(*(snapshot.column(name) for name in ("start", "length", "line", "lines", "kind")))


def search(
    scope: Scope, query: Query, vector: NDArray[np.float32], *, limit: int, mode: str = "hybrid", fusion: str = "zscore"
) -> list[Hit]:
    """The best hits in scope, best first. `vector` is the question's embedding, [dimensions], unused in lexical mode."""
    if not scope.rows:
        return []
    lexical = search_lexical(scope, query.terms)
    rows, dense = _candidates(scope, vector, lexical, mode)
    words = lexical.scores[rows]
    fused = _fuse(dense, words, mode, fusion)
    columns = read_columns(scope.snapshot)
    found = [
        load_candidate(scope, columns, row, *parts) for row, *parts in zip(rows.tolist(), dense, words, fused, strict=True)
    ]
    features = rank(query, found, lexical.idf)
    scores = combine(features, WEIGHTS)
    scored = [
        Scored(place, item.path, int(columns.start[item.row]), int(columns.start[item.row] + columns.length[item.row]),
               int(columns.line[item.row]), float(score))
        for place, (item, score) in enumerate(zip(found, scores, strict=True))
    ]  # fmt: skip
    return [load_hit(scope, columns, found[place], score, features[place]) for place, score in select(scored, limit)]


def _candidates(
    scope: Scope, vector: NDArray[np.float32], lexical: LexicalScores, mode: str
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Rows of either retrieval and their cosines."""
    by_words = _best(lexical.scores, KEEP) if mode != "semantic" else np.zeros(0, np.int64)
    if mode == "lexical":
        return by_words, np.zeros(len(by_words), np.float32)
    near = search_dense(scope, vector, KEEP)
    close = near.rows[(near.cosines >= MIN_COSINE) | (lexical.scores[near.rows] > 0)]
    rows = np.unique(np.concatenate([by_words, close]), return_index=True)[0]  # without, numpy imports numpy.ma
    return rows, exact_cosines(scope.snapshot, vector, rows)


def _best(scores: NDArray[np.float32], keep: int) -> NDArray[np.int64]:
    """Rows of the highest positive scores, at least `keep` where there are so many: ties of the last are all taken."""
    positive = np.flatnonzero(scores > 0)
    if len(positive) <= keep:
        return positive
    limit = np.partition(scores[positive], -keep)[-keep]
    best: NDArray[np.int64] = positive[scores[positive] >= limit]
    return best


def _fuse(dense: NDArray[np.float32], words: NDArray[np.float32], mode: str, fusion: str) -> NDArray[np.float32]:
    if mode == "semantic":
        words = np.zeros_like(words)
    if fusion == "rrf":
        return fuse_ranks(dense, words) * RRF_SCALE
    return fuse_zscores(dense, words, FUSION_WEIGHTS)


def load_candidate(scope: Scope, columns: Columns, row: int, dense: float, lexical: float, fused: float) -> Candidate:
    """What ranking needs to know of a row."""
    segment, own = scope.snapshot.locate(row)
    path = path_text(scope.view.paths[scope.entry_of[row]])
    return Candidate(
        row, path, KINDS[int(columns.kind[row])], segment.symbol(own), float(dense), float(lexical), float(fused)
    )


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
        language=segment.languages[segment.blob_languages[blob]],
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
    return tuple(path_text(scope.view.paths[other]) for other in same.tolist() if other != entry)
