"""A transformer in a local folder: pooling, prefixes, dimensions, and folders that are no model."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from gitmem.embedding.encoders import load
from gitmem.embedding.provider import ONNX, Provider
from gitmem.errors import GitmemError, ProviderFailed
from gitmem.words import count_identifiers
from tests.embedding.tiny_model import WORDS, tiny_table, write_tiny_model


def provider(folder: Path, dimensions: int = 0, pooling: str = "mean", query: str = "", passage: str = "") -> Provider:
    return Provider(ONNX, str(folder), "", "", dimensions, query, passage, pooling)


def expected(words: str, pooling: str = "mean", dimensions: int = 24) -> np.ndarray:
    """Return the vector of some words by the definition."""
    rows = tiny_table()[[WORDS.index(word) for word in words.split()]]
    vector = (rows.mean(axis=0) if pooling == "mean" else rows[0])[:dimensions]
    unit: np.ndarray = vector / np.linalg.norm(vector)
    return unit


@pytest.mark.parametrize("pooling", ["mean", "cls"])
def test_the_vectors_of_tokens_are_pooled_without_padding(tmp_path: Path, pooling: str) -> None:
    encoder = load(provider(write_tiny_model(tmp_path), pooling=pooling))
    texts = ["read the file", "sign", "the cookie the cookie"]
    vectors = encoder.encode_passages(texts)
    assert np.allclose(vectors, [expected(text, pooling) for text in texts], atol=1e-6)
    assert (encoder.dimensions, str(vectors.dtype)) == (24, "float32")


def test_prefixes_are_added_and_long_vectors_cut(tmp_path: Path) -> None:
    encoder = load(provider(write_tiny_model(tmp_path), 8, query="query: ", passage="passage: "))
    assert np.allclose(encoder.encode_passages(["sign"])[0], expected("passage: sign", dimensions=8), atol=1e-6)
    query = encoder.encode_query(count_identifiers("sign"))
    assert np.allclose(query, expected("query: sign", dimensions=8), atol=1e-6)


def test_texts_are_embedded_in_their_order_whatever_their_length(tmp_path: Path) -> None:
    encoder = load(provider(write_tiny_model(tmp_path)))
    texts = [" ".join(["read", "the", "file"][: 1 + at % 3] * (1 + at % 5)) for at in range(100)]
    single = np.concatenate([encoder.encode_passages([text]) for text in texts])
    assert np.allclose(encoder.encode_passages(texts), single, atol=1e-6)


def test_more_dimensions_than_the_model_has_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(ProviderFailed, match="24 dimensions, expected 4096"):
        load(provider(write_tiny_model(tmp_path), 4096)).encode_passages(["sign"])


def test_another_model_under_the_same_name_is_another_fingerprint(tmp_path: Path) -> None:
    one = provider(write_tiny_model(tmp_path / "a" / "model"))
    copy = provider(write_tiny_model(tmp_path / "b" / "model"))
    assert one.fingerprint == copy._replace(model=one.model).fingerprint
    before = one.fingerprint
    write_tiny_model(tmp_path / "a" / "model", dimensions=16)
    changed = [one._replace(pooling="cls"), one._replace(query_prefix="q"), one._replace(dimensions=8)]
    assert len({before, one.fingerprint, *(provider.fingerprint for provider in changed)}) == 5


def test_folders_that_are_no_model_are_named(tmp_path: Path) -> None:
    for number, (file, content, message) in enumerate(
        [
            ("model.onnx", b"not a graph", "cannot be loaded"),
            ("tokenizer.json", b"{", "`tokenizer.json` that cannot be read"),
        ]
    ):
        folder = write_tiny_model(tmp_path / str(number))
        (folder / file).write_bytes(content)
        with pytest.raises(GitmemError, match=message) as caught:
            load(provider(folder))
        assert str(folder) in caught.value.message
    with pytest.raises(ProviderFailed, match="input `position_bias`"):
        load(provider(write_tiny_model(tmp_path / "more", inputs=("input_ids", "position_bias"))))


def test_a_process_takes_note_that_the_files_of_a_model_were_replaced(tmp_path: Path) -> None:
    before = load(provider(write_tiny_model(tmp_path / "tiny"))).dimensions
    write_tiny_model(tmp_path / "tiny", dimensions=40)
    assert (before, load(provider(tmp_path / "tiny")).dimensions) == (24, 40)


def test_a_session_sends_no_telemetry_and_writes_nothing_to_the_home_directory(tmp_path: Path) -> None:
    folder = write_tiny_model(tmp_path / "model")
    program = (
        "import os, sys\n"
        "class Imports:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'onnxruntime': print(os.environ.get('ORT_DISABLE_TELEMETRY'))\n"
        "sys.meta_path.insert(0, Imports())\n"
        "from gitmem.embedding.encoders import load\nfrom gitmem.embedding.provider import ONNX, Provider\n"
        "from gitmem.words import count_identifiers\n"
        "load(Provider(ONNX, sys.argv[1])).encode_query(count_identifiers('read a file'))\n"
    )
    # Variables of build servers would disable the telemetry on their own.
    silencing = {"CI", "TF_BUILD", "GITHUB_ACTIONS", "ORT_RUNNING_UNIT_TESTS", "ORT_DISABLE_TELEMETRY"}
    env = {name: value for name, value in os.environ.items() if name not in silencing}
    home = tmp_path / "home"
    home.mkdir()
    env |= {"HOME": str(home), "XDG_CACHE_HOME": str(home / "cache"), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-c", program, str(folder)]
    result = subprocess.run(command, capture_output=True, text=True, check=True, env=env)
    assert result.stdout == "1\n"
    assert list(home.iterdir()) == []
