"""Questions whose answers are known, asked once and ordered as often as weights are tried. Pure."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gitmem.search.engine import Retrieval, rank_candidates
from gitmem.search.fuse import FusionWeights
from gitmem.search.metrics import CUTOFF, Quality, evaluate_ranking
from gitmem.search.scope import Scope


class JudgedRetrieval(NamedTuple):
    """What was retrieved for a question, and which of its `targets` each candidate meets."""

    retrieved: Retrieval
    met: list[frozenset[int]]
    targets: int


def judge_retrieval(scope: Scope, retrieved: Retrieval, targets: NDArray[np.int64]) -> JudgedRetrieval:
    """Pair candidates with the target rows that they are or share lines with."""
    rows = retrieved.candidates.row
    return JudgedRetrieval(retrieved, _meeting(scope, rows, targets), len(targets))


def _meeting(scope: Scope, rows: NDArray[np.int64], targets: NDArray[np.int64]) -> list[frozenset[int]]:
    met: list[set[int]] = [set() for _ in rows]
    first, last = _lines(scope, rows)
    target_first, target_last = _lines(scope, targets)
    blobs, target_blobs = _blobs(scope, rows), _blobs(scope, targets)
    for number in range(len(targets)):
        beside = blobs == target_blobs[number]
        meeting = beside & (first <= target_last[number]) & (last >= target_first[number])
        for place in np.flatnonzero(meeting).tolist():
            met[place].add(number)
    return [frozenset(numbers) for numbers in met]


def _lines(scope: Scope, rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """First and last line of some rows."""
    found = scope.snapshot.gather(("line", "lines"), rows)
    first = found["line"].astype(np.int64)
    return first, first + found["lines"].astype(np.int64) - 1


def _blobs(scope: Scope, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.searchsorted(scope.snapshot.blob_first, rows, side="right")


def measure_quality(trial: JudgedRetrieval, weights: FusionWeights, fusion: str = "zscore") -> Quality:
    """How good the first results are under some weights."""
    chosen = rank_candidates(trial.retrieved, limit=CUTOFF, fusion=fusion, weights=weights).chosen
    return evaluate_ranking([trial.met[place] for place, _ in chosen], trial.targets)
