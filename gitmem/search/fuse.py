"""Fuse two rankings, by meaning and by words, into one score per candidate. Pure.

Two methods, chosen by `gitmem.fusion`: weighted z-scores, which use how far scores lie apart, and reciprocal rank
fusion, which uses ranks alone and needs no weights.
"""

from typing import Final

import numpy as np

from gitmem.arrays import NDArray
from gitmem.named_tuple import NamedTuple

RRF_K: Final = 60
"""Constant of Cormack 2009: the larger, the less the very first ranks dominate."""


class FusionWeights(NamedTuple):
    """Weight of one standard deviation of the semantic and of the lexical score."""

    semantic: float
    lexical: float


class Prior(NamedTuple):
    """Mean and standard deviation of the scores of a query's candidates, measured on public retrieval queries."""

    mean: float
    deviation: float


COSINE_PRIOR: Final = Prior(0.33, 0.10)
LEXICAL_PRIOR: Final = Prior(0.28, 0.12)
"""In shares of the highest lexical score that the query allows."""

PRIOR_COUNT: Final = 4
"""Pseudo-candidates with the prior's moments that are added to the real ones."""

Sample = slice | NDArray[np.bool_]
"""The candidates by which the others are judged: those of the search without filters."""

EVERY: Final = slice(None)


def fuse_zscores(
    dense: NDArray[np.float32],
    lexical: NDArray[np.float32],
    weights: FusionWeights,
    max_lexical: float,
    sample: Sample = EVERY,
) -> NDArray[np.float32]:
    """Return the weighted sum of the z-scores. `max_lexical` is the highest lexical score that the query allows."""
    fused = weights.semantic * standardise(dense, COSINE_PRIOR, sample)
    fused += weights.lexical * standardise_lexical(lexical, max_lexical, sample)
    return fused.astype(np.float32)


def standardise_lexical(scores: NDArray[np.float32], max_lexical: float, sample: Sample = EVERY) -> NDArray[np.float32]:
    """Return the z-scores of lexical scores, of which `max_lexical` is the highest that the query allows."""
    # BM25 scores grow with the number and rarity of the terms, so one prior fits all queries only after division.
    return standardise(scores / max_lexical, LEXICAL_PRIOR, sample) if max_lexical else np.zeros_like(scores)


def standardise(values: NDArray[np.float32], prior: Prior, sample: Sample = EVERY) -> NDArray[np.float32]:
    """Return z-scores of values, by the moments of a sample of them among which PRIOR_COUNT typical ones are assumed.

    They are zeros if all values of the sample are zero.
    """
    measured = values[sample]
    if not measured.any():
        return np.zeros_like(values)  # a retrieval without any match has no say
    # Plain z-scores of few candidates say nothing: a single one would always score 0, however good it is. With
    # pseudo-candidates drawn from the prior its score is absolute at first and relative among many.
    count = len(measured) + PRIOR_COUNT
    mean = (float(measured.sum()) + PRIOR_COUNT * prior.mean) / count
    squares = float(np.square(measured - mean).sum())
    # The pseudo-candidates' squared distance from the common mean: their variance plus the shift of their own mean.
    squares += PRIOR_COUNT * (prior.deviation**2 + (prior.mean - mean) ** 2)
    scores: NDArray[np.float32] = (values - mean) / (squares / count) ** 0.5
    return scores


def fuse_ranks(
    dense: NDArray[np.float32], lexical: NDArray[np.float32], k: int = RRF_K, sample: Sample = EVERY
) -> NDArray[np.float32]:
    """Return the reciprocal rank fusion of two scores: the sum of 1 / (k + rank) over the lists with the candidate.

    Cormack, Clarke and Buettcher 2009. Ranks count from 1 within a sample, ties share the better rank, and a candidate
    with a score of zero is not in the list.
    """
    return _reciprocal(dense, k, sample) + _reciprocal(lexical, k, sample)


def _reciprocal(values: NDArray[np.float32], k: int, sample: Sample) -> NDArray[np.float32]:
    ascending = np.sort(-values[sample])
    ranks = np.searchsorted(ascending, -values, side="left") + 1
    return np.where(values > 0, 1.0 / (k + ranks), 0.0).astype(np.float32)
