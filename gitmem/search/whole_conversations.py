"""Score the conversations of candidate turns as wholes: by BM25 over their turns, dates of a query, and nearest turns.

A question names the occasion that it is about as well as the fact asked for, and the turns that answer it repeat only
some of these words. Its date is seldom among them: that is the time of the conversation. Statistics are those of the
conversations that have a candidate, so nothing is stored for them. Measured on questions about long conversations by
`tests/bench/conversation_quality.py`.
"""

from bisect import bisect_left
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from gitmem.arrays import NDArray
from gitmem.search.adjacent_turns import TURN_KIND
from gitmem.search.best_sums import sum_best
from gitmem.search.lexical import LexicalQuery, inverse_document_frequency, length_norm, saturate
from gitmem.search.named_dates import NamedDate

if TYPE_CHECKING:
    from gitmem.search.scope import Scope, SearchedView

_B: Final = 0.75
"""Degree of length normalisation."""

DATE_WEIGHT: Final = 2.0
"""Weight of the idf of a date; about that of a word that a conversation repeats often (`K1 + 1`)."""

NEAREST_TURNS: Final = 5
"""Candidates of a conversation whose cosines are added. From 3 to 8 the results are alike."""

MAX_TURNS: Final = 50_000
"""Turns of the scored conversations together; those of later conversations are not counted."""


def score_conversations(
    lexical: LexicalQuery,
    dates: Sequence[NamedDate],
    entries: NDArray[np.int64],
    chunk_type: NDArray[np.uint8],
    pool: NDArray[np.bool_],
) -> NDArray[np.float32]:
    """Return the score of the conversation of each candidate, [candidates]; 0 for other rows.

    The columns are those of the candidates. The mean length and the number of conversations with a term are taken from
    those with a candidate in `pool`, the search without filters, so that a filter changes no score.
    """
    scores = np.zeros(len(entries), np.float32)
    positions = np.flatnonzero(chunk_type == TURN_KIND)
    if not len(positions):
        return scores
    view = lexical.scope.view
    spans: dict[bytes, tuple[int, int]] = {}
    folders: list[bytes] = []
    for entry in entries[positions].tolist():
        folder = view.path(entry).rpartition(b"/")[0]
        folders.append(folder)
        if folder not in spans:
            spans[folder] = _find_span(view, folder, entry)
    numbers = {folder: number for number, folder in enumerate(spans)}
    owner = np.array([numbers[folder] for folder in folders])
    counted = np.zeros(len(spans), bool)
    counted[owner[pool[positions]]] = True
    scores[positions] = _score(lexical, dates, list(spans.values()), counted)[owner]
    return scores


def measure_gaps(
    paths: Sequence[str],
    file: NDArray[np.integer],
    chunk_type: NDArray[np.uint8],
    scores: NDArray[np.float32],
    cosines: NDArray[np.float32],
    pool: NDArray[np.bool_],
) -> NDArray[np.float64]:
    """Return how far the conversation of each candidate is below the best one, [candidates]; 0 for other rows.

    Two shares are added: of the scores of `score_conversations`, and of the sums of the nearest turns. The columns are
    those of `Candidates`; conversations are compared with those of the search without filters, `pool`.
    """
    gaps = np.zeros(len(file))
    turns = np.flatnonzero(chunk_type == TURN_KIND)
    counted = turns[pool[turns]]
    if not len(counted):
        return gaps
    numbers: dict[str, int] = {}
    owner = np.zeros(len(file), np.int64)
    for position in turns.tolist():
        folder = paths[file[position]].rpartition("/")[0]
        owner[position] = numbers.setdefault(folder, len(numbers))
    # An occasion is talked about in several turns. One that is near by chance has no others about it.
    sums = sum_best(cosines[counted].astype(np.float64), owner[counted], len(numbers), NEAREST_TURNS)
    # Without a turn in the pool, a conversation has nothing but the candidate.
    for values in (scores.astype(np.float64), np.maximum(sums[owner], cosines)):
        best = values[counted].max()
        if best > 0:
            gaps[turns] += np.clip(1 - values[turns] / best, 0.0, 1.0)
    return gaps


def _find_span(view: "SearchedView", folder: bytes, entry: int) -> tuple[int, int]:
    """Return the first entry of a folder and the one after the last, given one in it: they adjoin in every view."""

    def is_outside(other: int) -> bool:
        return not (0 <= other < len(view) and view.path(other).startswith(folder + b"/"))

    step = 1
    while not is_outside(entry - step) or not is_outside(entry + step):
        step *= 2  # galloping search (Bentley and Yao 1976): few paths are read, however many entries there are
    before, after = range(entry, entry - step, -1), range(entry, entry + step)
    return entry + 1 - bisect_left(before, True, key=is_outside), entry + bisect_left(after, True, key=is_outside)


def _score(
    lexical: LexicalQuery, dates: Sequence[NamedDate], spans: list[tuple[int, int]], counted: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Return the score of each span of entries. Statistics are those of the spans that are `counted`."""
    sizes = np.array([last - first for first, last in spans])
    sizes[np.cumsum(sizes) > MAX_TURNS] = 0
    entries = np.concatenate([np.arange(first, first + size) for (first, _), size in zip(spans, sizes, strict=True)])
    group = np.repeat(np.arange(len(spans)), sizes)
    indexed = lexical.scope.blob_of[entries] >= 0
    entries, group = entries[indexed], group[indexed]
    words = np.bincount(group, lexical.scope.whole.file_word_counts[entries], len(spans))
    mean = max(float(words[counted].mean()) if counted.any() else 0.0, 1e-9)
    norm = length_norm((words / mean).astype(np.float32), _B)
    ranges = lexical.ranges_of(entries)
    scores = np.zeros(len(spans))
    for term in lexical.terms:
        frequency = np.bincount(group, term.postings.text.sum_in(ranges), len(spans))
        idf = inverse_document_frequency(int(counted.sum()), int((frequency[counted] > 0).sum()))
        scores += idf * saturate(frequency / norm)
    return scores + _score_dates(lexical.scope, dates, entries, group, counted)


def _score_dates(
    scope: "Scope",
    dates: Sequence[NamedDate],
    entries: NDArray[np.int64],
    group: NDArray[np.int64],
    counted: NDArray[np.bool_],
) -> NDArray[np.float64]:
    """Return how well the times of each group of entries agree with the dates of a query, [groups].

    A date counts as a term that the conversations of that time have, so a day counts more than a year.
    """
    scores = np.zeros(len(counted))
    times = scope.read_times(entries) if dates and scope.read_times is not None else []
    for date in dates if times else ():
        agrees = np.bincount(group, [date.includes(time) for time in times], len(counted)) > 0
        scores += DATE_WEIGHT * inverse_document_frequency(int(counted.sum()), int(agrees[counted].sum())) * agrees
    return scores
