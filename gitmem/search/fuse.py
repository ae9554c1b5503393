"""Two rankings to one number a candidate. Pure."""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

RRF_K: Final = 60


class FusionWeights(NamedTuple):
    """What a standard deviation of the semantic and of the lexical score is worth."""

    semantic: float
    lexical: float


def fuse_zscores(
    dense: NDArray[np.float32], lexical: NDArray[np.float32], weights: FusionWeights
) -> NDArray[np.float32]:
    """Weighted sum of standard scores, each list over its own mean and deviation."""
    fused = weights.semantic * standardise(dense) + weights.lexical * standardise(lexical)
    return fused.astype(np.float32)


def standardise(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """Values minus their mean, in standard deviations; zeros where all are alike."""
    if not len(values):
        return values
    deviation = float(values.std())
    return (values - values.mean()) / deviation if deviation > 1e-9 else np.zeros_like(values)


def fuse_ranks(dense: NDArray[np.float32], lexical: NDArray[np.float32], k: int = RRF_K) -> NDArray[np.float32]:
    """Reciprocal rank fusion (Cormack 2009): the sum of 1 / (k + rank) over the lists that hold the candidate.

    Ranks count from 1; equal scores share the better rank; a score of zero is no place in a list.
    """
    return _reciprocal(dense, k) + _reciprocal(lexical, k)


def _reciprocal(values: NDArray[np.float32], k: int) -> NDArray[np.float32]:
    ordered = np.sort(-values)
    ranks = np.searchsorted(ordered, -values, side="left") + 1
    return np.where(values > 0, 1.0 / (k + ranks), 0.0).astype(np.float32)
