"""Training on an artificial language. Needs the packages in `models/recipe/requirements.txt`."""

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

from gitmem.embedding.bundled import BundledEncoder
from gitmem.identifier_counts import bag_texts
from gitmem.words import count_identifiers
from models.recipe.bags import Corpus, encode_records, make_bags
from models.recipe.evaluate import measure_pairs
from models.recipe.parts import hash_grams
from models.recipe.records import Record, get_files, iter_records
from models.recipe.settings import Settings
from models.recipe.tokenizer import PADDING, pieces_of, texts_to_learn
from tests.models.synthetic import HashEncoder, small_tokenizer, write_pairs

for module in ("torch", "onnx", "safetensors", "snowballstemmer"):
    pytest.importorskip(module, reason=f"{module}, which only training needs, is not installed")

import snowballstemmer  # noqa: E402
import torch  # noqa: E402

from models.recipe.build import build  # noqa: E402
from models.recipe.start import make_start, principal_axes, rarity, regress, sample_texts, unit  # noqa: E402
from models.recipe.train import Plan, Table, contrastive_loss, rate_at, train, train_once  # noqa: E402

SMALL = Settings(
    vocabulary=500,
    min_frequency=2,
    dimensions=24,
    start_queries=120,
    start_codes=60,
    start_batch=32,
    start_epochs=3,
    batch=60,
    group=20,
    epochs=20,
    learning_rate=0.02,
    seeds=(0, 1),
)


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pairs")
    write_pairs(folder)
    return folder


@pytest.fixture(scope="module")
def records(folder: Path) -> list[Record]:
    return list(iter_records(get_files(folder, "train")))


@pytest.fixture(scope="module")
def pieces(records: list[Record]) -> list[str]:
    return pieces_of(small_tokenizer(list(texts_to_learn(records))))


@pytest.fixture(scope="module")
def corpus(records: list[Record]) -> Corpus:
    return encode_records(small_tokenizer(list(texts_to_learn(records))), records)


@pytest.fixture(scope="module")
def start(pieces: list[str]) -> np.ndarray:
    rows = np.random.default_rng(3).standard_normal((len(pieces), 24)).astype(np.float32)
    rows[PADDING] = 0
    return rows


def test_the_built_model_finds_code_that_shares_no_word_with_the_query(folder: Path, tmp_path: Path) -> None:
    docstrings = tmp_path / "docstrings.jsonl"
    held_out = list(iter_records(get_files(folder, "heldout")))
    docstrings.write_text(
        "".join(json.dumps({**pair._asdict(), "repo": "made-up", "query": pair.query}) + "\n" for pair in held_out)
    )
    build(tmp_path / "out", folder, docstrings, HashEncoder(), SMALL)
    figures = json.loads((tmp_path / "out/figures.json").read_text())
    assert figures["pairs/code"]["mrr"] > 0.8
    assert figures["docstrings/path"]["queries"] == len(held_out)
    encoder = BundledEncoder(tmp_path / "out")
    codes = encoder.encode(bag_texts([count_identifiers(pair.code) for pair in held_out])).vectors
    queries = np.stack([encoder.encode_query(count_identifiers(pair.query)) for pair in held_out])
    assert np.mean((queries @ codes.T).argmax(axis=1) == np.arange(len(held_out))) > 0.7
    untrained = dataclasses.replace(SMALL, epochs=0.4, learning_rate=0.0, seeds=(0,))
    build(tmp_path / "control", folder, None, HashEncoder(), untrained)
    assert json.loads((tmp_path / "control/figures.json").read_text())["pairs/code"]["mrr"] < 0.4


def test_the_seed_determines_the_table(corpus: Corpus, start: np.ndarray, pieces: list[str]) -> None:
    short = dataclasses.replace(SMALL, epochs=3)
    first = train_once(corpus, start, pieces, short, 0)
    again = train_once(corpus, start, pieces, short, 0)
    other = train_once(corpus, start, pieces, short, 1)
    assert first.losses == again.losses
    assert np.array_equal(first.table, again.table)
    assert not np.array_equal(first.table, other.table)
    averaged = train(corpus, start, pieces, short)
    assert np.allclose(averaged, (first.table + other.table) / 2, atol=1e-6)


