"""Retrieval by words: BM25F over the fields of each row (text, symbol, path), and over each file as one document.

BM25F (Robertson and Zaragoza 2009, "The Probabilistic Relevance Framework: BM25 and Beyond", section 3.6): per-field
term frequencies are weighted, length-normalised and summed before saturation, so a match in both symbol and text is
not counted twice. For each term of the query:

    norm   = 1 - b + b * length / mean length
    tf     = w_text * tf_text / norm + w_symbol * tf_symbol + w_stem * [in file name] + w_folder * [in folders]
    score += idf * tf * (k1 + 1) / (tf + k1)
    idf    = ln(1 + (n - df + 0.5) / (df + 0.5))

For rows only the text is length-normalised, for files text and symbols are. `df` counts the rows (or files) with the
term in text or symbol; if there are none, those with the term in the path.

Statistics are taken over the rows in scope. A score thus depends on the tree that is searched, and not on other
revisions that the index happens to hold.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from gitmem.search.scope import Scope

K1: Final = 1.2
"""Saturation: with a high k1, each further occurrence of a term still adds much; with 0 only its presence counts."""

Floats = TypeVar("Floats", NDArray[np.float32], NDArray[np.float64])


class FieldWeights(NamedTuple):
    """Weight of one occurrence of a term in each field, and BM25's `b`: the degree of length normalisation, 0 to 1."""

    text: float
    symbol: float
    stem: float
    folder: float
    b: float


ROW_WEIGHTS: Final = FieldWeights(text=1.0, symbol=3.0, stem=2.0, folder=1.0, b=0.75)
FILE_WEIGHTS: Final = FieldWeights(text=1.0, symbol=2.0, stem=6.0, folder=2.0, b=0.75)
"""A file's name describes the file better than each of its rows. Its symbols are length-normalised like its text."""


class LexicalScores(NamedTuple):
    """Scores of rows [rows] and of files [entries], zero without a match, and the `idf` of each term over the rows."""

    rows: NDArray[np.float32]
    files: NDArray[np.float32]
    idf: dict[str, float]


class _TermPostings(NamedTuple):
    """Postings of a term: rows and term frequencies in text and symbol, entries with the term in their path."""

    text: tuple[NDArray[np.int64], NDArray[np.float32]]
    symbol: tuple[NDArray[np.int64], NDArray[np.float32]]
    stem: NDArray[np.int64]
    folder: NDArray[np.int64]


class _WeightedRows(NamedTuple):
    """Rows and the weighted frequency of a term in each."""

    rows: NDArray[np.int64]
    frequency: NDArray[np.float32]


def search_lexical(scope: Scope, terms: Sequence[str]) -> LexicalScores:
    """Score every row and every file in scope."""
    scorer = _Scorer(scope)
    # One term after the other, on arrays over all rows: a term only touches the rows in its posting lists.
    idf = {term: scorer.add(_find_postings(scope, term.encode("utf-8", "replace"))) for term in terms}
    return LexicalScores(scorer.rows, scorer.files, idf)


def _find_postings(scope: Scope, term: bytes) -> _TermPostings:
    return _TermPostings(
        _find_rows(scope, "text", term),
        _find_rows(scope, "symbol", term),
        _find_entries(scope, "stem", term),
        _find_entries(scope, "folder", term),
    )


