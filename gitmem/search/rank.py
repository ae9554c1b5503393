"""Code ranking: what a candidate's symbol, path and file say beside its two retrieval scores.

Every feature is a number a candidate, mostly between 0 and 1; the score is their weighted sum through a logistic curve.
The weights below are the whole model.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gitmem.search.places import folder_terms, place_of, stem_terms
from gitmem.search.query import STOP_WORDS, Query
from gitmem.words import count_identifiers, terms_of

WEIGHTS: Final[Mapping[str, float]] = {
    "fused": 1.0,
    "definition": 3.0,
    "definition_folded": 2.0,
    "symbol": 1.0,
    "stem": 1.2,
    "folder": 0.4,
    "path": 2.5,
    "file": 0.6,
    "test": -1.5,
    "example": -1.0,
    "document": -0.8,
    "aside": -0.6,
}
BIAS: Final = -2.0

_DEFINING: Final = frozenset(
    "namespace class interface struct enum trait impl type function method property field constant macro module".split()
)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A row that may be a hit, with what ranking needs to know of it."""

    row: int
    path: str
    kind: str
    symbol: str
    dense: float
    lexical: float
    fused: float


def rank(query: Query, candidates: Sequence[Candidate], idf: Mapping[str, float]) -> list[dict[str, float]]:
    """The features of every candidate."""
    coherence = _coherence(candidates)
    asked = _asked_places(query)
    features = []
    for candidate, shared in zip(candidates, coherence, strict=True):
        found = {"fused": candidate.fused, "file": shared}
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
    """How much else of a candidate's file was found: the other chunks' positive fused scores, the best counting most."""
    by_file: dict[str, list[float]] = defaultdict(list)
    for candidate in candidates:
        by_file[candidate.path].append(max(candidate.fused, 0.0))
    totals = {path: _fading_sum(sorted(values, reverse=True)) for path, values in by_file.items()}
    most = max(totals.values(), default=0.0) or 1.0
    return [totals[candidate.path] / most for candidate in candidates]


def _fading_sum(values: Sequence[float]) -> float:
    return sum(value * 0.7**place for place, value in enumerate(values[:8]))


def _symbol_features(query: Query, candidate: Candidate, idf: Mapping[str, float]) -> dict[str, float]:
    found: dict[str, float] = {}
    if candidate.symbol and candidate.kind in _DEFINING:
        for symbol in candidate.symbol.split(", "):
            parts = tuple(part for part in symbol.replace(" > ", ".").split(".") if part)
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
