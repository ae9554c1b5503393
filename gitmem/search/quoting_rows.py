"""Find the rows that a query quotes: they have a line of code or a message as it is written there.

Words in any order rank a line below the functions that it calls. So the candidates that hold all words of a query that
may be a quotation are read, and those that have it precede all others.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import numpy as np

from gitmem.arrays import NDArray, is_among
from gitmem.search.hits import NO_ADJUSTMENTS, Hit, load_hits
from gitmem.search.quotations import CODE, PHRASE, Quotation
from gitmem.search.rank import IS_PROSE, Candidates, Features, are_plain
from gitmem.search.scope import Scope

ReadTexts = Callable[[Sequence[Hit]], Mapping[tuple[str, str], bytes]]
"""Returns the texts of some hits by their `source`; b"" for one that no longer exists."""

MAX_ROWS: Final = 24
MAX_PHRASE_ROWS: Final = 8
"""Rows that are read for a quotation, and for a phrase: those with the best lexical scores."""

MAX_PHRASE_FILES: Final = 3
"""Most files that have a phrase. More of them show that it is an ordinary one."""


def find_quoting(
    scope: Scope, candidates: Candidates, holding: NDArray[np.int64], quotation: Quotation, read_texts: ReadTexts
) -> NDArray[np.bool_]:
    """Return which candidates have a quotation, [candidates]; `holding` are the rows that hold all of its words."""
    quoting = np.zeros(len(candidates.row), bool)
    places = np.flatnonzero(is_among(candidates.row, holding))
    most = MAX_PHRASE_ROWS if quotation.form == PHRASE else MAX_ROWS
    places = places[np.argsort(-candidates.lexical[places], kind="stable")][:most]
    if len(places):
        # Candidates that do not pass the filters are read, too: filters change no score.
        everything = candidates._replace(inside=np.ones(len(candidates.row), bool))
        hits = load_hits(scope.whole, everything, [(place, 0.0) for place in places.tolist()], NO_ADJUSTMENTS)
        texts = read_texts(hits)
        for place, hit in zip(places.tolist(), hits, strict=True):
            quoting[place] = quotation.is_in(texts[hit.source], hit.start, hit.end)
    return quoting


def choose_quoting(
    quotation: Quotation, candidates: Candidates, features: Features, quoting: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Return which candidates with a quotation are meant, [candidates].

    A message or phrase is that of plain code: tests and documents repeat it.
    """
    if quotation.form == CODE:
        return quoting
    plain = quoting & (IS_PROSE[candidates.chunk_type] == 0) & are_plain(features)
    is_ordinary = quotation.form == PHRASE and len(set(candidates.file[plain].tolist())) > MAX_PHRASE_FILES
    return np.zeros_like(plain) if is_ordinary else plain
