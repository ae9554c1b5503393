"""The bundled model: one formula for indexing and queries, and damaged files are refused."""

import importlib.util
import json
import math
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.embedding.bundled import BundledEncoder
from gitmem.embedding.encoder import quantise
from gitmem.embedding.pieces import WordPieces, longest_piece_in
from gitmem.errors import ModelDamaged
from gitmem.identifier_counts import bag_texts
from gitmem.paths import bundled
from gitmem.words import MAX_IDENTIFIER, count_identifiers

many = settings(max_examples=100, deadline=None)
texts = st.one_of(
    st.text(max_size=200),
    st.lists(st.sampled_from("def return getUser parse_http naïve 検索 x 42 ___ Ünïcode".split()), max_size=60).map(
        " ".join
    ),
)


@many
@given(text=texts)
def test_a_query_and_a_chunk_of_the_same_words_have_the_same_vector(encoder: BundledEncoder, text: str) -> None:
    counted = count_identifiers(text)
    assert (encoder.encode(bag_texts([counted])).vectors[0] == encoder.encode_query(counted)).all()


@many
@given(batch=st.lists(texts, max_size=8))
def test_names_have_the_vectors_of_queries(encoder: BundledEncoder, batch: list[str]) -> None:
    vectors = encoder.encode_names([count_identifiers(text) for text in batch])
    assert vectors.shape == (len(batch), encoder.dimensions)
    for vector, text in zip(vectors, batch, strict=True):
        encoder._names.clear()  # else the cached vector would be returned
        assert np.abs(vector - encoder.encode_query(count_identifiers(text))).max() < 1e-6


def test_a_request_to_stop_is_looked_for_before_every_ten_texts(encoder: BundledEncoder) -> None:
    steps: list[int] = []
    encoder.encode(
        bag_texts([count_identifiers(f"word{n} " * (n % 7 + 1)) for n in range(45)]), lambda: steps.append(1)
    )
    assert 5 <= len(steps) <= 45


def test_the_cache_of_names_keeps_its_limit() -> None:
    encoder = BundledEncoder(cached_names=3)
    first = encoder.encode_names([count_identifiers(name) for name in ("one", "two", "three")])
    again = encoder.encode_names([count_identifiers(name) for name in ("three", "four", "one", "one")])
    assert (again[[2, 3, 0]] == first[[0, 0, 2]]).all()
    assert len(encoder._names) <= 3


@many
@given(batch=st.lists(texts, max_size=8), data=st.data())
def test_a_vector_does_not_depend_on_its_batch(encoder: BundledEncoder, batch: list[str], data: st.DataObject) -> None:
    counted = [count_identifiers(text) for text in batch]
    order = data.draw(st.permutations(range(len(batch))))
    together = encoder.encode(bag_texts(counted))
    shuffled = encoder.encode(bag_texts([counted[place] for place in order]))
    assert together.vectors.shape == (len(batch), encoder.dimensions)
    for place, other in enumerate(order):
        assert (shuffled.vectors[place] == together.vectors[other]).all()
        assert shuffled.norms[place] == together.norms[other]


