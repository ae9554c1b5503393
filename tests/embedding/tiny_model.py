"""A tiny model in ONNX with its tokenizer: the vector of a token is a row of a table, and texts are pooled from them.

The graph is written as protobuf by hand (`onnx.proto`), because the library for it is no dependency.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

WORDS = ("[PAD]", "[UNK]", "cookie", "sign", "file", "read", "query:", "passage:", "parse", "the")
_INT64, _FLOAT = 7, 1


def tiny_table(dimensions: int = 24) -> NDArray[np.float32]:
    """Return the vectors of the tokens."""
    return np.random.default_rng(5).standard_normal((len(WORDS), dimensions)).astype(np.float32)


def write_tiny_model(folder: Path, dimensions: int = 24, inputs: tuple[str, ...] = ("input_ids",)) -> Path:
    """Write the model into a folder and return it."""
    folder.mkdir(parents=True, exist_ok=True)
    table = tiny_table(dimensions)
    tensor = _number(1, len(WORDS)) + _number(1, dimensions) + _number(2, _FLOAT) + _bytes(8, b"table")
    tensor += _bytes(9, table.tobytes())
    node = _bytes(1, b"table") + _bytes(1, b"input_ids") + _bytes(2, b"last_hidden_state") + _bytes(4, b"Gather")
    graph = _bytes(1, node) + _bytes(2, b"tiny") + _bytes(5, tensor)
    for name in inputs:
        graph += _bytes(11, _value(name, _INT64, ("batch", "tokens")))
    graph += _bytes(12, _value("last_hidden_state", _FLOAT, ("batch", "tokens", dimensions)))
    model = _number(1, 8) + _bytes(7, graph) + _bytes(8, _bytes(1, b"") + _number(2, 17))
    (folder / "model.onnx").write_bytes(model)
    tokenizer: dict[str, Any] = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": {"type": "Lowercase"},
        "pre_tokenizer": {"type": "WhitespaceSplit"},
        "post_processor": None,
        "decoder": None,
        "model": {"type": "WordLevel", "vocab": {word: at for at, word in enumerate(WORDS)}, "unk_token": "[UNK]"},
    }
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    return folder


def _value(name: str, kind: int, shape: tuple[str | int, ...]) -> bytes:
    sizes = [_bytes(2, size.encode()) if isinstance(size, str) else _number(1, size) for size in shape]
    tensor = _number(1, kind) + _bytes(2, b"".join(_bytes(1, size) for size in sizes))
    return _bytes(1, name.encode()) + _bytes(2, _bytes(1, tensor))


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _bytes(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(value)) + value


def _varint(value: int) -> bytes:
    groups = []
    while value > 127:
        groups.append(value & 127 | 128)
        value >>= 7
    return bytes([*groups, value])
