"""Card of a model: the expected checksums and layout of its files. Reading it loads neither model nor tokenizer."""

import json
from pathlib import Path
from typing import Any, Final

from gitmem.errors import ModelDamaged
from gitmem.fsio import read_file

FILES: Final = ("model.onnx", "pieces.bin", "tokenizer.json")
PREPARATION_VERSION: Final = 2
"""Version of the conversion from text to a sum of vectors. Part of the fingerprint."""


class Card:
    """Contents of `card.json`.

    - `name` is the name of the model. `fingerprint` identifies model, weights and text preparation.
    - `dimensions` is the length of a vector, and `vocabulary` the number of vectors.
    - `sha256` and `crc32` are the checksums of the files.
    - `table_offset` and `scale_offset` are the offsets of the vectors and of their scales in `model.onnx`.
    - `unknown` is the id of the piece for unknown words and for those of more than `longest_word` characters.
    """

    def __init__(self, folder: Path) -> None:
        """Read the card in `folder`. Raises ModelDamaged."""
        data = read_file(folder / "card.json")
        if data is None:
            raise ModelDamaged(f"the model is missing from `{folder}`")
        try:
            self._load(json.loads(data))
        except (ValueError, KeyError, TypeError, AttributeError) as problem:
            raise ModelDamaged(f"cannot read the card in `{folder}`") from problem

    def _load(self, fields: dict[str, Any]) -> None:
        files = {name: fields["files"][name] for name in FILES}
        self.sha256 = {name: str(facts["sha256"]) for name, facts in files.items()}
        self.crc32 = {name: int(facts["crc32"]) for name, facts in files.items()}
        self.vocabulary, self.dimensions = int(fields["vocabulary"]), int(fields["dimensions"])
        self.table_offset, self.scale_offset = int(fields["table_offset"]), int(fields["scale_offset"])
        self.unknown, self.longest_word = int(fields["unknown"]), int(fields["longest_word"])
        self.name = str(fields["name"])
        self.fingerprint = f"{fields['name']}:{self.sha256['model.onnx'][:16]}:{PREPARATION_VERSION}"
