"""Sum the best scores of each group. Pure."""

import numpy as np

from gitmem.arrays import NDArray


def sum_best(
    scores: NDArray[np.float64], group: NDArray[np.integer], groups: int, count: int, decay: float = 1.0
) -> NDArray[np.float64]:
    """Return the sum of the `count` best scores of each group, each `decay` times less than the one before, [groups].

    `group` numbers the group of each score.
    """
    order = np.lexsort((-scores, group))
    ordered = group[order]
    rank_in_group = np.arange(len(ordered)) - np.searchsorted(ordered, ordered)
    counted = np.where(rank_in_group < count, scores[order] * decay**rank_in_group, 0.0)
    return np.bincount(ordered, counted, groups).astype(np.float64, copy=False)
