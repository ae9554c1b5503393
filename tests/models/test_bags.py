"""Reading pairs from disk as bags of word pieces."""

import json
import lzma
import math
from pathlib import Path

import numpy as np
import pytest

from gitmem.embedding.pieces import WordPieces, longest_piece_in
from gitmem.words import stem
from models.recipe.bags import MAX_NAME, MAX_TOKENS, encode_records, join, make_bags
from models.recipe.mine import record
from models.recipe.pairs import Pair
from models.recipe.parts import GRAM_BUCKETS, hash_grams, number_stems
from models.recipe.records import Record, get_files, iter_records
from models.recipe.tokenizer import PADDING, pieces_of, texts_to_learn
from tests.models.synthetic import small_tokenizer, write_pairs


@pytest.fixture
def records(tmp_path: Path) -> list[Record]:
    write_pairs(tmp_path)
    return list(iter_records(get_files(tmp_path, "train")))


def test_pairs_are_read_as_written_by_mining(tmp_path: Path) -> None:
    pair = Pair("Opens it.", "def f(): pass", "python", "doc", "a/b.py", "A.f", "digest")
    with lzma.open(tmp_path / "train.jsonl.xz", "wt") as file:
        file.write(record(pair, "pypi:a") + "\n")
    (tmp_path / "train-more.jsonl").write_text(record(pair._replace(name="", kind="module"), "npm:b") + "\n")
    more, first = iter_records(get_files(tmp_path, "train"))
    assert first == Record("Opens it.", "def f(): pass", "doc", "a/b.py", "A.f", "pypi:a")
    assert more == Record("Opens it.", "def f(): pass", "module", "a/b.py", "", "npm:b")
    with pytest.raises(FileNotFoundError, match="heldout"):
        get_files(tmp_path, "heldout")


def test_gitmem_splits_words_like_the_trained_tokenizer(records: list[Record]) -> None:
    tokenizer = small_tokenizer(list(texts_to_learn(records)), 400)
    assert [token.content for token in tokenizer.get_added_tokens_decoder().values()] == ["[PAD]", "[UNK]"]
    assert tokenizer.to_str() == small_tokenizer(list(texts_to_learn(records)), 400).to_str()
    pieces = pieces_of(tokenizer)
    assert pieces[PADDING] == "[PAD]"
    assert len(pieces) <= 400
    assert {"acquire", "socket", "connection"} <= set(pieces)
    unknown = tokenizer.get_vocab()["[UNK]"]
    word_pieces = WordPieces(longest_piece_in(tokenizer.get_vocab()), unknown, 40, tokenizer.to_str().encode)
    for text in ("acquireSocket", "HTTPServer2_timer", "run", "ünïcode", "x" * 41, "checks"):
        assert list(word_pieces.ids_of(text)) == tokenizer.encode(text, add_special_tokens=False).ids
    assert tokenizer.encode("acquireHTTPSocket7").tokens[0] == "acquire"


def test_a_corpus_has_five_views_of_each_pair(records: list[Record]) -> None:
    tokenizer = small_tokenizer(list(texts_to_learn(records)), 600)
    long = Record("Opens THE word.", "token " * 2 + "bitmap " * 400, "doc", "a.py", "Bitmap.token_tally_" * 5, "npm:b")
    same = long._replace(query="opens the word.", name="", package="npm:c")
    corpus = encode_records(tokenizer, [*records, long, same])
    last = len(records)
    numbers = {piece: number for number, piece in enumerate(pieces_of(tokenizer))}

    def bag(view: str, pair: int) -> dict[int, int]:
        bags = getattr(corpus, view)
        span = slice(bags.starts[pair], bags.starts[pair + 1])
        return dict(zip(bags.ids[span].tolist(), bags.counts[span].tolist(), strict=True))

    assert bag("query", last) == {numbers[word]: 1 for word in ("opens", "the", "word")}
    assert bag("code", last) == {numbers["token"]: 2, numbers["bitmap"]: MAX_TOKENS - 2}
    assert sum(bag("name", last).values()) == MAX_NAME
    assert sum(bag("named", last).values()) == MAX_TOKENS
    assert set(bag("named", last)) == {numbers[word] for word in ("token", "bitmap", "tally")}
    assert bag("masked", last) == {}
    assert bag("masked", last + 1) == bag("code", last + 1) == bag("named", last + 1)
    assert corpus.package[:last].tolist() == [0] * last
    assert corpus.package[last:].tolist() == [1, 2]
    assert corpus.query_key[last] == corpus.query_key[last + 1]
    assert len(set(corpus.query_key[:last].tolist())) == last
    assert corpus.query_key.min() >= 0


def test_bags_are_taken_in_any_order_and_joined() -> None:
    bags = make_bags([[5, 7, 5], [], [9]])
    selected = bags.take(np.array([2, 1, 0]))
    assert selected.ids.tolist() == [9, 5, 7]
    assert selected.offsets.tolist() == [0, 1, 1]
    assert selected.weights.tolist() == pytest.approx([1, 1 + math.log(2), 1])
    joined = join([selected, bags.take(np.array([0]))])
    assert joined.ids.tolist() == [9, 5, 7, 5, 7]
    assert joined.offsets.tolist() == [0, 1, 1, 3]


def test_pieces_of_one_stem_share_a_number() -> None:
    stems = number_stems(["[PAD]", "caches", "##caching", "cached", "ca", "caca"], stem).tolist()
    assert stems[1] == stems[2] == stems[3]
    assert len(set(stems)) == 4
    assert sorted(set(stems)) == [0, 1, 2, 3]


def test_character_n_grams_mark_the_start_of_a_word() -> None:
    grams = hash_grams(["[PAD]", "abc", "parse", "##parse", "parses"])
    assert grams.sizes.tolist() == [0, 0, 7, 5, 9]
    bags = [set(grams.ids[begin:end].tolist()) for begin, end in zip(grams.starts, grams.starts[1:], strict=False)]
    assert bags[3] < bags[2]
    assert bags[2] & bags[4]
    assert grams.ids.max() < GRAM_BUCKETS


def test_json_lines_with_other_fields_are_refused(tmp_path: Path) -> None:
    (tmp_path / "train.jsonl").write_text(json.dumps({"query": "a"}) + "\n")
    with pytest.raises(KeyError):
        list(iter_records(get_files(tmp_path, "train")))
