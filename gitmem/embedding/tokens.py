"""Where the bundled model's tokens lie in a text. A token is a word piece; spaces and punctuation between are none."""

import re
from functools import cache
from pathlib import Path
from typing import Final

from gitmem.embedding.card import Card
from gitmem.embedding.pieces import Pieces, longest_of
from gitmem.embedding.vocabulary import Vocabulary
from gitmem.errors import ModelDamaged
from gitmem.fsio import read_file
from gitmem.paths import bundled

_IDENTIFIER: Final = re.compile(r"\w+")
_REMEMBERED: Final = 200_000
"""Different words whose tokens are kept while a text is gone through: most words of a text come again."""


class TokenCounter:
    """Finds the tokens of texts; `name` is that of the model whose tokens they are."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder or bundled("models")
        self.name = Card(self._folder).name

    def starts(self, text: str) -> list[int]:
        """The character each token begins with, in order."""
        pieces = _load_pieces(self._folder)
        seen: dict[str, tuple[int, ...]] = {}
        starts: list[int] = []
        for found in _IDENTIFIER.finditer(text):
            word, at = found.group(), found.start()
            within = seen.get(word)
            if within is None:
                within = pieces.starts_in(word)
                if len(seen) < _REMEMBERED:
                    seen[word] = within
            if within == (0,):
                starts.append(at)
            else:
                starts += [at + start for start in within]
        return starts


@cache
def _load_pieces(folder: Path) -> Pieces:
    """A model's vocabulary as a dictionary."""
    card = Card(folder)
    longest = longest_of(Vocabulary(_read(folder, "pieces.bin")).load())
    return Pieces(longest, card.unknown, card.longest_word, lambda: _read(folder, "tokenizer.json"))


def _read(folder: Path, name: str) -> bytes:
    data = read_file(folder / name)
    if data is None:
        raise ModelDamaged(f"`{folder / name}` is gone")
    return data
