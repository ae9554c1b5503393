"""Code ranking: what a candidate's symbol, path and file say beside its two retrieval scores.

Every feature is a number a candidate, mostly between 0 and 1; the score is their weighted sum through a logistic curve.
The weights below are the whole model.
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gitmem.search.places import folder_terms, place_of, stem_terms
from gitmem.search.query import STOP_WORDS, Query
from gitmem.words import count_identifiers, terms_of

WEIGHTS: Final[Mapping[str, float]] = {
    "fused": 1.0,
    "definition": 2.5,
    "definition_folded": 2.0,
    "symbol": 1.0,
    "stem": 1.9,
    "folder": 1.5,
    "path": 2.5,
    "file": 0.6,
    "covered": 0.6,
    "file_size": 0.4,
    "chunk_size": 0.4,
    "function": 0.25,
    "prose": -0.6,
    "test": -3.5,
    "example": -2.5,
    "document": -2.5,
    "aside": -0.6,
}
"""What one unit of each feature adds to a candidate's sum. Fitted on public retrieval queries, see the benchmarks."""

BIAS: Final = -2.0
FILE_FADE: Final = 0.97
FILE_CHUNKS: Final = 8
"""How many chunks of a file speak for it, each counting a little less than the one before."""

_DEFINING: Final = frozenset(
    "namespace class interface struct enum trait impl type function method property field constant macro module".split()
)


class Candidate(NamedTuple):
    """A row that may be a hit, with what ranking needs to know of it.

    `words` and `file_words` are the lengths of its text and of its file, `covered` the share of the question that is
    found in any candidate of its file (by idf), `dense` its cosine, `lexical` its word score, `fused` both together.
    """

    row: int
    path: str
    kind: str
    symbol: str
    words: float
    file_words: float
    covered: float
    dense: float
    lexical: float
    fused: float


def rank(query: Query, candidates: Sequence[Candidate], idf: Mapping[str, float]) -> list[dict[str, float]]:
    """The features of every candidate."""
    coherence = _coherence(candidates)
    asked = _asked_places(query)
    features = []
    for candidate, shared in zip(candidates, coherence, strict=True):
        found = {"fused": candidate.fused, "file": shared, "covered": candidate.covered}
        found |= _shape_features(candidate)
        found |= _symbol_features(query, candidate, idf)
        found |= _path_features(query, candidate.path, idf)
        place = place_of(candidate.path)
        if place and place not in asked:
            found[place] = 1.0
        features.append(found)
    return features


def combine(features: Sequence[Mapping[str, float]], weights: Mapping[str, float] = WEIGHTS) -> NDArray[np.float64]:
    """Scores between 0 and 1 from features."""
    sums = np.array([sum(weights[name] * value for name, value in found.items()) for found in features] or [0.0])
    return (1.0 / (1.0 + np.exp(-(sums + BIAS))))[: len(features)]


def _coherence(candidates: Sequence[Candidate]) -> list[float]:
    """How much of each candidate's file was found: its best chunks' positive fused scores, against the best file's."""
    by_file: dict[str, list[float]] = defaultdict(list)
    for candidate in candidates:
        by_file[candidate.path].append(max(candidate.fused, 0.0))
    totals = {path: _fading_sum(sorted(values, reverse=True)) for path, values in by_file.items()}
    most = max(totals.values(), default=0.0) or 1.0
    return [totals[candidate.path] / most for candidate in candidates]


def _fading_sum(values: Sequence[float]) -> float:
    return sum(value * FILE_FADE**place for place, value in enumerate(values[:FILE_CHUNKS]))


def _shape_features(candidate: Candidate) -> dict[str, float]:
    """Sizes on a log scale, zero at about 50 words a chunk and 1,100 a file; code that acts; text that only tells."""
    found = {
        "chunk_size": (math.log1p(candidate.words) - 4) / 2,
        "file_size": (math.log1p(candidate.file_words) - 7) / 3,
    }
    if candidate.kind in ("function", "method"):
        found["function"] = 1.0
    if candidate.kind in ("section", "text"):
        found["prose"] = 1.0
    return found


def _symbol_features(query: Query, candidate: Candidate, idf: Mapping[str, float]) -> dict[str, float]:
    found: dict[str, float] = {}
    if query.names and candidate.symbol and candidate.kind in _DEFINING:
        for parts in _qualified_names(candidate.symbol):
            exact, folded = _defines(query, parts)
            if exact:
                found["definition"] = 1.0
            elif folded:
                found["definition_folded"] = 1.0
    found["symbol"] = _coverage(_last_terms(candidate.symbol), query.terms, idf)
    return found


def _defines(query: Query, parts: Sequence[str]) -> tuple[bool, bool]:
    """Whether a qualified name is one the question names: exactly, or but for case and underscores."""
    lower = tuple(part.lower() for part in parts)
    exact = any(name == lower[-len(name) :] for name in query.names)
    if exact:
        return True, False
    bare = tuple(part.replace("_", "") for part in lower)
    names = (tuple(part.replace("_", "") for part in name) for name in query.names)
    return False, any(name and name == bare[-len(name) :] for name in names)


def _qualified_names(symbol: str) -> list[tuple[str, ...]]:
    """Each name of a symbol in its parts; the container of the first holds for those that follow (`A.b, c`)."""
    first, *others = (
        tuple(part for part in name.replace(" > ", ".").split(".") if part) for name in symbol.split(", ")
    )
    return [first, *(first[:-1] + name for name in others)]


def _last_terms(symbol: str) -> tuple[str, ...]:
    last = symbol.split(", ")[0].rsplit(".", 1)[-1].rsplit(" > ", 1)[-1]
    found = count_identifiers(last).identifiers
    return tuple(dict.fromkeys(term for identifier in found for term in terms_of(identifier)))


def _coverage(held: Sequence[str], asked: Sequence[str], idf: Mapping[str, float]) -> float:
    """How much of what a name says was asked for, and how much of what was asked it says, as a geometric mean."""
    words = [word for word in held if word not in STOP_WORDS]
    shared = [word for word in words if word in idf]
    if not shared or not asked:
        return 0.0
    told = sum(idf[term] for term in shared)
    wanted = sum(idf.values()) or 1.0
    return float((len(shared) / len(words) * min(1.0, told / wanted)) ** 0.5)


def _path_features(query: Query, path: str, idf: Mapping[str, float]) -> dict[str, float]:
    lower = path.lower()
    found = {
        "stem": _coverage(stem_terms(path), query.terms, idf),
        "folder": _coverage(folder_terms(path), query.terms, idf),
    }
    if any(fragment in lower for fragment in query.paths):
        found["path"] = 1.0
    return found


def _asked_places(query: Query) -> frozenset[str]:
    """Places the question itself speaks of, which are then no fault."""
    words = set(query.terms)
    told = {
        "test": {"test", "spec", "fixtur", "mock"},
        "example": {"exampl", "sampl", "demo", "tutorial", "benchmark", "bench"},
        "document": {"doc", "document", "readm", "changelog", "guid", "licens"},
        "aside": {"vendor", "compat", "legacy", "deprecat", "generat", "migrat", "local"},
    }
    return frozenset(place for place, cues in told.items() if words & cues)