def _find_rows(scope: Scope, field: str, term: bytes) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Find the rows in scope with a term in a field, and its frequency in each."""
    rows, frequencies = [], []
    for segment, base in zip(scope.snapshot.segments, scope.snapshot.bases, strict=False):
        postings = segment.find_postings(field, term)
        if postings is not None:
            rows.append(np.add(postings[0], base, dtype=np.int64))
            frequencies.append(postings[1])
    if not rows:
        return np.zeros(0, np.int64), np.zeros(0, np.float32)
    all_rows, all_frequencies = np.concatenate(rows), np.concatenate(frequencies).astype(np.float32)
    if scope.is_whole_snapshot:
        return all_rows, all_frequencies
    inside = scope.mask[all_rows]
    return all_rows[inside], all_frequencies[inside]


def _find_entries(scope: Scope, field: str, term: bytes) -> NDArray[np.int64]:
    """Find the entries with rows in scope and a term in a part of their path."""
    postings = scope.view.find_postings(field, term)
    if postings is None:
        return np.zeros(0, np.int64)
    entries = postings.astype(np.int64)
    return entries[scope.has_rows[entries]]


class _Scorer:
    """Accumulated scores of rows and of files."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self.rows = np.zeros(scope.snapshot.rows, np.float32)
        self.files = np.zeros(len(scope.view), np.float32)
        self._row_norm = _length_norm(scope.relative_lengths, ROW_WEIGHTS.b)
        self._file_norm = _length_norm(scope.relative_file_lengths, FILE_WEIGHTS.b)
        # Weighted frequency of the current term in symbol and path, [rows]. Invariant: all zeros between two terms, so
        # that no term pays for clearing an array of the size of the index.
        self._outside_text = np.zeros_like(self.rows)

    def add(self, postings: _TermPostings) -> float:
        """Add the scores of a term; return its idf over the rows, 0 if it does not occur."""
        if not any(map(len, (postings.text[0], postings.symbol[0], postings.stem, postings.folder))):
            return 0.0
        self._add_to_files(postings)
        return self._add_to_rows(postings)

    def _add_to_rows(self, postings: _TermPostings) -> float:
        """Add a term to the rows that contain it in any field; return its idf."""
        # The fields must be summed per row before saturation. Symbol and path are therefore scattered into one array
        # first. The rows with the term in their text gather theirs from it, then the rows that remain, each once.
        rows, frequencies = postings.text
        symbol_rows, symbol_frequencies = postings.symbol
        self._outside_text[symbol_rows] = ROW_WEIGHTS.symbol * symbol_frequencies
        path_rows = [
            self._scatter_path(entries, weight)
            for entries, weight in ((postings.stem, ROW_WEIGHTS.stem), (postings.folder, ROW_WEIGHTS.folder))
            if len(entries)
        ]
        frequency = ROW_WEIGHTS.text * frequencies
        frequency /= self._row_norm.take(rows)
        if len(symbol_rows) or path_rows:
            frequency += self._outside_text.take(rows)
            self._outside_text[rows] = 0
        remaining = [self._gather(positions) for positions in (symbol_rows, *path_rows)]
        # Path matches do not count for df: a folder's name would make a term common in all files below it.
        holding = len(rows) + len(remaining[0].rows)
        idf = inverse_document_frequency(
            self._scope.row_count, holding or sum(len(weighted.rows) for weighted in remaining)
        )
        for positions, weighted_frequency in (_WeightedRows(rows, frequency), *remaining):
            np.add.at(self.rows, positions, idf * _saturate(weighted_frequency))
        return idf

    def _scatter_path(self, entries: NDArray[np.int64], weight: float) -> NDArray[np.int64]:
        """Add the weight of a term in some paths to the rows of these paths; return the rows."""
        rows = self._scope.rows_of(entries)
        self._outside_text[rows] += np.float32(weight)
        return rows

    def _gather(self, rows: NDArray[np.int64]) -> _WeightedRows:
        """Take the frequencies that are left in `_outside_text` for some rows, and clear them."""
        frequency = self._outside_text.take(rows)
        is_left = frequency > 0
        self._outside_text[rows] = 0
        return _WeightedRows(rows[is_left], frequency[is_left])

    def _add_to_files(self, postings: _TermPostings) -> None:
        """Add a term to the files that contain it, each file scored as one document."""
        frequency = FILE_WEIGHTS.text * self._sum_by_file(*postings.text)
        if len(postings.symbol[0]):
            frequency += FILE_WEIGHTS.symbol * self._sum_by_file(*postings.symbol)
        holding = int(np.count_nonzero(frequency))
        frequency /= self._file_norm
        frequency[postings.stem] += FILE_WEIGHTS.stem
        frequency[postings.folder] += FILE_WEIGHTS.folder
        idf = inverse_document_frequency(self._scope.file_count, holding or int(np.count_nonzero(frequency)))
        self.files += idf * _saturate(frequency)

    def _sum_by_file(self, rows: NDArray[np.int64], frequencies: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return the frequency of a term in each file, [entries]."""
        sums = np.bincount(self._scope.entry_of.take(rows), frequencies, len(self.files))
        return sums.astype(np.float64, copy=False)


def _length_norm(relative_lengths: NDArray[np.float32], b: float) -> NDArray[np.float32]:
    """Return the divisors of term frequencies for texts of some lengths, given in units of the mean length."""
    norm: NDArray[np.float32] = 1 - b + b * relative_lengths
    return norm


def max_score(idf: Mapping[str, float]) -> float:
    """Return the limit of the score of a text that repeats all terms of a query endlessly."""
    return (K1 + 1) * sum(idf.values())


def _saturate(frequency: Floats) -> Floats:
    return frequency * (K1 + 1) / (frequency + K1)


def inverse_document_frequency(total: int, holding: int) -> float:
    """Return BM25's idf for a term that `holding` of `total` documents contain; never negative."""
    return math.log(1 + (total - holding + 0.5) / (holding + 0.5)) if holding else 0.0
