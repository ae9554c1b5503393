"""Two rankings to one number a candidate. Pure."""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

RRF_K: Final = 60


class FusionWeights(NamedTuple):
    """What a standard deviation of the semantic and of the lexical score is worth."""

    semantic: float
    lexical: float


class Prior(NamedTuple):
    """What the candidates of a question come to on the average, and how far they stray: public retrieval queries."""

    mean: float
    deviation: float


COSINE_PRIOR: Final = Prior(0.33, 0.10)
LEXICAL_PRIOR: Final = Prior(0.28, 0.12)
"""Of the highest word score that the question allows."""

PRIOR_COUNT: Final = 4


def fuse_zscores(
    dense: NDArray[np.float32], lexical: NDArray[np.float32], weights: FusionWeights, most: float
) -> NDArray[np.float32]:
    """Weighted sum of standard scores. `most` is the highest word score that the question allows."""
    fused = weights.semantic * standardise(dense, COSINE_PRIOR)
    fused += weights.lexical * standardise_lexical(lexical, most)
    return fused.astype(np.float32)


def standardise_lexical(scores: NDArray[np.float32], most: float) -> NDArray[np.float32]:
    """Standard scores of word scores, of which `most` is the highest that the question allows."""
    return standardise(scores / most, LEXICAL_PRIOR) if most else np.zeros_like(scores)


def standardise(values: NDArray[np.float32], typical: Prior) -> NDArray[np.float32]:
    """Values minus their mean, in standard deviations, as if a few typical ones were among them: so the only candidate
    of a narrow question has a score that says how good it is. Zeros where all are zero and have no say."""
    if not values.any():
        return np.zeros_like(values)
    count = len(values) + PRIOR_COUNT
    mean = (float(values.sum()) + PRIOR_COUNT * typical.mean) / count
    squares = float(np.square(values - mean).sum())
    squares += PRIOR_COUNT * (typical.deviation**2 + (typical.mean - mean) ** 2)
    scores: NDArray[np.float32] = (values - mean) / (squares / count) ** 0.5
    return scores


def fuse_ranks(dense: NDArray[np.float32], lexical: NDArray[np.float32], k: int = RRF_K) -> NDArray[np.float32]:
    """Reciprocal rank fusion (Cormack 2009): the sum of 1 / (k + rank) over the lists that hold the candidate.

    Ranks count from 1; equal scores share the better rank; a score of zero is no place in a list.
    """
    return _reciprocal(dense, k) + _reciprocal(lexical, k)


def _reciprocal(values: NDArray[np.float32], k: int) -> NDArray[np.float32]:
    ordered = np.sort(-values)
    ranks = np.searchsorted(ordered, -values, side="left") + 1
    return np.where(values > 0, 1.0 / (k + ranks), 0.0).astype(np.float32)
