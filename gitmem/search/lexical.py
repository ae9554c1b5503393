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
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gitmem.search.scope import Scope

K1: Final = 1.2


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


def search_lexical(scope: Scope, terms: Sequence[str]) -> LexicalScores:
    """Score every row and every file in scope."""
    rows = np.zeros(scope.snapshot.rows, np.float32)
    files = np.zeros(len(scope.view), np.float32)
    idf = {}
    weighed = np.zeros(len(rows), np.float32)  # one for all terms, each of which leaves it empty
    for term in terms:
        found = _find(scope, term.encode("utf-8", "replace"))
        idf[term] = _add_rows(scope, found, rows, weighed)
        if idf[term]:
            _add_files(scope, found, files)
    return LexicalScores(rows, files, idf)


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
            rows.append(found[0].astype(np.int64) + base)
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


def _add_rows(scope: Scope, found: _Found, scores: NDArray[np.float32], weighed: NDArray[np.float32]) -> float:
    """Add what a term is worth to each row; returns its idf, 0 where it stands nowhere. `weighed` is all zeros, before
    and after: only the rows found are touched."""
    rows, counts = found.text
    named, times = found.symbol
    weighed[rows] = ROW_WEIGHTS.text * counts / shortening(scope.lengths[rows], ROW_WEIGHTS.b)
    holding = np.concatenate([rows, named[weighed[named] == 0]])
    weighed[named] += ROW_WEIGHTS.symbol * times
    told = len(holding)
    if len(found.stem) or len(found.folder):
        by_path = _path_weights(scope, found, ROW_WEIGHTS)
        beneath = scope.rows_of(np.flatnonzero(by_path))
        holding = np.concatenate([holding, beneath[weighed[beneath] == 0]])
        weighed[beneath] += by_path[scope.entry_of[beneath]]
    idf = inverse_frequency(scope.rows, told or len(holding))
    scores[holding] += idf * _saturate(weighed[holding])
    weighed[holding] = 0
    return idf


def _add_files(scope: Scope, found: _Found, scores: NDArray[np.float32]) -> None:
    """Add what a term is worth to each file."""
    rows = np.concatenate([found.text[0], found.symbol[0]])
    counts = np.concatenate([FILE_WEIGHTS.text * found.text[1], FILE_WEIGHTS.symbol * found.symbol[1]])
    weighed = np.bincount(scope.entry_of[rows], counts, len(scores)).astype(np.float32)
    told = int(np.count_nonzero(weighed))
    weighed /= shortening(scope.file_lengths, FILE_WEIGHTS.b)
    if len(found.stem) or len(found.folder):
        weighed += _path_weights(scope, found, FILE_WEIGHTS)
    holding = np.flatnonzero(weighed)
    scores[holding] += inverse_frequency(scope.entries, told or len(holding)) * _saturate(weighed[holding])


def _path_weights(scope: Scope, found: _Found, weights: FieldWeights) -> NDArray[np.float32]:
    """What a term counts in the path of each entry, [entries]."""
    weighed = np.zeros(len(scope.view), np.float32)
    weighed[found.stem] = weights.stem
    weighed[found.folder] += weights.folder
    return weighed


def shortening(lengths: NDArray[np.float32], b: float) -> NDArray[np.float32]:
    """What counts are divided by for the length of the text they stand in, in units of the average one."""
    by: NDArray[np.float32] = 1 - b + b * lengths
    return by


def highest_score(idf: Mapping[str, float]) -> float:
    """What a text would score that says all terms of a question again and again."""
    return (K1 + 1) * sum(idf.values())


def _saturate(weighed: NDArray[np.float32]) -> NDArray[np.float32]:
    return weighed * (K1 + 1) / (weighed + K1)


def inverse_frequency(total: int, holding: int) -> float:
    """BM25's idf; never negative."""
    return math.log(1 + (total - holding + 0.5) / (holding + 0.5)) if holding else 0.0
