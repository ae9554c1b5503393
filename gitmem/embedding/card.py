"""The card of a model: what its files must be. Reading it loads neither the model nor what prepares its texts."""

import json
from pathlib import Path
from typing import Any, Final

from gitmem.errors import ModelDamaged
from gitmem.fsio import read_file

PREPARATION: Final = 1
"""Version of how a text becomes token weights; part of the fingerprint."""


class Card:
    """`fingerprint` names model, weights and text preparation, `dimensions` is the length of a vector."""

    def __init__(self, folder: Path) -> None:
        data = read_file(folder / "card.json")
        if data is None:
            raise ModelDamaged(f"the model is missing from `{folder}`", hint="install gitmem again")
        try:
            self.fields: dict[str, Any] = json.loads(data)
            weights = self.fields["files"]["model.onnx"]["sha256"][:16]
            self.fingerprint = f"{self.fields['name']}:{weights}:{PREPARATION}"
            self.dimensions = int(self.fields["dimensions"])
        except (ValueError, KeyError, TypeError) as problem:
            raise ModelDamaged(f"the card in `{folder}` cannot be read", hint="install gitmem again") from problem
