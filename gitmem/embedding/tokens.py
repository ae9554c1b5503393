"""Where the bundled model's tokens lie in a text. A token is a word piece; spaces and punctuation between are none."""

from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from gitmem.embedding.card import Card
from gitmem.errors import ModelDamaged
from gitmem.fsio import read_file
from gitmem.paths import bundled

_SLAB: Final = 1 << 16
"""Characters that are split at once: the library answers with an object a token."""


class TokenCounter:
    """Finds the tokens of texts; `name` is that of the model whose tokens they are."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder or bundled("models")
        self.name = Card(self._folder).name

    def starts(self, text: str) -> list[int]:
        """The character each token begins with, in order."""
        return [slab.offset + start for slab in _slabs(text) for start, _ in self._split(slab.text)]

    def _split(self, text: str) -> list[tuple[int, int]]:
        offsets: list[tuple[int, int]] = _load_library(self._folder).encode(text, add_special_tokens=False).offsets
        return offsets


@cache
def _load_library(folder: Path) -> Any:
    """What splits texts by a model's vocabulary; loading it costs as much as splitting 300,000 characters."""
    from tokenizers import Tokenizer

    data = read_file(folder / "tokenizer.json")
    if data is None:
        raise ModelDamaged(f"`{folder / 'tokenizer.json'}` is gone", hint="install gitmem again")
    return Tokenizer.from_str(data.decode("utf-8"))


class _Slab(NamedTuple):
    """A part of a text and where it begins."""

    offset: int
    text: str


def _slabs(text: str) -> list[_Slab]:
    """Parts that begin behind white space, where no token crosses; a part without any is as long as it is."""
    slabs = []
    start = 0
    while start < len(text):
        end = min(start + _SLAB, len(text))
        while end < len(text) and not text[end - 1].isspace():
            end += 1
        slabs.append(_Slab(start, text[start:end]))
        start = end
    return slabs
