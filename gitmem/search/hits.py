"""Load rows of the index as candidates for ranking, and ranked candidates as hits."""

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from gitmem.arrays import NDArray, distinct_with_places, is_among
from gitmem.locations import LineRange, Location
from gitmem.named_tuple import NamedTuple
from gitmem.search.copies import group_copies, possible_copies
from gitmem.search.rank import Candidates, Features, features_of
from gitmem.search.scope import Scope
from gitmem.search.select import REPEAT_DECAY, Scored, select
from gitmem.store.columns import GENERATED_BIT, TESTS_BIT
from gitmem.store.labels import label_symbol
from gitmem.types import CHUNK_TYPES, PROSE_KINDS, DefinitionSpan, ResultUnit

NO_ADJUSTMENTS: Final[Mapping[str, NDArray[np.float64]]] = {}
NO_VECTORS: Final = np.zeros((0, 0), np.float32)

LIFT: Final = "row_choice"
"""Name of what a row lacks to the best one of its file [logits]."""

ADJUSTMENTS: Final = {
    "query": None,
    "spoken_name": 0.0,
    "spelling": 0.0,
    "quotation": 0.0,
    "first_piece": 0.0,
    LIFT: 0.0,
    "elsewhere": 0.0,
    "currency": 1.0,
}
"""What changes a score besides the features, with the value that changes nothing and is not reported.

Evidence of the query is always reported, definitions if they were lifted for the name that the query is or says in
words, rows for the quotation that the query is, first pieces of definitions if they were lifted to the score of another
piece, rows if they are shown instead of the best one of their file, and notes if they are outdated or replace others.
"""

COMPARED_ROWS: Final = 8
LARGEST_LIFT: Final = 3.0
"""Best rows of a file whose definitions are compared, and how much less than the best one they may have [logits]."""

WHOLE_BYTES: Final = 3200
"""Longest function that is one result although it takes several rows: some eighty lines, 800 tokens."""

_ONCE_PER_PATH: Final = [CHUNK_TYPES.index(chunk_type) for chunk_type in PROSE_KINDS]