@pytest.mark.parametrize("projection", [False, True])
@pytest.mark.parametrize("grams", [False, True])
@pytest.mark.parametrize("stems", [False, True])
def test_the_loss_falls_with_every_combination_of_parts(
    corpus: Corpus, start: np.ndarray, pieces: list[str], stems: bool, grams: bool, projection: bool
) -> None:
    settings = dataclasses.replace(SMALL, stems=stems, grams=grams, projection=projection, epochs=8, backward=0.3)
    trained = train_once(corpus, start, pieces, settings, 0)
    assert np.mean(trained.losses[-3:]) < 0.7 * np.mean(trained.losses[:3])
    assert not trained.table[PADDING].any()
    assert measure_pairs(trained.table, corpus)["pairs/code"].mrr > measure_pairs(start, corpus)["pairs/code"].mrr


def test_the_collapsed_table_embeds_like_its_parts(corpus: Corpus, start: np.ndarray, pieces: list[str]) -> None:
    settings = dataclasses.replace(SMALL, stems=True, grams=True, projection=True)
    table = Table(start, pieces, settings)
    random = torch.Generator().manual_seed(5)
    with torch.no_grad():
        for values in table.parameters:
            values.add_(torch.randn(values.shape, generator=random))
    own, stems, grams, matrix = (values.detach().numpy() for values in table.parameters)
    stem = snowballstemmer.stemmer("english").stemWord
    bags = hash_grams(pieces)
    collapsed = table.collapse()
    places: dict[str, int] = {}
    for number, piece in enumerate(pieces):
        word = piece.removeprefix("##")
        root = stem(word) if len(word) > 3 and word.isascii() and word.isalpha() else word
        row = own[number] + stems[places.setdefault(root, len(places))] + start[number] @ matrix
        span = slice(bags.starts[number], bags.starts[number + 1])
        if bags.sizes[number]:
            row = row + np.average(grams[bags.ids[span]], axis=0, weights=bags.counts[span])
        assert np.allclose(collapsed[number], row, atol=1e-4)
    sample = corpus.code.take(np.arange(20))
    (vectors,) = table.embed(sample)
    sums = np.add.reduceat(collapsed[sample.ids] * sample.weights[:, None], sample.offsets)
    expected = sums / np.linalg.norm(sums, axis=1, keepdims=True)
    assert np.allclose(vectors.detach().numpy(), expected, atol=1e-5)


def test_equal_queries_are_not_negatives_of_each_other() -> None:
    vectors = torch.eye(3)
    keys = torch.tensor([1, 2, 1])
    swapped = vectors[[2, 1, 0]]
    settings = dataclasses.replace(SMALL, temperature=1.0, backward=0.0)
    alone = -np.log(1 / (1 + np.e))
    middle = -np.log(np.e / (2 + np.e))
    assert contrastive_loss(swapped, vectors, keys, settings).item() == pytest.approx(
        (2 * np.log(2) + middle) / 3, abs=1e-6
    )
    assert contrastive_loss(swapped, vectors, torch.arange(3), settings).item() == pytest.approx(
        (2 * (alone + np.log((2 + np.e) / (1 + np.e))) + middle) / 3, abs=1e-6
    )


def test_backward_retrieves_the_query_of_a_code() -> None:
    random = torch.Generator().manual_seed(1)
    queries, codes = (torch.randn(6, 4, generator=random) for _ in range(2))
    keys = torch.arange(6)
    forward = dataclasses.replace(SMALL, backward=0.0)
    both = dataclasses.replace(SMALL, backward=0.25)
    there = contrastive_loss(queries, codes, keys, forward).item()
    back = contrastive_loss(codes, queries, keys, forward).item()
    assert contrastive_loss(queries, codes, keys, both).item() == pytest.approx(0.75 * there + 0.25 * back, rel=1e-5)


