"""Stored vectors: found again, whatever happens to the files."""

import hashlib
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.store.vector_files import MAX_SMALL_FILES, SUFFIX, VectorFiles, model_folder

MODEL = "openai:small:0123"
DIMENSIONS = 48


def hash_of(number: int) -> bytes:
    """Return a hash; every third one ends with zeros, which numpy ignores in a string."""
    digest = hashlib.blake2b(b"%d" % number, digest_size=16).digest()
    return digest if number % 3 else digest[:14] + bytes(2)


def vector_of(number: int, dimensions: int = DIMENSIONS) -> np.ndarray:
    return np.random.default_rng(number).integers(-127, 128, dimensions).astype(np.int8)


def add(store: VectorFiles, *numbers: int) -> None:
    vectors = np.array([vector_of(number, store.dimensions) for number in numbers], np.int8)
    scales = np.array([number / 8 for number in numbers], np.float16)
    store.add([hash_of(number) for number in numbers], vectors, scales)


def stored(folder: Path, *numbers: int, dimensions: int = DIMENSIONS) -> set[int]:
    """Return which vectors a new process finds; each must be right."""
    store = VectorFiles(folder, MODEL, dimensions)
    found = store.find([hash_of(number) for number in numbers])
    for number in numbers:
        if hash_of(number) in found:
            vector, scale = found[hash_of(number)]
            assert np.array_equal(vector, vector_of(number, dimensions))
            assert scale == np.float16(number / 8)
    return {number for number in numbers if hash_of(number) in found}


def files_of(folder: Path) -> list[Path]:
    return sorted(model_folder(folder, MODEL).glob(f"*{SUFFIX}"))


@settings(max_examples=100, deadline=None)
@given(parts=st.lists(st.lists(st.integers(0, 40), min_size=1, max_size=6, unique=True), max_size=4))
def test_what_was_added_is_found(tmp_path_factory: pytest.TempPathFactory, parts: list[list[int]]) -> None:
    folder = tmp_path_factory.mktemp("vectors")
    store = VectorFiles(folder, MODEL, DIMENSIONS)
    for numbers in parts:
        add(store, *numbers)
    known = {number for numbers in parts for number in numbers}
    assert stored(folder, *range(41)) == known
    assert set(store.find([hash_of(number) for number in range(41)])) == {hash_of(number) for number in known}


def test_vectors_of_another_model_or_length_are_not_found(tmp_path: Path) -> None:
    add(VectorFiles(tmp_path, MODEL, DIMENSIONS), 1, 2)
    add(VectorFiles(tmp_path, MODEL, 64), 1, 2)
    assert not VectorFiles(tmp_path, "another", DIMENSIONS).find([hash_of(1)])
    assert stored(tmp_path, 1, 2, dimensions=64) == stored(tmp_path, 1, 2) == {1, 2}
    assert not stored(tmp_path, 1, 2, dimensions=32)


def test_small_files_are_merged_and_those_of_other_processes_stay(tmp_path: Path) -> None:
    store = VectorFiles(tmp_path, MODEL, DIMENSIONS)
    other = VectorFiles(tmp_path, MODEL, DIMENSIONS)
    for number in range(MAX_SMALL_FILES - 1):
        add(store, number)
    add(other, 500)
    add(store, 501)
    assert len(files_of(tmp_path)) == 2, "the merged ones, and the one that the store has not seen"
    everything = [*range(MAX_SMALL_FILES - 1), 500, 501]
    assert stored(tmp_path, *everything) == set(everything)
    assert len(store.find([hash_of(number) for number in everything])) == len(everything) - 1


def test_a_file_of_a_newer_gitmem_is_left_alone(tmp_path: Path) -> None:
    add(VectorFiles(tmp_path, MODEL, DIMENSIONS), 1, 2)
    [file] = files_of(tmp_path)
    data = bytearray(file.read_bytes())
    data[8:12] = (99).to_bytes(4, "little")
    data[16:20] = zlib.crc32(data[:16]).to_bytes(4, "little")
    newer = file.with_name(f"0{SUFFIX}")
    newer.write_bytes(data)
    assert stored(tmp_path, 1, 2) == {1, 2}
    assert newer.read_bytes() == data


def test_each_flipped_bit_is_found_and_costs_no_vector_of_another_file(tmp_path: Path) -> None:
    store = VectorFiles(tmp_path, MODEL, 1536)
    add(store, *range(20))
    add(store, *range(20, 40))
    whole = {file: file.read_bytes() for file in files_of(tmp_path)}
    victim = files_of(tmp_path)[0]
    lost = []
    for place in np.linspace(0, len(whole[victim]) - 1, 120).astype(int).tolist():
        for file in files_of(tmp_path):
            file.unlink()
        for file, data in whole.items():
            file.write_bytes(data)
        flipped = bytearray(whole[victim])
        flipped[place] ^= 16
        victim.write_bytes(flipped)
        # `stored` fails at a wrong vector.
        missing = set(range(40)) - stored(tmp_path, *range(40), dimensions=1536)
        lost.append(len(missing))
        if missing:
            add(VectorFiles(tmp_path, MODEL, 1536), *missing)
        assert stored(tmp_path, *range(40), dimensions=1536) == set(range(40)), "a text that is sent again is found"
    assert max(lost) == 20
    assert 0 < sorted(lost)[60] <= 4, "a block of 4 KiB has parts of at most four vectors"
