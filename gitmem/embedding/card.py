"""The card of a model: what its files must be. Reading it loads neither the model nor what prepares its texts."""

import json
from pathlib import Path
from typing import Any, Final

from gitmem.errors import ModelDamaged
from gitmem.fsio import read_file

FILES: Final = ("model.onnx", "pieces.bin", "tokenizer.json")
PREPARATION: Final = 1
"""Version of how a text becomes token weights; part of the fingerprint."""


class Card:
    """`fingerprint` names model, weights and text preparation, `dimensions` is the length of a vector.

    `name` is the model's. `sha256` and `crc32` are those of the files; the table of `vocabulary` vectors and its
    scales lie at the two offsets of the model's file. Words of more than `longest_word` characters are the piece
    `unknown`.
    """

    def __init__(self, folder: Path) -> None:
        data = read_file(folder / "card.json")
        if data is None:
            raise ModelDamaged(f"the model is missing from `{folder}`")
        try:
            self._load(json.loads(data))
        except (ValueError, KeyError, TypeError, AttributeError) as problem:
            raise ModelDamaged(f"the card in `{folder}` cannot be read") from problem

    def _load(self, fields: dict[str, Any]) -> None:
        files = {name: fields["files"][name] for name in FILES}
        self.sha256 = {name: str(facts["sha256"]) for name, facts in files.items()}
        self.crc32 = {name: int(facts["crc32"]) for name, facts in files.items()}
        self.vocabulary, self.dimensions = int(fields["vocabulary"]), int(fields["dimensions"])
        self.table_offset, self.scale_offset = int(fields["table_offset"]), int(fields["scale_offset"])
        self.unknown, self.longest_word = int(fields["unknown"]), int(fields["longest_word"])
        self.name = str(fields["name"])
        self.fingerprint = f"{fields['name']}:{self.sha256['model.onnx'][:16]}:{PREPARATION}"
