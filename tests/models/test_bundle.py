"""What training hands over is what gitmem reads."""

from pathlib import Path

import numpy as np
import pytest

from gitmem.embedding.bundled import BundledEncoder
from gitmem.embedding.card import Card
from gitmem.embedding.encoder import quantise
from gitmem.words import count_identifiers
from models.recipe.bags import bags_of_texts
from models.recipe.evaluate import embed

pytest.importorskip("onnx", reason="onnx, which writes the model, is not installed")

from models.recipe.bundle import NAME, write_bundle
from tests.models.synthetic import small_tokenizer

TEXTS = ["opens the socket", "return parse(tokens, tokens, tokens)", "getUserName 42", ""]


def test_the_bundle_embeds_texts_as_its_table_does(tmp_path: Path) -> None:
    tokenizer = small_tokenizer(TEXTS * 3, 200)
    table = quantise(np.random.default_rng(1).standard_normal((tokenizer.get_vocab_size(), 24)).astype(np.float32))
    write_bundle(table, tokenizer.to_str(pretty=True), tmp_path)
    expected = embed(table.vectors * table.scales[:, None], bags_of_texts(tokenizer, TEXTS), np.arange(len(TEXTS)))
    encoder = BundledEncoder(tmp_path)
    texts = [count_identifiers(text) for text in TEXTS]
    assert np.abs(encoder.encode(texts).vectors - expected).max() < 1e-5
    assert np.abs(encoder.encode_names(texts) - expected).max() < 1e-5
    assert expected[:3].any(axis=1).all()
    assert Card(tmp_path).fingerprint.startswith(NAME)


def test_a_bundle_is_the_same_bytes_again(tmp_path: Path) -> None:
    table = quantise(np.random.default_rng(2).standard_normal((30, 8)).astype(np.float32))
    for folder in ("a", "b"):
        write_bundle(table, "{}", tmp_path / folder)
    for name in ("model.onnx", "tokenizer.json", "card.json"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
