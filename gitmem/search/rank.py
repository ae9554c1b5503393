"""Ranking: what a candidate's symbol, path and file say beside its two retrieval scores.

Every feature is a number a candidate, mostly between 0 and 1; the score is their weighted sum through a logistic curve.
Records have weights of their own, since they have no place in a tree and their passages are no definitions. The weights
below are the whole model.
"""

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gitmem.search.fuse import standardise_lexical
from gitmem.search.lexical import max_score
from gitmem.search.path_roles import CACHED_NAMES, ROLES, content_terms, path_terms
from gitmem.search.query_parser import ParsedQuery
from gitmem.types import CHUNK_TYPES, RECORD_KINDS

WEIGHTS: Final[Mapping[str, float]] = {
    "fused": 1.0,
    "lexical_gap": -0.1,
    "path_cosine": 4.2,
    "definition": 1.0,
    "definition_folded": 0.8,
    "symbol": 2.5,
    "stem": 3.8,
    "folder": 2.4,
    "path": 2.5,
    "file": 1.5,
    "file_size": 1.2,
    "symbol_size": 0.97,
    "function": 0.39,
    "prose": -2.4,
    "test": -3.3,
    "example": -3.6,
    "document": -2.8,
    "auxiliary": -3.7,
}
"""What one unit of each feature adds to a candidate's sum. Fitted on public retrieval queries, see the benchmarks."""

BIAS: Final = -7.5

RECORD_WEIGHTS: Final[Mapping[str, float]] = {"fused": 2.4, "lexical_gap": -0.66, "file": 1.7}
RECORD_BIAS: Final = -6.7
"""The same for records, fitted on headings of public documentation, and then brought to such a scale that records and
code of one score answer equally often."""

SLOPE: Final = 0.68
OFFSET: Final = -0.2
"""From the logit of a score to that of the share of results with such a score that answer the question (Platt 1999)."""

FILE_FADE: Final = 0.97
FILE_CHUNKS: Final = 8
"""How many chunks of a file speak for it, each counting a little less than the one before."""

_MARKS: Final = frozenset(("definition", "definition_folded", "function", "prose", "path", *ROLES))
"""Features a candidate has or has not."""


def _kinds(names: str) -> NDArray[np.float64]:
    """1 for the chunk types in `names`, 0 for the others, in the order of CHUNK_TYPES."""
    return np.array([float(chunk_type in names.split()) for chunk_type in CHUNK_TYPES])


_ACTING: Final = _kinds("function method")
_TELLING: Final = _kinds("section text note document turn")
_DEFINING: Final = 1 - _TELLING
_REMEMBERED: Final = _kinds(" ".join(RECORD_KINDS)) > 0


class Candidates(NamedTuple):
    """Rows that may be hits, column by column, with what ranking needs to know of them.

    `file` is the place in `paths`, which names each file once; `chunk_type` is a place in CHUNK_TYPES. `words`
    and `file_words` are the lengths of the row's text and of its file, `dense` the cosine, `lexical` the word
    score of the row and `file_lexical` that of its file, `path_cosine` how near the path's own words are to the
    question. `fused_row` is the cosine with the row's word score, `fused` with its file's.
    """

    row: NDArray[np.int64]
    file: NDArray[np.int64]
    paths: list[str]
    chunk_type: NDArray[np.uint8]
    symbol: list[str]
    words: NDArray[np.float32]
    file_words: NDArray[np.float32]
    dense: NDArray[np.float32]
    lexical: NDArray[np.float32]
    file_lexical: NDArray[np.float32]
    path_cosine: NDArray[np.float32]
    fused_row: NDArray[np.float32]
    fused: NDArray[np.float32]

    @property
    def records(self) -> NDArray[np.bool_]:
        """Which candidates are records of the memory."""
        told: NDArray[np.bool_] = _REMEMBERED[self.chunk_type]
        return told


Features = Mapping[str, NDArray[np.float64]]
"""A column for each of WEIGHTS."""