class Hit(NamedTuple):
    """One result of a search.

    `start:end` are bytes of the blob, half-open; lines are 1-based and inclusive. `chunk` is the chunk's number in its
    blob. `scores` are the components of `score` and the retrieval scores. `copies` are the places with the same or
    nearly the same text: files without lines hold the same blob. `units` are the results that share the chunk, `whole`
    is the definition of which it is a piece, and `others` are further chunks of the file that match, best first:
    `unit_choice` chooses among all of them.
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
    copies: tuple[Location, ...] = ()
    units: tuple[ResultUnit, ...] = ()
    whole: DefinitionSpan | None = None
    others: tuple["Hit", ...] = ()

    @property
    def source(self) -> tuple[str, str]:
        """Blob and language: what determines the text that spans and lines refer to."""
        return self.blob, self.language


class RetrievalScores(NamedTuple):
    """Scores of rows, [rows] each: the cosine, the lexical score, that of the row's file, and the file's coverage."""

    dense: NDArray[np.float32]
    lexical: NDArray[np.float32]
    file_lexical: NDArray[np.float32]
    file_coverage: NDArray[np.float32]


class RetrievedRows(NamedTuple):
    """Rows with the entries of their paths and their scores, [rows] each.

    `pool` and `inside` are those of `Candidates`.
    """

    row: NDArray[np.int64]
    entry: NDArray[np.int64]
    scores: RetrievalScores
    pool: NDArray[np.bool_]
    inside: NDArray[np.bool_]


class Spans(NamedTuple):
    """Spans that rows show of their blobs, [rows] each: bytes, half-open, and the first line."""

    start: NDArray[np.int64]
    end: NDArray[np.int64]
    line: NDArray[np.int64]


def load_candidates(scope: Scope, rows: RetrievedRows) -> tuple[Candidates, Spans]:
    """Load the data that ranking needs of some rows, and the spans that they show.

    `path_cosine` and the fused scores are zero as yet.
    """
    entries, file = distinct_with_places(rows.entry)
    columns = scope.snapshot.gather(("kind", "kinds"), rows.row)
    kinds = columns["kinds"].astype(np.uint32)
    chunk_type = columns["kind"].astype(np.uint8)
    labels, words = scope.snapshot.labels(rows.row), scope.word_counts[rows.row]
    symbol = list(map(label_symbol, labels))
    paths = [scope.path(entry) for entry in entries.tolist()]
    groups = possible_copies(paths, file, chunk_type, symbol)
    compared = scope.snapshot.unit_vectors(rows.row[np.concatenate(groups)]) if groups else NO_VECTORS
    candidates = Candidates(
        row=rows.row,
        file=file,
        paths=paths,
        chunk_type=chunk_type,
        symbol=symbol,
        is_generated=kinds & GENERATED_BIT != 0,
        may_test=kinds & TESTS_BIT != 0,
        words=words,
        file_words=scope.file_word_counts[entries][file],
        **rows.scores._asdict(),
        **dict.fromkeys(
            ("path_cosine", "fused_row", "fused", "named_file", "named_row", "conversation"),
            np.zeros(len(rows.row), np.float32),
        ),
        pool=rows.pool,
        inside=rows.inside,
        copy_of=group_copies(groups, compared, file, words),
    )
    return candidates, load_spans(scope, rows.row, labels)


def load_spans(scope: Scope, rows: NDArray[np.int64], labels: Sequence[bytes] | None = None) -> Spans:
    """Load the spans of some rows. A piece of a definition shows all of it, unless that is long.

    `labels` are those of the rows if they are read already.
    """
    columns = scope.snapshot.gather(("start", "length", "line"), rows)
    start, line = columns["start"].astype(np.int64), columns["line"].astype(np.int64)
    end = start + columns["length"].astype(np.int64)
    for place, whole in enumerate(scope.snapshot.wholes(rows, columns["start"], columns["line"], labels)):
        if whole and is_shown_whole(whole):
            start[place], end[place], line[place] = whole[:3]
    return Spans(start, end, line)


def is_shown_whole(definition: DefinitionSpan) -> bool:
    """Return whether a definition of several pieces is one result. The pieces of a long one tell where it matches."""
    return definition.end - definition.start <= WHOLE_BYTES


def show_whole(hit: Hit) -> Hit:
    """Return a hit with the definition of which its row is a piece, unless that is long."""
    return hit._replace(**hit.whole._asdict(), whole=None) if hit.whole and is_shown_whole(hit.whole) else hit


def select_candidates(
    candidates: Candidates, spans: Spans, scores: Sequence[float], limit: int, decay: float = REPEAT_DECAY
) -> list[tuple[int, float]]:
    """Return positions and final scores of the best candidates that pass the filters, best first."""
    paths = [candidates.paths[file] for file in candidates.file.tolist()]
    once_per_path = is_among(candidates.chunk_type, np.array(_ONCE_PER_PATH, np.uint8)).tolist()
    copy_of = candidates.copy_of.tolist()
    columns = (paths, *(column.tolist() for column in spans), scores, once_per_path, copy_of)
    values = list(zip(*columns, strict=True))
    return select([Scored(at, *values[at]) for at in np.flatnonzero(candidates.inside).tolist()], limit, decay)


def load_hits(
    scope: Scope,
    candidates: Candidates,
    selected: Sequence[tuple[int, float]],
    features: Features,
    adjustments: Features = NO_ADJUSTMENTS,
) -> list[Hit]:
    """Load selected candidates, given by position and score, as hits.

    Their scores include the features that count for their chunk types, if there are any, and the adjustments that
    changed them.
    """
    rows = candidates.row[np.array([position for position, _ in selected], np.int64)]
    columns = scope.snapshot.gather(("start", "length", "line", "lines"), rows)
    spans = zip(*(column.tolist() for column in columns.values()), strict=True)
    labels = scope.snapshot.labels(rows)
    units = scope.snapshot.units(rows, columns["start"], columns["line"], labels)
    wholes = scope.snapshot.wholes(rows, columns["start"], columns["line"], labels)
    copies = _find_copies(scope, candidates, [position for position, _ in selected])
    return [
        _load_hit(scope, candidates, position, score, features, adjustments, span, shared, whole, others)
        for (position, score), span, shared, whole, others in zip(selected, spans, units, wholes, copies, strict=True)
    ]


def find_further_rows(
    candidates: Candidates, sums: NDArray[np.float64], selected: Sequence[tuple[int, float]]
) -> tuple[list[tuple[int, float]], NDArray[np.float64]]:
    """Return further rows of the selected files among which `unit_choice` chooses, and what rows lack, [candidates].

    The rows are positions, without a score as yet. A row lacks the difference to the highest sum of its file.
    """
    lifts = np.zeros(len(sums))
    others: list[tuple[int, float]] = []
    taken = np.array([position for position, _ in selected], np.int64)
    files = candidates.file
    for file in dict.fromkeys(files[taken].tolist()):
        places = np.flatnonzero((files == file) & candidates.inside)
        order = places[np.argsort(-sums[places], kind="stable")]
        lifts[order] = sums[order[0]] - sums[order]
        near = order[:COMPARED_ROWS]
        others += [
            (position, 0.0) for position in near[(lifts[near] <= LARGEST_LIFT) & ~is_among(near, taken)].tolist()
        ]
    return others, lifts


def _find_copies(scope: Scope, candidates: Candidates, selected: Sequence[int]) -> list[tuple[Location, ...]]:
    """Return the places of the copies of selected candidates that pass the filters: other files, then other lines."""
    leaders = candidates.copy_of[np.array(selected, np.int64)]
    copied = np.flatnonzero(is_among(candidates.copy_of, leaders) & candidates.inside)
    lines = scope.snapshot.gather(("line", "lines"), candidates.row[copied])
    places: dict[int, list[tuple[int, Location]]] = {}
    for position, first, count in zip(copied.tolist(), lines["line"].tolist(), lines["lines"].tolist(), strict=True):
        place = Location(candidates.paths[int(candidates.file[position])], LineRange(first, first + count - 1))
        places.setdefault(int(candidates.copy_of[position]), []).append((position, place))
    entries = scope.entry_of[candidates.row[np.array(selected, np.int64)]].tolist()
    # Several rows of one file are selected.
    same = {entry: _other_paths(scope, entry) for entry in dict.fromkeys(entries)}
    return [
        (*same[entry], *(place for other, place in places[leader] if other != position))
        for position, entry, leader in zip(selected, entries, leaders.tolist(), strict=True)
    ]


def _load_hit(
    scope: Scope,
    candidates: Candidates,
    position: int,
    score: float,
    features: Features,
    adjustments: Features,
    span: tuple[int, int, int, int],
    units: tuple[ResultUnit, ...],
    whole: DefinitionSpan | None,
    copies: tuple[Location, ...],
) -> Hit:
    chunk_type = CHUNK_TYPES[int(candidates.chunk_type[position])]
    row = int(candidates.row[position])
    entry = int(scope.entry_of[row])
    segment, own = scope.snapshot.locate(row)
    blob = int(np.searchsorted(segment.first, own, side="right")) - 1
    start, length, line, lines = span
    return Hit(
        path=candidates.paths[int(candidates.file[position])],
        start=start,
        end=start + length,
        start_line=line,
        end_line=line + lines - 1,
        chunk_type=chunk_type,
        symbol=candidates.symbol[position],
        language=segment.languages[int(segment.blob_languages[blob])],
        blob=scope.view.oid(entry),
        chunk=own - int(segment.first[blob]),
        score=score,
        scores={
            "semantic": float(candidates.dense[position]),
            "lexical": float(candidates.lexical[position]),
            **(features_of(features, position, chunk_type) if features else {}),
            **{
                name: float(column[position])
                for name, column in adjustments.items()
                if column[position] != ADJUSTMENTS[name]
            },
        },
        copies=copies,
        units=scope.select_units(entry, units) if units else (),
        whole=whole,
    )


def _other_paths(scope: Scope, entry: int) -> list[Location]:
    """Return the other paths of the view with the same blob."""
    same_blob = scope.view.same_blob(entry)
    return [Location(scope.path(other)) for other in same_blob if other != entry]
