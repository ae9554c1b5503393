"""Write a model with random numbers in place of the rival's, to measure its cost without its weights.

The cost of a static model depends on its shape (vocabulary, width, number format, tokenizer), not on its values. The
folder has the layout of model2vec: `model.safetensors`, `tokenizer.json`, `config.json`.
"""

import argparse
import json
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer, normalizers, pre_tokenizers
from tokenizers.models import WordPiece
from tokenizers.trainers import WordPieceTrainer

VOCABULARY: Final = 62_500
WIDTH: Final = 256
SPECIAL: Final = ["[PAD]", "[UNK]"]
TEXT_LIMIT: Final = 20_000_000
FILE_LIMIT: Final = 200_000


def write_model(folder: Path, texts: list[Path]) -> None:
    """Write a model folder with word pieces learned from the files below `texts` and random numbers."""
    folder.mkdir(parents=True, exist_ok=True)
    train_tokenizer(iter_text(texts)).save(str(folder / "tokenizer.json"), pretty=False)
    dice = np.random.default_rng(1)
    tensors: dict[str, NDArray[Any]] = {
        "embeddings": dice.standard_normal((VOCABULARY, WIDTH)).astype(np.float16),
        "weights": dice.random(VOCABULARY),
    }
    write_safetensors(folder / "model.safetensors", tensors)
    (folder / "config.json").write_text(json.dumps({"normalize": True, "embedding_dtype": "float16"}), encoding="utf-8")


def iter_text(folders: list[Path]) -> Iterator[str]:
    """Yield the text files below the folders, in name order, up to TEXT_LIMIT bytes per folder."""
    for folder in folders:
        left = TEXT_LIMIT
        for path in sorted(folder.rglob("*")):
            if ".git" in path.parts or path.is_symlink() or not path.is_file():
                continue
            data = path.read_bytes()
            if b"\0" in data[:8192] or len(data) > FILE_LIMIT:
                continue
            left -= len(data)
            if left < 0:
                break
            yield data.decode("utf-8", errors="replace")


def train_tokenizer(texts: Iterator[str]) -> Tokenizer:
    """Train a lower-casing WordPiece tokenizer of exactly VOCABULARY pieces; missing ones are filled up."""
    tokenizer = Tokenizer(WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = WordPieceTrainer(
        vocab_size=VOCABULARY, special_tokens=SPECIAL, limit_alphabet=1000, min_frequency=2, show_progress=False
    )
    tokenizer.train_from_iterator(texts, trainer)
    pieces = tokenizer.get_vocab()
    for number in range(len(pieces), VOCABULARY):
        pieces[f"[unused{number}]"] = number
    tokenizer.model = WordPiece(pieces, unk_token="[UNK]", max_input_chars_per_word=100)
    return tokenizer


def write_safetensors(path: Path, tensors: dict[str, NDArray[Any]]) -> None:
    """Write arrays in the safetensors layout: header length, JSON header, then the arrays one after the other."""
    codes = {"float16": "F16", "float32": "F32", "float64": "F64"}
    header: dict[str, object] = {}
    end = 0
    for name, array in tensors.items():
        start, end = end, end + array.nbytes
        header[name] = {"dtype": codes[array.dtype.name], "shape": list(array.shape), "data_offsets": [start, end]}
    packed = json.dumps(header).encode()
    packed += b" " * (-len(packed) % 8)
    with path.open("wb") as out:
        out.write(struct.pack("<Q", len(packed)) + packed)
        for array in tensors.values():
            out.write(array.tobytes())


def main() -> None:
    """Parse the arguments and write the folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="folder to write the model to")
    parser.add_argument("--text", type=Path, nargs="+", required=True, help="folders whose files train the tokenizer")
    options = parser.parse_args()
    write_model(options.out, options.text)


if __name__ == "__main__":
    main()
