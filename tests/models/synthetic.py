"""A small artificial language: queries and code share no word, but each word of one corresponds to one of the other."""

import json
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from models.recipe.tokenizer import alphabet_of, train_tokenizer

VERBS = {
    "opens": "acquire",
    "closes": "dispose",
    "counts": "tally",
    "sorts": "sort_postings",
    "copies": "duplicate",
    "deletes": "purge",
    "finds": "lookup",
    "prints": "render",
    "checks": "validate",
    "saves": "persist",
    "merges": "unify",
    "splits": "partition",
}
NOUNS = {
    "connection": "socket",
    "picture": "bitmap",
    "word": "token",
    "number": "integer",
    "person": "account",
    "letter": "glyph",
    "message": "packet",
    "folder": "directory",
    "price": "amount",
    "street": "address",
    "colour": "pigment",
    "machine": "server",
    "question": "query",
    "answer": "reply",
    "window": "viewport",
    "button": "widget",
    "clock": "timer",
    "table": "relation",
    "border": "margin",
    "error": "fault",
}
"""Words of queries and the corresponding words of code."""

CODE = """def run(self, {thing}):
    state = {verb}({thing})
    log.debug(self, state)
    return self.emit(state) or None
"""
HELD_OUT = 4
"""Every fourth pair is held out: training contains both of its words, but never together."""


def pairs() -> list[dict[str, str]]:
    """Return 240 pairs as objects of a file of pairs: every verb with every noun."""
    return [
        {
            "q": f"{word.capitalize()} the {noun}.",
            "c": CODE.format(verb=verb, thing=thing),
            "lang": "python",
            "type": "doc",
            "path": "src/run.py",
            "name": f"Runner.{verb}_{thing}",
            "pkg": "pypi:made-up",
        }
        for word, verb in VERBS.items()
        for noun, thing in NOUNS.items()
    ]


def write_pairs(folder: Path) -> None:
    """Write `train.jsonl` and `heldout.jsonl`."""
    held_out = [(number * 7) % 12 % HELD_OUT == (number // 20) % HELD_OUT for number in range(len(pairs()))]
    for side, is_held_out in (("train", False), ("heldout", True)):
        lines = [json.dumps(pair) for pair, out in zip(pairs(), held_out, strict=True) if out == is_held_out]
        (folder / f"{side}.jsonl").write_text("\n".join(lines) + "\n")


def small_tokenizer(texts: Sequence[str], size: int = 500) -> Tokenizer:
    """Train a tokenizer on few texts."""
    return train_tokenizer(texts, alphabet_of(texts), size, 2)


class HashEncoder:
    """Fake sentence encoder with a random direction for each word, without any meaning."""

    def embed(self, texts: Sequence[str], max_tokens: int) -> NDArray[np.float32]:
        sums = [
            sum((_direction(word) for word in text.lower().split()[:max_tokens]), np.zeros(48)) + 1e-3 for text in texts
        ]
        return np.array([row / np.linalg.norm(row) for row in sums], np.float32)


def _direction(word: str) -> NDArray[np.float64]:
    return np.random.default_rng(zlib.crc32(word.encode())).standard_normal(48)
