"""Write a table and its tokenizer as the files of a model: `model.onnx`, `pieces.bin`, `tokenizer.json`, `card.json`.

Pieces are numbered in the order of their bytes, so that one can be looked up without loading all. The card contains
shapes, checksums and the offsets of both tables in the file. With these a query is embedded from the mapped file alone.
"""

import hashlib
import json
import zlib
from pathlib import Path
from typing import Any, Final

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from gitmem.embedding.encoder import Quantised
from gitmem.embedding.vocabulary import FIRST_SORTED, pack_pieces

NAME: Final = "gitmem-code-static-2"
LICENCE: Final = "MIT"


def write_bundle(table: Quantised, tokenizer: str, folder: Path) -> None:
    """Write the four files. `tokenizer` is a tokenizer as JSON."""
    fields = json.loads(tokenizer)
    order = _renumber(fields)
    rows, scales = table.vectors[order], table.scales[order].astype("<f4")
    folder.mkdir(parents=True, exist_ok=True)
    model = build_graph(rows, scales).SerializeToString(deterministic=True)
    split = fields["model"]
    # Deterministic serialisation and compact JSON: the same table gives the same bytes.
    files = {
        "model.onnx": model,
        "pieces.bin": pack_pieces(list(split["vocab"])),
        "tokenizer.json": json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode(),
    }
    for name, data in files.items():
        (folder / name).write_bytes(data)
    card = {
        "name": NAME,
        "licence": LICENCE,
        "dimensions": int(rows.shape[1]),
        "vocabulary": int(rows.shape[0]),
        "unknown": split["vocab"][split["unk_token"]],
        "longest_word": split["max_input_chars_per_word"],
        "table_offset": _offset_of(model, rows.tobytes()),
        "scale_offset": _offset_of(model, scales.tobytes()),
        "files": {name: _describe(data) for name, data in files.items()},
    }
    (folder / "card.json").write_text(json.dumps(card, indent=2) + "\n")


def _renumber(tokenizer: dict[str, Any]) -> list[int]:
    """Renumber all pieces but the special ones, which come first, in the order of their bytes.

    Returns the former id of each new id.
    """
    former: dict[str, int] = tokenizer["model"]["vocab"]
    pieces = sorted(former, key=former.__getitem__)
    pieces[FIRST_SORTED:] = sorted(pieces[FIRST_SORTED:], key=str.encode)
    tokenizer["model"]["vocab"] = {piece: place for place, piece in enumerate(pieces)}
    return [former[piece] for piece in pieces]


def build_graph(table: NDArray[np.int8], scale: NDArray[np.float32]) -> onnx.ModelProto:
    """Return the graph (input_ids [B, L], token_weight [B, L]) -> (embedding [B, D] of unit length, norm [B]).

    embedding = sum_i token_weight_i * scale[id_i] * table[id_i], divided by its Euclidean length, which is the norm. An
    empty text (all weights 0) gives zeros and norm 0.
    """
    initializers = [
        numpy_helper.from_array(table, "table"),
        numpy_helper.from_array(scale, "scale"),
        numpy_helper.from_array(np.array([1], np.int64), "axis"),
        numpy_helper.from_array(np.array(1e-6, np.float32), "least"),
    ]
    # The scale of a row is multiplied into the weight of its token, which saves dequantising the rows.
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
    model.ir_version = 8  # the oldest one for this opset, so that older runtimes can read it
    onnx.checker.check_model(model)
    return model


def _offset_of(model: bytes, array: bytes) -> int:
    """Return the offset of an initializer's bytes in the serialised model. They must occur exactly once."""
    offset = model.find(array)
    if offset < 0 or model.find(array, offset + 1) >= 0:
        raise ValueError("an initializer is not stored as one run of bytes")
    return offset


def _describe(data: bytes) -> dict[str, object]:
    return {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest(), "crc32": zlib.crc32(data)}