def test_a_batch_consists_of_groups_of_one_package(records: list[Record], pieces: list[str]) -> None:
    tokenizer = small_tokenizer(list(texts_to_learn(records)))
    spread = [record._replace(package=f"npm:{place % 3}") for place, record in enumerate(records)]
    corpus = encode_records(tokenizer, spread)
    settings = dataclasses.replace(SMALL, batch=20, group=20, name_share=0.5, name_prefix=0.5)
    plan = Plan(corpus, settings)
    assert plan.steps == int(20 * (len(records) + len(records) // 2) / 20)
    number = {key: place for place, key in enumerate(corpus.query_key.tolist())}
    epoch = [batch for batch, _ in zip(plan.batches(np.random.default_rng(0)), range(13), strict=False)]
    by_name = [key for batch in epoch for key in batch.keys.tolist() if key < 0]
    by_query = [key for batch in epoch for key in batch.keys.tolist() if key >= 0]
    assert len(set(by_name)) == len(by_name) > 0
    assert len(set(by_query)) == len(by_query) > 0
    for batch in epoch:
        members = [number[key] if key >= 0 else -1 - key for key in batch.keys.tolist()]
        assert len(batch.queries.offsets) == len(batch.codes.offsets) == 20
        packages = corpus.package[members]
        assert max(np.bincount(packages)) >= 7
    mixed = [len(set(corpus.package[[number[key] for key in batch.keys.tolist() if key >= 0]])) for batch in epoch]
    assert min(mixed) == 1


def test_the_learning_rate_rises_and_falls() -> None:
    rates = [rate_at(step, 100) for step in range(100)]
    assert rates[0] == pytest.approx(1 / 8, rel=0.01)
    assert max(rates) == rates[7]
    assert rates[-1] == pytest.approx(0.02, abs=0.001)


def test_the_start_table_has_a_row_for_each_piece(records: list[Record]) -> None:
    tokenizer = small_tokenizer(list(texts_to_learn(records)))
    texts = sample_texts(iter(records), 100, 50)
    assert texts == sample_texts(reversed(records), 100, 50)
    assert len(texts) == 150
    assert sum("\n" in text for text in texts) == 50
    start = make_start(HashEncoder(), tokenizer, texts, SMALL)
    assert start.shape == (tokenizer.get_vocab_size(), 24)
    assert not start[PADDING].any()


def test_regression_turns_sums_towards_their_targets() -> None:
    random = np.random.default_rng(0)
    bags = make_bags([random.choice(np.arange(1, 60), 8, replace=False).tolist() for _ in range(200)] + [[]])
    truth = random.standard_normal((60, 8)).astype(np.float32)
    targets = unit(np.array([truth[bags.ids[b:e]].sum(0) for b, e in zip(bags.starts, bags.starts[1:], strict=False)]))
    rows = random.standard_normal((60, 8)).astype(np.float32) * 0.1
    regressed = regress(rows.copy(), bags, targets, dataclasses.replace(SMALL, start_epochs=60, start_rate=0.02))

    def similarity(table: np.ndarray) -> float:
        sums = unit(np.add.reduceat(table[bags.ids], bags.starts[:-2]))
        return float((sums * targets[:-1]).sum(1).mean())

    assert similarity(rows) < 0.3
    assert similarity(regressed) > 0.95


def test_axes_are_the_directions_of_most_variance() -> None:
    random = np.random.default_rng(0)
    vectors = (random.standard_normal((400, 3)) * [0.1, 5, 1]).astype(np.float32)
    axes = principal_axes(vectors, 2)
    assert np.allclose(np.abs(axes.T), [[0, 1, 0], [0, 0, 1]], atol=0.05)
    with pytest.raises(ValueError, match="axes"):
        principal_axes(vectors, 4)


def test_a_rare_piece_starts_longer() -> None:
    lengths = rarity(make_bags([[1, 2], [1], [1], [1], [1]]), 4)
    assert lengths[1] == pytest.approx(0.1)
    assert lengths[1] < lengths[2] < lengths[3]
