"""Retrieval by words: BM25F over the fields of each row (text, symbol, the path of its file), and of each file as one
document.

BM25F: Robertson and Zaragoza 2009. The counts of a term in the fields are weighed, shortened by the length of the text
and added before they saturate, so a word that stands in the symbol and in the text is not paid twice.
idf = ln(1 + (n - df + 0.5) / (df + 0.5)); df counts what holds the term in text or symbol, or else in its path.

Statistics are taken over the rows in scope, so an answer depends on the tree that is searched and on nothing else the
index happens to hold.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from gitmem.search.scope import Scope

K1: Final = 1.2


Floats = TypeVar("Floats", NDArray[np.float32], NDArray[np.float64])


class FieldWeights(NamedTuple):
    """What one mention of a term counts in each field, and how far long texts are shortened (BM25's b)."""

    text: float
    symbol: float
    stem: float
    folder: float
    b: float


ROW_WEIGHTS: Final = FieldWeights(text=1.0, symbol=3.0, stem=2.0, folder=1.0, b=0.75)
FILE_WEIGHTS: Final = FieldWeights(text=1.0, symbol=2.0, stem=6.0, folder=2.0, b=0.75)
"""A file's name says more of the file than of each of its rows. Symbols of a file are shortened like its text."""


class LexicalScores(NamedTuple):
    """Scores of rows [rows] and of files [entries], zero where no word matches; `idf` of each term over the rows."""

    rows: NDArray[np.float32]
    files: NDArray[np.float32]
    idf: dict[str, float]


class _Found(NamedTuple):
    """Where a term stands: rows and how often, by field; entries by part of their path."""

    text: tuple[NDArray[np.int64], NDArray[np.float32]]
    symbol: tuple[NDArray[np.int64], NDArray[np.float32]]
    stem: NDArray[np.int64]
    folder: NDArray[np.int64]


class _Weighed(NamedTuple):
    """Rows and what a term counts in each."""

    rows: NDArray[np.int64]
    weighed: NDArray[np.float32]


def search_lexical(scope: Scope, terms: Sequence[str]) -> LexicalScores:
    """Score every row and every file in scope."""
    scoring = _Scoring(scope)
    idf = {term: scoring.add(_find(scope, term.encode("utf-8", "replace"))) for term in terms}
    return LexicalScores(scoring.rows, scoring.files, idf)


def _find(scope: Scope, word: bytes) -> _Found:
    return _Found(
        find_rows(scope, "text", word),
        find_rows(scope, "symbol", word),
        _find_entries(scope, "stem", word),
        _find_entries(scope, "folder", word),
    )


def find_rows(scope: Scope, field: str, word: bytes) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Rows in scope that hold a term in a field, and how often."""
    rows, counts = [], []
    for segment, base in zip(scope.snapshot.segments, scope.snapshot.bases, strict=False):
        found = segment.find_postings(field, word)
        if found is not None:
            rows.append(np.add(found[0], base, dtype=np.int64))
            counts.append(found[1])
    if not rows:
        return np.zeros(0, np.int64), np.zeros(0, np.float32)
    joined, times = np.concatenate(rows), np.concatenate(counts).astype(np.float32)
    if scope.whole:
        return joined, times
    inside = scope.mask[joined]
    return joined[inside], times[inside]


def _find_entries(scope: Scope, field: str, word: bytes) -> NDArray[np.int64]:
    """Entries with rows in scope whose path holds a term."""
    entries = scope.view.find_postings(field, word)
    if entries is None:
        return np.zeros(0, np.int64)
    found = entries.astype(np.int64)
    return found[scope.filled[found]]


class _Scoring:
    """Scores of rows and of files, a term added at a time; only what holds the term is touched."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self.rows = np.zeros(scope.snapshot.rows, np.float32)
        self.files = np.zeros(len(scope.view), np.float32)
        self._row_shortening = _shortening(scope.lengths, ROW_WEIGHTS.b)
        self._file_shortening = _shortening(scope.file_lengths, FILE_WEIGHTS.b)
        self._beside = np.zeros_like(self.rows)  # what a term counts outside the text; all zeros between two terms

    def add(self, found: _Found) -> float:
        """Add what a term is worth; returns its idf over the rows, 0 where it stands nowhere."""
        if not any(map(len, (found.text[0], found.symbol[0], found.stem, found.folder))):
            return 0.0
        self._add_files(found)
        return self._add_rows(found)

    def _add_rows(self, found: _Found) -> float:
        """A term that stands in a row's text and beside it saturates once, so what it counts beside is laid out first,
        and taken up by the rows whose text has the term, and then by the others."""
        rows, counts = found.text
        named, times = found.symbol
        self._beside[named] = ROW_WEIGHTS.symbol * times
        beneath = [
            self._lay_beneath(entries, weight)
            for entries, weight in ((found.stem, ROW_WEIGHTS.stem), (found.folder, ROW_WEIGHTS.folder))
            if len(entries)
        ]
        weighed = ROW_WEIGHTS.text * counts
        weighed /= self._row_shortening.take(rows)
        if len(named) or beneath:
            weighed += self._beside.take(rows)
            self._beside[rows] = 0
        others = [self._take(places) for places in (named, *beneath)]
        told = len(rows) + len(others[0].rows)
        idf = inverse_document_frequency(self._scope.rows, told or sum(len(other.rows) for other in others))
        for places, counted in (_Weighed(rows, weighed), *others):
            np.add.at(self.rows, places, idf * _saturate(counted))
        return idf

    def _lay_beneath(self, entries: NDArray[np.int64], weight: float) -> NDArray[np.int64]:
        """Lay out for the rows of some paths what a term counts in these; returns the rows."""
        rows = self._scope.rows_of(entries)
        self._beside[rows] += np.float32(weight)
        return rows

    def _take(self, rows: NDArray[np.int64]) -> _Weighed:
        """Those of some rows for which something is still laid out, and how much; then it is gone."""
        left = self._beside.take(rows)
        held = left > 0
        self._beside[rows] = 0
        return _Weighed(rows[held], left[held])

    def _add_files(self, found: _Found) -> None:
        weighed = FILE_WEIGHTS.text * self._by_file(*found.text)
        if len(found.symbol[0]):
            weighed += FILE_WEIGHTS.symbol * self._by_file(*found.symbol)
        told = int(np.count_nonzero(weighed))
        weighed /= self._file_shortening
        weighed[found.stem] += FILE_WEIGHTS.stem
        weighed[found.folder] += FILE_WEIGHTS.folder
        idf = inverse_document_frequency(self._scope.entries, told or int(np.count_nonzero(weighed)))
        self.files += idf * _saturate(weighed)

    def _by_file(self, rows: NDArray[np.int64], counts: NDArray[np.float32]) -> NDArray[np.float64]:
        """How often a term stands in each file, [entries]."""
        return np.bincount(self._scope.entry_of.take(rows), counts, len(self.files)).astype(np.float64, copy=False)


def _shortening(lengths: NDArray[np.float32], b: float) -> NDArray[np.float32]:
    """What counts are divided by for the length of the text they stand in, in units of the average one."""
    by: NDArray[np.float32] = 1 - b + b * lengths
    return by


def max_score(idf: Mapping[str, float]) -> float:
    """What a text would score that says all terms of a question again and again."""
    return (K1 + 1) * sum(idf.values())


def _saturate(weighed: Floats) -> Floats:
    return weighed * (K1 + 1) / (weighed + K1)


def inverse_document_frequency(total: int, holding: int) -> float:
    """BM25's idf; never negative."""
    return math.log(1 + (total - holding + 0.5) / (holding + 0.5)) if holding else 0.0
