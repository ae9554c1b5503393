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

Statistics are taken over the rows of the tree. A score thus depends neither on filters nor on other revisions that the
index happens to hold.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Final, TypeVar

import numpy as np

from gitmem.arrays import NDArray
from gitmem.named_tuple import NamedTuple
from gitmem.search.scope import Scope
from gitmem.search.term_postings import RowRanges, TermPostings, find_term

K1: Final = 1.2
"""Saturation: with a high k1, each further occurrence of a term still adds much; with 0 only its presence counts."""

SELECTED_TERMS: Final = 48
"""Terms of a long query that are scored: those of the highest weighted idf."""

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


class WeightedTerm(NamedTuple):
    """Postings of a term and its weighted idf over the rows and over the files; 0 if it does not occur.

    `importance` is the weighted idf over the files, and for a term that does not occur that of the rarest one.
    """

    name: str
    postings: TermPostings
    row_idf: float
    file_idf: float
    importance: float


class FileMatches(NamedTuple):
    """Scores of files, and the share of the query's terms that each holds, weighted by their importance."""

    scores: NDArray[np.float32]
    coverages: NDArray[np.float32]


class LexicalQuery:
    """The terms of a query with their postings. It scores the rows and files that it is asked about.

    Scores of all rows would cost as much as the postings of the most common term. `top_rows` finds the best rows
    without them. Of a long text, whose terms come with `weights`, the terms of the highest weighted idf are scored:
    the others together could hardly change the order, and the cost grows with each.
    """

    def __init__(self, scope: Scope, names: Sequence[str], weights: Mapping[str, float] | None = None) -> None:
        self.scope = scope
        self.terms = [_weigh(scope, name, weights[name] if weights else 1.0) for name in names]
        if weights:
            self.terms = sorted(self.terms, key=lambda term: -term.row_idf)[:SELECTED_TERMS]

    @property
    def idf(self) -> dict[str, float]:
        """Return the weighted idf of each term over the rows."""
        return {term.name: term.row_idf for term in self.terms}

    def rows_with_all(self, names: Collection[str]) -> NDArray[np.int64]:
        """Return the rows in scope whose text holds all of some terms, ascending. Only terms that are scored count."""
        fields = [term.postings.text for term in self.terms if term.name in names]
        if not fields:
            return np.zeros(0, np.int64)
        rarest, *others = sorted(fields, key=len)
        rows = rarest.rows[self.scope.entry_of.take(rarest.rows) >= 0]
        for field in others:
            _, holds = field.find(rows)
            rows = rows[holds]
        return rows.astype(np.int64)

    def score_rows(self, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the scores of some rows in scope, zero without a match."""
        scores = np.zeros(len(rows), np.float32)
        numbers = rows.astype(np.int32)
        norm = row_norm(self.scope, numbers)
        for term in filter(lambda term: term.row_idf, self.terms):
            scores += self.score_term(term, numbers, norm)
        return scores

    def score_term(self, term: WeightedTerm, rows: NDArray[np.int32], norm: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return what a term adds to the scores of some rows in scope, given their `row_norm`."""
        # The fields are summed before saturation, so a match in two of them is not counted twice.
        postings = term.postings
        frequency = ROW_WEIGHTS.text * postings.text.frequencies_in(rows)
        frequency /= norm
        outside = ROW_WEIGHTS.symbol * postings.symbol.frequencies_in(rows)
        if len(postings.stem) or len(postings.folder):
            entries = self.scope.entry_of.take(rows)
            outside += ROW_WEIGHTS.stem * _are_in(entries, postings.stem)
            outside += ROW_WEIGHTS.folder * _are_in(entries, postings.folder)
        frequency += outside
        scores: NDArray[np.float32] = term.row_idf * saturate(frequency)
        return scores

    def match_files(self, entries: NDArray[np.int64], counted: Collection[str] = ()) -> FileMatches:
        """Return the scores of some files, each scored as one document with all its rows.

        Their coverages are those of the terms `counted`.
        """
        scores = np.zeros(len(entries), np.float32)
        coverages = np.zeros(len(entries), np.float64)
        total = sum(term.importance for term in self.terms if term.name in counted)
        ranges = self.ranges_of(entries)
        norm = length_norm(self.scope.whole.relative_file_lengths[entries], FILE_WEIGHTS.b)
        for term in self.terms:
            if not term.file_idf:
                continue
            frequency = FILE_WEIGHTS.text * term.postings.text.sum_in(ranges)
            frequency += FILE_WEIGHTS.symbol * term.postings.symbol.sum_in(ranges)
            frequency /= norm
            frequency += FILE_WEIGHTS.stem * _are_in(entries, term.postings.stem)
            frequency += FILE_WEIGHTS.folder * _are_in(entries, term.postings.folder)
            scores += term.file_idf * saturate(frequency)
            if term.name in counted:
                coverages += term.importance / total * (frequency > 0)
        return FileMatches(scores, coverages.astype(np.float32))

    def ranges_of(self, entries: NDArray[np.int64]) -> RowRanges:
        """Return the rows of some files, which must have a blob."""
        first = self.scope.snapshot.blob_first
        blobs = self.scope.blob_of[entries]
        return RowRanges(first[blobs].astype(np.int32), first[blobs + 1].astype(np.int32))


def _weigh(scope: Scope, name: str, weight: float) -> WeightedTerm:
    postings = find_term(scope, name)
    rows, files = scope.whole.document_counts
    return WeightedTerm(
        name,
        postings,
        weight * inverse_document_frequency(rows, postings.counts.rows),
        weight * inverse_document_frequency(files, postings.counts.files),
        weight * inverse_document_frequency(files, max(postings.counts.files, 1)),
    )


def _are_in(entries: NDArray[np.integer], ascending: NDArray[np.int64]) -> NDArray[np.float32]:
    """Return 1 for each entry that an ascending list contains, else 0."""
    if not len(ascending):
        return np.zeros(len(entries), np.float32)
    found: NDArray[np.bool_] = ascending.take(ascending.searchsorted(entries), mode="clip") == entries
    return found.astype(np.float32)


def row_norm(scope: Scope, rows: NDArray[np.integer]) -> NDArray[np.float32]:
    """Return the divisors of the term frequencies in the text of some rows."""
    return scope.whole.length_norms(ROW_WEIGHTS.b).take(rows)


def length_norm(relative_lengths: NDArray[np.float32], b: float) -> NDArray[np.float32]:
    """Return the divisors of term frequencies for texts of some lengths, given in units of the mean length."""
    norm: NDArray[np.float32] = 1 - b + b * relative_lengths
    return norm


def max_score(idf: Mapping[str, float]) -> float:
    """Return the limit of the score of a text that repeats all terms of a query endlessly."""
    return (K1 + 1) * sum(idf.values())


def saturate(frequency: Floats) -> Floats:
    """Return a term's share of its highest score, times `K1 + 1`: the second occurrence adds less than the first."""
    return frequency * (K1 + 1) / (frequency + K1)


def inverse_document_frequency(total: int, holding: int) -> float:
    """Return BM25's idf for a term that `holding` of `total` documents contain; never negative.

    A server rounds the number of rows with a term, so it may be higher than that of all rows.
    """
    return math.log(1 + (max(0, total - holding) + 0.5) / (holding + 0.5)) if holding else 0.0
