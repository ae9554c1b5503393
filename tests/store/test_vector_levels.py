"""Vectors with few magnitudes: what is stored is what is read, and close to what was computed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.typing import NDArray

from gitmem.embedding.encoder import quantise
from gitmem.store.vector_levels import PAST_LEVELS, SEARCHED_LEVELS, Levels, snap_to_levels, unit_scales

SIGNED = np.concatenate([-SEARCHED_LEVELS.magnitudes[::-1], SEARCHED_LEVELS.magnitudes])
"""All components of a quantised vector, ascending."""


def stored(levels: Levels, vectors: NDArray[np.int8]) -> NDArray[np.int8]:
    """Return vectors as a segment gives them back."""
    packed = levels.pack(vectors)
    assert packed.shape == (len(vectors), levels.width(vectors.shape[1]))
    return levels.unpack(packed, np.packbits(vectors > 0, axis=1), vectors.shape[1])


def cosines(one: NDArray[np.float32], two: NDArray[np.float32]) -> NDArray[np.float64]:
    lengths = np.linalg.norm(one, axis=1) * np.linalg.norm(two, axis=1)
    products: NDArray[np.float64] = (one * two).sum(axis=1) / lengths
    return products


@given(arrays.arrays(np.int8, st.tuples(st.integers(0, 5), st.integers(0, 40))))
def test_a_snapped_vector_is_read_as_it_was_written_with_its_length(vectors: NDArray[np.int8]) -> None:
    scales = np.full(len(vectors), 0.25, np.float32)
    snapped = snap_to_levels(vectors, scales)
    assert (stored(SEARCHED_LEVELS, snapped.vectors) == snapped.vectors).all()
    assert (snap_to_levels(*snapped).vectors == snapped.vectors).all()
    lengths = np.linalg.norm(0.25 * vectors.astype(np.float64), axis=1)
    read = snapped.vectors * snapped.scales[:, None]
    assert np.allclose(np.linalg.norm(read, axis=1), lengths, rtol=1e-4)


def test_each_component_gets_the_nearest_magnitude() -> None:
    vectors = np.arange(-128, 128).astype(np.int8).reshape(1, -1)
    nearest = SEARCHED_LEVELS.nearest(vectors)
    gaps = np.abs(vectors.astype(int)[:, :, None] - SIGNED.astype(int))
    # Next to 0 the sign comes first: a search reads it from the signature.
    assert (np.abs(vectors.astype(int) - nearest) <= np.maximum(gaps.min(axis=2), 2)).all()
    assert ((nearest > 0) == (vectors > 0)).all()
    assert np.isin(nearest, SIGNED).all()


@pytest.mark.parametrize("dimensions", [64, 256, 1536])
def test_snapping_turns_a_vector_by_some_degrees(dimensions: int) -> None:
    vectors = np.random.default_rng(dimensions).normal(size=(200, dimensions)).astype(np.float32)
    snapped = snap_to_levels(*quantise(vectors))
    assert cosines(snapped.vectors.astype(np.float32), vectors).min() > 0.995


def test_a_vector_of_nothing_has_no_length() -> None:
    assert snap_to_levels(*quantise(np.zeros((1, 64), np.float32))).scales.tolist() == [0.0]
    read = stored(PAST_LEVELS, np.zeros((1, 64), np.int8))
    assert unit_scales(read, np.zeros(1, np.float16)).tolist() == [0.0]


def test_neighbouring_levels_differ_by_one_step() -> None:
    steps = SEARCHED_LEVELS.steps(SIGNED.reshape(1, -1))[0]
    assert np.diff(steps).tolist() == [1] * (len(SIGNED) - 1)


@pytest.mark.parametrize("dimensions", [1, 7, 64, 256])
def test_vectors_of_the_past_keep_their_signs_and_nearly_their_direction(dimensions: int) -> None:
    floats = np.random.default_rng(dimensions).normal(size=(200, dimensions)).astype(np.float32)
    vectors = quantise(floats).vectors
    read = stored(PAST_LEVELS, vectors)
    assert ((read > 0) == (vectors > 0)).all()
    scales = unit_scales(read, np.ones(len(read), np.float16)).astype(np.float32)
    unit = read * scales[:, None]
    assert np.abs(np.linalg.norm(unit, axis=1) - 1).max() < 0.01
    assert cosines(unit, vectors.astype(np.float32)).mean() > 0.97 or dimensions < 64
