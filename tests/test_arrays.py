"""Functions of `gitmem.arrays`, compared with those of the rest of numpy."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of

from gitmem.arrays import differences, distinct, distinct_with_places, is_among

DTYPES = st.sampled_from([np.uint8, np.int32, np.int64, np.uint64])
VALUES = DTYPES.flatmap(lambda dtype: arrays_of.arrays(dtype, st.integers(0, 30), elements=st.integers(0, 9)))


@given(VALUES)
def test_differences_and_distinct_values_equal_those_of_numpy(values: np.ndarray) -> None:
    assert differences(values).tolist() == np.diff(values).tolist()
    assert differences(values).dtype == values.dtype
    assert distinct(values).tolist() == np.unique(values).tolist()
    found, places = distinct_with_places(values)
    expected, expected_places = np.unique(values, return_inverse=True)
    assert (found.tolist(), places.tolist()) == (expected.tolist(), expected_places.tolist())


@given(VALUES, VALUES)
def test_membership_equals_that_of_numpy(values: np.ndarray, others: np.ndarray) -> None:
    assert is_among(values, others).tolist() == np.isin(values, others).tolist()
