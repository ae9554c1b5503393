"""Rows as candidates and as results: what a row's chunk is called, where it stands, which paths hold it."""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gitmem.git.path_encoding import path_text
from gitmem.search.rank import Candidates, Features, features_of
from gitmem.search.scope import Scope
from gitmem.search.select import Scored, select
from gitmem.types import CHUNK_TYPES, RECORD_KINDS

_ALONE: Final = [CHUNK_TYPES.index(chunk_type) for chunk_type in RECORD_KINDS]


class Hit(NamedTuple):
    """One result. Lines are 1-based, inclusive; `scores` holds the parts of `score`.

    `other_paths` are the blob's other paths.
    """

    path: str
    start: int
    end: int
    start_line: int
    end_line: int
    chunk_type: str
    symbol: str
    language: str
    blob: str
    chunk: int
    score: float
    scores: Mapping[str, float]
    other_paths: tuple[str, ...] = ()


class Signals(NamedTuple):
    """What retrieval says of each row: its cosine, its word score, and the word score of its file."""

    dense: NDArray[np.float32]
    lexical: NDArray[np.float32]
    file_lexical: NDArray[np.float32]


def load_candidates(scope: Scope, rows: NDArray[np.int64], signals: Signals) -> Candidates:
    """What ranking needs to know of some rows, but for `path_cosine` and the fused scores, which are zero."""
    entries, file = np.unique(scope.entry_of[rows], return_inverse=True)
    return Candidates(
        row=rows,
        file=file,
        paths=[path_text(scope.view.path(entry)) for entry in entries.tolist()],
        chunk_type=scope.snapshot.gather(("kind",), rows)["kind"].astype(np.uint8),
        symbol=scope.snapshot.symbols(rows),
        words=scope.words[rows],
        file_words=scope.file_words[entries][file],
        **signals._asdict(),
        **dict.fromkeys(("path_cosine", "fused_row", "fused"), np.zeros(len(rows), np.float32)),
    )


class Spans(NamedTuple):
    """Where rows stand in their blobs: bytes, half-open, and the first line."""

    start: NDArray[np.int64]
    end: NDArray[np.int64]
    line: NDArray[np.int64]


def load_spans(scope: Scope, rows: NDArray[np.int64]) -> Spans:
    """The spans of some rows."""
    found = scope.snapshot.gather(("start", "length", "line"), rows)
    start = found["start"].astype(np.int64)
    return Spans(start, start + found["length"].astype(np.int64), found["line"].astype(np.int64))


def select_candidates(found: Candidates, spans: Spans, scores: Sequence[float], limit: int) -> list[tuple[int, float]]:
    """Places and final scores of the best candidates, best first."""
    paths = [found.paths[file] for file in found.file.tolist()]
    columns = (paths, *(column.tolist() for column in spans), scores, np.isin(found.chunk_type, _ALONE).tolist())
    return select([Scored(place, *values) for place, values in enumerate(zip(*columns, strict=True))], limit)


def load_hit(scope: Scope, found: Candidates, place: int, score: float, features: Features) -> Hit:
    """A ranked candidate as a result, with those of its features that count for its chunk type; none without any."""
    chunk_type = CHUNK_TYPES[int(found.chunk_type[place])]
    row = int(found.row[place])
    entry = int(scope.entry_of[row])
    segment, own = scope.snapshot.locate(row)
    blob = int(np.searchsorted(segment.first, own, side="right")) - 1
    start, length, line, lines = (int(segment.column(name)[own]) for name in ("start", "length", "line", "lines"))
    return Hit(
        path=found.paths[int(found.file[place])],
        start=start,
        end=start + length,
        start_line=line,
        end_line=line + lines - 1,
        chunk_type=chunk_type,
        symbol=found.symbol[place],
        language=segment.languages[int(segment.blob_languages[blob])],
        blob=scope.view.oid(entry),
        chunk=own - int(segment.first[blob]),
        score=score,
        scores={
            "semantic": max(0.0, float(found.dense[place])),
            "lexical": float(found.lexical[place]),
            **(features_of(features, place, chunk_type) if features else {}),
        },
        other_paths=_other_paths(scope, entry),
    )


def _other_paths(scope: Scope, entry: int) -> tuple[str, ...]:
    """Further paths of the view with the same blob."""
    keys = scope.view.keys
    same = np.flatnonzero((keys == keys[entry]) & (scope.view.reasons == 0))
    return tuple(path_text(scope.view.path(other)) for other in same.tolist() if other != entry)
