"""Locate the bundled model's tokens in a text.

A token is a word piece. Spaces and punctuation between words belong to no token.
"""

import re
from functools import cache
from pathlib import Path
from typing import Final

from gitmem.embedding.card import Card
from gitmem.embedding.pieces import WordPieces, longest_piece_in
from gitmem.embedding.vocabulary import Vocabulary
from gitmem.errors import ModelDamaged
from gitmem.fsio import read_file
from gitmem.paths import bundled

_IDENTIFIER: Final = re.compile(r"\w+")
_MAX_CACHED: Final = 200_000
"""Distinct words whose tokens are cached while one text is scanned. Most words of a text occur repeatedly."""


class TokenCounter:
    """Locates tokens. `name` is the name of the model that defines them."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder or bundled("models")
        self.name = Card(self._folder).name

    def starts(self, text: str) -> list[int]:
        """Return the offset of the first character of each token, in order."""
        pieces = _load_pieces(self._folder)
        cached: dict[str, tuple[int, ...]] = {}
        starts: list[int] = []
        for match in _IDENTIFIER.finditer(text):
            word, at = match.group(), match.start()
            offsets = cached.get(word)
            if offsets is None:
                offsets = pieces.offsets_in(word)
                if len(cached) < _MAX_CACHED:
                    cached[word] = offsets
            if offsets == (0,):  # the common case of one token, without building a list
                starts.append(at)
            else:
                starts += [at + start for start in offsets]
        return starts


@cache
def _load_pieces(folder: Path) -> WordPieces:
    """Load a model's vocabulary as a dictionary."""
    card = Card(folder)
    longest = longest_piece_in(Vocabulary(_read(folder, "pieces.bin")).load())
    return WordPieces(longest, card.unknown, card.longest_word, lambda: _read(folder, "tokenizer.json"))


def _read(folder: Path, name: str) -> bytes:
    data = read_file(folder / name)
    if data is None:
        raise ModelDamaged(f"`{folder / name}` is missing")
    return data
