"""Queries with known answers: retrieved once, then ranked again for each set of weights under trial. Pure.

Only retrieval searches the index, and it does not depend on the fusion weights. A grid search over weights thus pays
for it once per query.
"""

import numpy as np

from gitmem.arrays import NDArray
from gitmem.named_tuple import NamedTuple
from gitmem.search.engine import rank_candidates
from gitmem.search.fuse import FusionWeights
from gitmem.search.metrics import CUTOFF, Quality, evaluate_ranking
from gitmem.search.retrieval import Retrieval
from gitmem.search.scope import Scope


class JudgedRetrieval(NamedTuple):
    """Candidates of a query with their relevance judgements.

    `matched_targets` holds, for each candidate, the numbers of the expected targets that it matches, of `targets`.
    `matched_files` holds the numbers of the files of targets that it is in, of `files`.
    """

    retrieved: Retrieval
    matched_targets: list[frozenset[int]]
    targets: int
    matched_files: list[frozenset[int]]
    files: int


def judge_retrieval(scope: Scope, retrieved: Retrieval, target_rows: NDArray[np.int64]) -> JudgedRetrieval:
    """Judge the candidates of a query: each matches the target rows that it equals or shares lines with."""
    rows = retrieved.candidates.row
    files = np.unique(_blobs(scope, target_rows)).tolist()
    matched_files = [frozenset([files.index(blob)] if blob in files else ()) for blob in _blobs(scope, rows).tolist()]
    return JudgedRetrieval(
        retrieved, _match_targets(scope, rows, target_rows), len(target_rows), matched_files, len(files)
    )


def _match_targets(scope: Scope, rows: NDArray[np.int64], targets: NDArray[np.int64]) -> list[frozenset[int]]:
    matched: list[set[int]] = [set() for _ in rows]
    first, last = _line_ranges(scope, rows)
    target_first, target_last = _line_ranges(scope, targets)
    blobs, target_blobs = _blobs(scope, rows), _blobs(scope, targets)
    for number in range(len(targets)):
        same_blob = blobs == target_blobs[number]
        overlaps = same_blob & (first <= target_last[number]) & (last >= target_first[number])
        for position in np.flatnonzero(overlaps).tolist():
            matched[position].add(number)
    return [frozenset(numbers) for numbers in matched]


def _line_ranges(scope: Scope, rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the first and last line of each row, inclusive."""
    columns = scope.snapshot.gather(("line", "lines"), rows)
    first = columns["line"].astype(np.int64)
    return first, first + columns["lines"].astype(np.int64) - 1


def _blobs(scope: Scope, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.searchsorted(scope.snapshot.blob_first, rows, side="right")


def measure_quality(judged: JudgedRetrieval, weights: FusionWeights, fusion: str = "zscore") -> Quality:
    """Rank the candidates by some weights and return the quality of the first results."""
    positions = _first_results(judged, weights, fusion)
    return evaluate_ranking([judged.matched_targets[position] for position in positions], judged.targets)


def measure_file_quality(judged: JudgedRetrieval, weights: FusionWeights, fusion: str = "zscore") -> Quality:
    """Return the quality of the files of the first results, each counted once: any place in the right file counts."""
    file = judged.retrieved.candidates.file
    best: dict[int, frozenset[int]] = {}
    for position in _first_results(judged, weights, fusion):
        best.setdefault(int(file[position]), judged.matched_files[position])
    return evaluate_ranking(list(best.values()), judged.files)


def _first_results(judged: JudgedRetrieval, weights: FusionWeights, fusion: str) -> list[int]:
    """Return the positions of the first results, best first."""
    selected = rank_candidates(judged.retrieved, limit=CUTOFF, fusion=fusion, weights=weights).selected
    return [position for position, _ in selected]
