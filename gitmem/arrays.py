"""Type of arrays, and differences, distinct values and membership, with the core of numpy alone.

`np.diff`, `np.unique`, `np.isin` and `numpy.typing` are in the part of numpy that a query does not load
(`gitmem.numpy_core`).
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray as NDArray
else:

    class NDArray:
        """Type of an array of a dtype, in annotations: `NDArray[np.int64]`."""

        def __class_getitem__(cls, dtype: Any) -> type:
            return cls


def differences(values: NDArray[Any], before: int | None = None) -> NDArray[Any]:
    """Return each value minus the one before it: one fewer than there are values, unless `before` is given.

    `before` is what the first value is compared with. Unsigned types wrap around.
    """
    steps: NDArray[Any] = values[1:] - values[:-1]
    return steps if before is None else np.concatenate([values[:1] - values.dtype.type(before), steps])


def first_of_each(ascending: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which values of a sorted array differ from the one before."""
    is_first = np.ones(len(ascending), np.bool_)
    is_first[1:] = ascending[1:] != ascending[:-1]
    return is_first


def distinct(values: NDArray[Any]) -> NDArray[Any]:
    """Return the distinct values, ascending."""
    ascending = np.sort(values, axis=None)
    return ascending[first_of_each(ascending)]


def distinct_with_places(values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the distinct values, ascending, and for each value its place among them."""
    order = np.argsort(values, kind="stable")
    ascending = values[order]
    is_first = first_of_each(ascending)
    places = np.empty(len(values), np.intp)
    places[order] = np.cumsum(is_first) - 1
    return ascending[is_first], places


def is_among(values: NDArray[Any], others: NDArray[Any] | Sequence[int]) -> NDArray[np.bool_]:
    """Return for each value whether it is one of the others. numpy must compare the two types exactly."""
    if not len(others):
        return np.zeros(len(values), np.bool_)
    ascending = np.sort(others)
    nearest = ascending[np.minimum(np.searchsorted(ascending, values), len(ascending) - 1)]
    matches: NDArray[np.bool_] = nearest == values
    return matches