@pytest.mark.parametrize("block", [1, 7])
def test_a_vector_does_not_depend_on_the_blocks_of_its_sum(
    encoder: BundledEncoder, monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    counted = bag_texts([count_identifiers(f"parse the header {'again ' * n} of request_{n}") for n in range(12)])
    whole = encoder.encode(counted)
    monkeypatch.setattr("gitmem.embedding.bundled.BLOCK_PIECES", block)
    parts = encoder.encode(counted)
    assert (parts.vectors == whole.vectors).all()
    assert (parts.norms == whole.norms).all()


@many
@given(text=texts)
def test_vectors_are_finite_and_of_unit_length_or_zero(encoder: BundledEncoder, text: str) -> None:
    """Property 8: Dimensions."""
    vector = encoder.encode_query(count_identifiers(text))
    length = float(np.linalg.norm(vector))
    assert np.isfinite(vector).all()
    assert length == pytest.approx(1.0, abs=1e-4) or not vector.any()


def test_the_vector_follows_the_documented_formula(encoder: BundledEncoder) -> None:
    counted = count_identifiers("parse parse parse header")
    table, scale = encoder._tables
    weights: dict[int, float] = {}
    for word, times in (("parse", 3), ("header", 1)):
        for piece in encoder._pieces.ids_of(word):
            weights[piece] = 1 + math.log(times)
    total = sum(weight * table[piece].astype(np.float64) * scale[piece] for piece, weight in weights.items())
    expected = total / np.linalg.norm(total)
    assert np.abs(encoder.encode_query(counted) - expected).max() < 1e-5
    assert encoder.encode(bag_texts([counted])).norms[0] == pytest.approx(float(np.linalg.norm(total)), rel=1e-3)


def test_similar_words_are_closer_than_others(encoder: BundledEncoder) -> None:
    texts = ("delete a file", "remove file", "parse http header")
    vectors = encoder.encode(bag_texts([count_identifiers(text) for text in texts]))
    near, far = vectors.vectors[0] @ vectors.vectors[1], vectors.vectors[0] @ vectors.vectors[2]
    assert near > far


@many
@given(text=st.text(max_size=120))
def test_pieces_are_those_of_the_tokenizers_library(encoder: BundledEncoder, library: Any, text: str) -> None:
    for identifier in count_identifiers(text).identifiers:
        own = encoder._pieces.ids_of(identifier)
        assert own == encoder._query_pieces.ids_of(identifier)
        assert list(own) == library.encode(identifier[:MAX_IDENTIFIER], add_special_tokens=False).ids


@pytest.mark.parametrize("identifier", ["parseHTTPRequest_v2", "x" * 63, "A1B2c3", "__", "ABCdef", "aB" * 31])
def test_pieces_of_unusual_names_are_those_of_the_library(
    encoder: BundledEncoder, library: Any, identifier: str
) -> None:
    assert list(encoder._pieces.ids_of(identifier)) == library.encode(identifier, add_special_tokens=False).ids


@pytest.mark.parametrize("name", ["model.onnx", "pieces.bin", "tokenizer.json"])
@pytest.mark.parametrize("place", [0, 5000, -1])
def test_a_changed_byte_of_the_model_is_refused(tampered: Callable[[str, int], Path], name: str, place: int) -> None:
    encoder = BundledEncoder(tampered(name, place))
    with pytest.raises(ModelDamaged, match=name):
        encoder.encode_query(count_identifiers("sign the naïve cookie"))
    with pytest.raises(ModelDamaged, match=name):
        encoder.encode(bag_texts([count_identifiers("sign the naïve cookie")]))


@pytest.mark.parametrize("name", ["model.onnx", "pieces.bin", "tokenizer.json"])
def test_the_check_compares_the_sha256_of_every_file(tampered: Callable[[str, int], Path], name: str) -> None:
    folder = tampered(name, 0)
    (folder / name).write_bytes((bundled("models") / name).read_bytes())
    BundledEncoder(folder).check()
    card = json.loads((folder / "card.json").read_text())
    card["files"][name]["sha256"] = "0" * 64
    (folder / "card.json").write_text(json.dumps(card))
    with pytest.raises(ModelDamaged, match=name):
        BundledEncoder(folder).check()


def test_ascii_words_need_no_tokenizer(tampered: Callable[[str, int], Path]) -> None:
    encoder = BundledEncoder(tampered("tokenizer.json", 0))
    assert encoder.encode_query(count_identifiers("sign the cookie")).any()


def test_words_that_are_not_ascii_need_no_vocabulary_of_the_library() -> None:
    rules, member, _ = (bundled("models") / "tokenizer.json").read_bytes().partition(b'"model":')
    pieces = WordPieces(longest_piece_in({"naïve": 7, "##s": 8}), 1, 40, lambda: rules + member + b"unread")
    assert pieces.ids_of("NaïveNaïves") == (7, 7, 8)


def test_a_card_that_does_not_match_the_model_is_refused_without_a_crash(tmp_path: Path) -> None:
    shutil.copytree(bundled("models"), tmp_path / "models")
    card = (bundled("models") / "card.json").read_bytes()
    refused = 0
    for place in range(len(card)):
        (tmp_path / "models" / "card.json").write_bytes(card[:place] + bytes([card[place] ^ 1]) + card[place + 1 :])
        try:
            BundledEncoder(tmp_path / "models")
        except ModelDamaged:
            refused += 1
    assert refused > 200
    facts = json.loads(card)
    for name, value in (("table_offset", 10**9), ("scale_offset", 7_100_000), ("vocabulary", 0), ("dimensions", 10**6)):
        (tmp_path / "models" / "card.json").write_text(json.dumps(facts | {name: value}))
        with pytest.raises(ModelDamaged):
            BundledEncoder(tmp_path / "models").encode_query(count_identifiers("sign the cookie"))


@pytest.mark.parametrize("name", ["model.onnx", "pieces.bin", "tokenizer.json", "card.json"])
def test_a_missing_file_of_the_model_is_refused(tampered: Callable[[str, int], Path], name: str) -> None:
    folder = tampered("model.onnx", 0)
    (folder / name).unlink()
    with pytest.raises(ModelDamaged):
        BundledEncoder(folder).encode_query(count_identifiers("sign"))


def test_the_card_describes_the_files_in_its_folder() -> None:
    card = json.loads((bundled("models") / "card.json").read_text())
    for name, facts in card["files"].items():
        assert (bundled("models") / name).stat().st_size == facts["bytes"]


def test_the_fingerprint_identifies_model_and_preparation(encoder: BundledEncoder) -> None:
    name, digest, version = encoder.fingerprint.split(":")
    assert name
    assert len(digest) == 16
    assert version.isdigit()
    assert BundledEncoder().fingerprint == encoder.fingerprint


def test_the_graph_in_the_file_gives_the_same_vectors(encoder: BundledEncoder) -> None:
    import onnxruntime

    counted = [count_identifiers(text) for text in ("parse parse header", "def getUser(self): return self.user")]
    session = onnxruntime.InferenceSession(str(bundled("models") / "model.onnx"), providers=["CPUExecutionProvider"])
    for text, vector in zip(counted, encoder.encode(bag_texts(counted)).vectors, strict=True):
        pieces = encoder._piece_ids.count(bag_texts([text]))
        weights = (1.0 + np.log(pieces.counts)).astype(np.float32)
        feed = {"input_ids": pieces.ids[None], "token_weight": weights[None]}
        assert np.abs(session.run(None, feed)[0][0] - vector).max() < 1e-5


def test_the_runtime_contains_no_uploader() -> None:
    spec = importlib.util.find_spec("onnxruntime")
    assert spec is not None
    assert spec.origin is not None
    libraries = [
        path for path in (Path(spec.origin).parent / "capi").iterdir() if ".so" in path.name or ".dylib" in path.name
    ]
    assert libraries
    for library in libraries:
        assert b"events.data.microsoft.com" not in library.read_bytes(), library.name


def test_embedding_imports_neither_onnxruntime_nor_tokenizers() -> None:
    program = (
        "import sys\nfrom gitmem.embedding.bundled import BundledEncoder\nfrom gitmem.words import count_identifiers\n"
        "from gitmem.identifier_counts import bag_texts\n"
        "text = count_identifiers('where is getUser signed')\n"
        "BundledEncoder().encode_query(text)\nBundledEncoder().encode(bag_texts([text]))\n"
        "print([name for name in ('onnxruntime', 'tokenizers') if name in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_concurrent_threads_get_the_same_vectors_as_one(encoder: BundledEncoder) -> None:
    fresh = BundledEncoder()
    queries = [count_identifiers(f"parse the header of request {number}") for number in range(8)]
    vectors: dict[int, np.ndarray[tuple[int], np.dtype[np.float32]]] = {}
    threads = [
        threading.Thread(target=lambda number=number: vectors.__setitem__(number, fresh.encode_query(queries[number])))
        for number in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number, text in enumerate(queries):
        assert np.array_equal(vectors[number], encoder.encode_query(text))


@many
@given(seed=st.integers(0, 2**32 - 1), width=st.sampled_from([8, 64, 256]), rows=st.integers(0, 20))
def test_quantisation_errors_are_at_most_half_a_scale(seed: int, width: int, rows: int) -> None:
    generator = np.random.default_rng(seed)
    vectors = generator.standard_normal((rows, width)).astype(np.float32)
    vectors[: rows // 4] = 0
    quantised = quantise(vectors)
    assert quantised.vectors.dtype == np.int8
    back = quantised.vectors.astype(np.float32) * quantised.scales[:, None]
    assert (np.abs(back - vectors) <= quantised.scales[:, None] / 2 + 1e-6).all()
    assert (np.abs(quantised.vectors) <= 127).all()
    assert not quantised.vectors[: rows // 4].any()
