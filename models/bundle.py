#!/usr/bin/env python3
"""Bundle a trained static table as the model gitmem ships.

usage: bundle.py SOURCE [--out models]

SOURCE holds `model.onnx` (initializers `table` int8 [V, D] and `scale` float32 [V]) and `tokenizer.json`. Written are
`model.onnx` with the graph gitmem runs, `tokenizer.json` unchanged, and `card.json`: shapes, hashes, and where in the
file the two tables stand, so that one query can be embedded from the mapped file alone. Needs the package `onnx`.
"""

import argparse
import hashlib
import json
import shutil
import zlib
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

NAME = "gitmem-code-static-1"


def build_graph(table: np.ndarray, scale: np.ndarray) -> onnx.ModelProto:
    """(input_ids [B, L], token_weight [B, L]) -> (embedding [B, D] of unit length, norm [B] before that).

    embedding = sum_i token_weight_i * scale[id_i] * table[id_i], divided by its Euclidean length; an empty text
    (all weights 0) gives zeros and norm 0.
    """
    initializers = [
        numpy_helper.from_array(table, "table"),
        numpy_helper.from_array(scale, "scale"),
        numpy_helper.from_array(np.array([1], np.int64), "axis"),
        numpy_helper.from_array(np.array(1e-6, np.float32), "least"),
    ]
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["rows8"], axis=0),
        helper.make_node("Cast", ["rows8"], ["rows"], to=TensorProto.FLOAT),
        helper.make_node("Gather", ["scale", "input_ids"], ["row_scale"], axis=0),
        helper.make_node("Mul", ["row_scale", "token_weight"], ["weight"]),
        helper.make_node("Unsqueeze", ["weight", "axis"], ["weight3"]),
        helper.make_node("MatMul", ["weight3", "rows"], ["sum3"]),
        helper.make_node("Squeeze", ["sum3", "axis"], ["sum"]),
        helper.make_node("ReduceL2", ["sum", "axis"], ["length"], keepdims=1),
        helper.make_node("Max", ["length", "least"], ["divisor"]),
        helper.make_node("Div", ["sum", "divisor"], ["embedding"]),
        helper.make_node("Squeeze", ["length", "axis"], ["norm"]),
    ]
    graph = helper.make_graph(
        nodes,
        NAME,
        [
            helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["B", "L"]),
            helper.make_tensor_value_info("token_weight", TensorProto.FLOAT, ["B", "L"]),
        ],
        [
            helper.make_tensor_value_info("embedding", TensorProto.FLOAT, ["B", table.shape[1]]),
            helper.make_tensor_value_info("norm", TensorProto.FLOAT, ["B"]),
        ],
        initializers,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])
    model.ir_version = 8
    onnx.checker.check_model(model)
    return model


def place_of(data: bytes, array: np.ndarray) -> int:
    """Where an initializer's bytes stand in the serialised model; they stand there once."""
    raw = array.tobytes()
    place = data.find(raw)
    if place < 0 or data.find(raw, place + 1) >= 0:
        raise SystemExit("an initializer is not stored as one run of bytes")
    return place


def describe(path: Path) -> dict[str, object]:
    data = path.read_bytes()
    return {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest(), "crc32": zlib.crc32(data)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=Path)
    parser.add_argument("--out", type=Path, default=Path(__file__).resolve().parent)
    options = parser.parse_args()
    trained = onnx.load(options.source / "model.onnx").graph.initializer
    found = {item.name: numpy_helper.to_array(item) for item in trained}
    table, scale = found["table"].astype(np.int8), found["scale"].astype("<f4")
    target = options.out / "model.onnx"
    target.write_bytes(build_graph(table, scale).SerializeToString(deterministic=True))
    shutil.copyfile(options.source / "tokenizer.json", options.out / "tokenizer.json")
    data = target.read_bytes()
    card = {
        "name": NAME,
        "licence": "MIT",
        "dimensions": int(table.shape[1]),
        "vocabulary": int(table.shape[0]),
        "table_offset": place_of(data, table),
        "scale_offset": place_of(data, scale),
        "files": {name: describe(options.out / name) for name in ("model.onnx", "tokenizer.json")},
    }
    (options.out / "card.json").write_text(json.dumps(card, indent=2) + "\n")


if __name__ == "__main__":
    main()
