"""gitmem reads the files that training writes."""

from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer

from gitmem.embedding.bundled import BundledEncoder
from gitmem.embedding.card import Card
from gitmem.embedding.encoder import Quantised, quantise
from gitmem.embedding.vocabulary import FIRST_SORTED, Vocabulary
from gitmem.identifier_counts import bag_texts
from gitmem.words import count_identifiers
from models.recipe.bags import bags_of_texts
from models.recipe.evaluate import embed

pytest.importorskip("onnx", reason="onnx, which writes the model, is not installed")

from models.recipe.bundle import NAME, write_bundle
from tests.models.synthetic import small_tokenizer

TEXTS = ["opens the socket", "return parse(tokens, tokens, tokens)", "getUserName 42", ""]


def test_the_bundle_embeds_texts_like_its_table(tmp_path: Path) -> None:
    tokenizer = small_tokenizer(TEXTS * 3, 200)
    table = quantise(np.random.default_rng(1).standard_normal((tokenizer.get_vocab_size(), 24)).astype(np.float32))
    write_bundle(table, tokenizer.to_str(pretty=True), tmp_path)
    expected = embed(table.vectors * table.scales[:, None], bags_of_texts(tokenizer, TEXTS), np.arange(len(TEXTS)))
    encoder = BundledEncoder(tmp_path)
    texts = [count_identifiers(text) for text in TEXTS]
    assert np.abs(encoder.encode(bag_texts(texts)).vectors - expected).max() < 1e-5
    assert np.abs(encoder.encode_names(texts) - expected).max() < 1e-5
    assert expected[:3].any(axis=1).all()
    assert Card(tmp_path).fingerprint.startswith(NAME)


def test_pieces_are_numbered_in_the_order_of_their_bytes(tmp_path: Path) -> None:
    tokenizer = small_tokenizer(TEXTS * 3, 200)
    size = tokenizer.get_vocab_size()
    rows = np.arange(size, dtype=np.int8)[:, None].repeat(8, axis=1)
    write_bundle(Quantised(rows, np.full(size, 0.5, np.float32)), tokenizer.to_str(), tmp_path)
    vocabulary = Vocabulary((tmp_path / "pieces.bin").read_bytes()).load()
    assert vocabulary == Tokenizer.from_file(str(tmp_path / "tokenizer.json")).get_vocab()
    assert list(vocabulary)[FIRST_SORTED:] == sorted(list(vocabulary)[FIRST_SORTED:], key=str.encode)
    table, _ = BundledEncoder(tmp_path)._tables
    assert {piece: int(table[place, 0]) for piece, place in vocabulary.items()} == tokenizer.get_vocab()


def test_the_same_table_gives_the_same_bytes(tmp_path: Path) -> None:
    tokenizer = small_tokenizer(TEXTS * 3, 200)
    table = quantise(np.random.default_rng(2).standard_normal((tokenizer.get_vocab_size(), 8)).astype(np.float32))
    for folder in ("a", "b"):
        write_bundle(table, tokenizer.to_str(), tmp_path / folder)
    for name in ("model.onnx", "pieces.bin", "tokenizer.json", "card.json"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