class _Asked(NamedTuple):
    """The terms of a question: what each is worth, and all together."""

    idf: Mapping[str, float]
    wanted: float


def compute_features(query: ParsedQuery, candidates: Candidates, idf: Mapping[str, float]) -> Features:
    """The features of all candidates."""
    asked = _Asked(idf, sum(idf.values()) or 1.0)
    by_file = _path_features(query, candidates.paths, asked)
    return {
        "fused": candidates.fused.astype(np.float64),
        "lexical_gap": _behind(candidates, max_score(idf)),
        "path_cosine": candidates.path_cosine.astype(np.float64),
        "file": _coherence(candidates),
        **_shape_features(query, candidates),
        **_definitions(query, candidates),
        "symbol": np.array([_coverage(_name_terms(symbol), asked) for symbol in candidates.symbol]),
        **{name: values[candidates.file] for name, values in by_file.items()},
    }


def combine_features(features: Features, records: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Scores between 0 and 1 from features; `records` says which candidates are records."""
    sums = sum((WEIGHTS[name] * values for name, values in features.items()), start=np.float64(BIAS))
    if records.any():
        told = sum((weight * features[name] for name, weight in RECORD_WEIGHTS.items()), start=np.float64(RECORD_BIAS))
        sums = np.where(records, told, sums)
    scores: NDArray[np.float64] = 1.0 / (1.0 + np.exp(-sums))
    return scores


def confidence(score: float) -> float:
    """How likely a result of some score answers the question; never falls as the score rises."""
    if not 0 < score < 1:
        return score
    return 1.0 / (1.0 + math.exp(-SLOPE * math.log(score / (1.0 - score)) - OFFSET))


def weights_of(chunk_type: str) -> tuple[Mapping[str, float], float]:
    """The weights and the bias for candidates of a chunk type."""
    return (RECORD_WEIGHTS, RECORD_BIAS) if chunk_type in RECORD_KINDS else (WEIGHTS, BIAS)


def features_of(features: Features, place: int, chunk_type: str) -> dict[str, float]:
    """The features of one candidate that count for its chunk type; of those it has or has not, only what it has."""
    told = {name: float(features[name][place]) for name in weights_of(chunk_type)[0]}
    return {name: value for name, value in told.items() if value or name not in _MARKS}


def _behind(candidates: Candidates, most: float) -> NDArray[np.float64]:
    """How far each candidate's word score is below the best of its file, in standard deviations of all of them: `fused`
    knows the words of the file, this tells its chunks apart."""
    scores = standardise_lexical(candidates.lexical, most).astype(np.float64)
    best = np.full(len(candidates.paths), -np.inf)
    np.maximum.at(best, candidates.file, scores)
    behind: NDArray[np.float64] = best[candidates.file] - scores
    return behind


def _coherence(candidates: Candidates) -> NDArray[np.float64]:
    """How much of each candidate's file was found: its best chunks' positive fused scores, against the best file's."""
    found = np.maximum(candidates.fused_row, 0.0).astype(np.float64)
    order = np.lexsort((-found, candidates.file))
    files = candidates.file[order]
    place = np.arange(len(files)) - np.searchsorted(files, files)
    told = np.where(place < FILE_CHUNKS, found[order] * FILE_FADE**place, 0.0)
    totals = np.bincount(files, told, len(candidates.paths))
    coherence: NDArray[np.float64] = (totals / (totals.max(initial=0.0) or 1.0))[candidates.file]
    return coherence


def _shape_features(query: ParsedQuery, candidates: Candidates) -> dict[str, NDArray[np.float64]]:
    """Sizes on a log scale, zero at about 50 words a chunk and 1,100 a file; code that acts; text that only tells.

    The chunk's own size counts where the question is only a symbol: there it tells a definition from an alias or a
    re-export, elsewhere it tells nothing.
    """
    return {
        "symbol_size": (np.log1p(candidates.words.astype(np.float64)) - 4) / 2 * query.coded,
        "file_size": (np.log1p(candidates.file_words.astype(np.float64)) - 7) / 3,
        "function": _ACTING[candidates.chunk_type],
        "prose": _TELLING[candidates.chunk_type],
    }


def _definitions(query: ParsedQuery, candidates: Candidates) -> dict[str, NDArray[np.float64]]:
    """Which candidates define what the question names."""
    found = {name: np.zeros(len(candidates.row)) for name in ("definition", "definition_folded")}
    if not query.names:
        return found
    endings = {_fold(name[-1]) for name in query.names}
    for place in np.flatnonzero(_DEFINING[candidates.chunk_type]).tolist():
        symbol = candidates.symbol[place]
        folded = _fold(symbol.lower())
        if not symbol or not any(ending in folded for ending in endings):  # spares nearly all of them the closer look
            continue
        for parts in _qualified_names(symbol):
            exact, alike = _defines(query, parts)
            if exact or alike:
                found["definition" if exact else "definition_folded"][place] = 1.0
    return found


def _defines(query: ParsedQuery, parts: Sequence[str]) -> tuple[bool, bool]:
    """Whether a qualified name is one the question names: exactly, or but for case and underscores."""
    lower = tuple(part.lower() for part in parts)
    exact = any(name == lower[-len(name) :] for name in query.names)
    if exact:
        return True, False
    bare = tuple(map(_fold, lower))
    names = (tuple(map(_fold, name)) for name in query.names)
    return False, any(name and name == bare[-len(name) :] for name in names)


def _fold(name: str) -> str:
    return name.replace("_", "")


def _qualified_names(symbol: str) -> list[tuple[str, ...]]:
    """Each name of a symbol in its parts; the container of the first holds for those that follow (`A.b, c`)."""
    first, *others = (
        tuple(part for part in name.replace(" > ", ".").split(".") if part) for name in symbol.split(", ")
    )
    return [first, *(first[:-1] + name for name in others)]


@lru_cache(maxsize=CACHED_NAMES)
def _name_terms(symbol: str) -> tuple[str, ...]:
    """What the name of a symbol says, without what contains it."""
    return content_terms(symbol.split(", ", 1)[0].rsplit(".", 1)[-1].rsplit(" > ", 1)[-1])


def _coverage(held: Sequence[str], asked: _Asked) -> float:
    """How much of what a name says was asked for, and how much of what was asked it says, as a geometric mean."""
    if asked.idf.keys().isdisjoint(held):  # nearly all are
        return 0.0
    shared = [asked.idf[term] for term in held if term in asked.idf]
    return float((len(shared) / len(held) * min(1.0, sum(shared) / asked.wanted)) ** 0.5)


def _path_features(query: ParsedQuery, paths: Sequence[str], asked: _Asked) -> dict[str, NDArray[np.float64]]:
    """What the paths say, a value a path."""
    words = [path_terms(path) for path in paths]
    places = np.array([word.place for word in words], str)
    spoken_of = _asked_places(query)
    return {
        "stem": np.array([_coverage(word.stem, asked) for word in words]),
        "folder": np.array([_coverage(word.folder, asked) for word in words]),
        "path": np.array([float(any(part in path.lower() for part in query.paths)) for path in paths]),
        **{place: (places == place) * float(place not in spoken_of) for place in ROLES},
    }


def _asked_places(query: ParsedQuery) -> frozenset[str]:
    """Places the question itself speaks of, which are then no fault."""
    words = set(query.terms)
    told = {
        "test": {"test", "spec", "fixtur", "mock"},
        "example": {"exampl", "sampl", "demo", "tutorial", "benchmark", "bench"},
        "document": {"doc", "document", "readm", "changelog", "guid", "licens"},
        "auxiliary": {"vendor", "compat", "legacy", "deprecat", "generat", "migrat", "local"},
    }
    return frozenset(place for place, cues in told.items() if words & cues)
