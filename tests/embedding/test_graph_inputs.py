"""Constants of a model as inputs: the same results from the smaller graph, and an error for anything else."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import onnxruntime
import pytest
from numpy.typing import NDArray

from gitmem.embedding.card import Card
from gitmem.embedding.graph_inputs import FLOAT, INT8, Constant, move_to_inputs
from gitmem.paths import bundled

Arrays = Mapping[str, NDArray[Any]]


@pytest.fixture(scope="module")
def model() -> bytes:
    return (bundled("models") / "model.onnx").read_bytes()


@pytest.fixture(scope="module")
def tables(model: bytes) -> Arrays:
    card = Card(bundled("models"))
    table = np.frombuffer(model, np.int8, card.vocabulary * card.dimensions, card.table_offset)
    scale = np.frombuffer(model, "<f4", card.vocabulary, card.scale_offset)
    return {"table": table.reshape(card.vocabulary, card.dimensions), "scale": scale}


def describe(tables: Arrays) -> dict[str, Constant]:
    return {"table": Constant(INT8, tables["table"].shape), "scale": Constant(FLOAT, tables["scale"].shape)}


def embed(graph: bytes, others: Arrays) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Embed some lists of word pieces of different lengths, padded like a batch."""
    numbers = np.random.default_rng(7)
    ids = numbers.integers(0, 62_000, (40, 48))
    weights = (1 + numbers.random((40, 48))).astype(np.float32)
    weights[numbers.random((40, 48)) < 0.3] = 0
    session = onnxruntime.InferenceSession(graph, providers=["CPUExecutionProvider"])
    vectors, norms = session.run(None, {"input_ids": ids, "token_weight": weights, **others})
    return vectors, norms


def test_the_graph_without_tables_gives_the_same_vectors(model: bytes, tables: Arrays) -> None:
    graph = move_to_inputs(memoryview(model), describe(tables))
    assert len(graph) < 4096
    for expected, found in zip(embed(model, {}), embed(graph, tables), strict=True):
        assert expected.tobytes() == found.tobytes()


def test_a_model_without_the_constant_is_refused(model: bytes, tables: Arrays) -> None:
    with pytest.raises(ValueError, match="lacks a constant"):
        move_to_inputs(memoryview(model), {"tables": describe(tables)["table"]})


@pytest.mark.parametrize("size", [1, 100, 4096, -1])
def test_a_model_that_is_cut_is_refused(model: bytes, tables: Arrays, size: int) -> None:
    with pytest.raises(ValueError, match=r"field|number|constant"):
        move_to_inputs(memoryview(model)[:size], describe(tables))
