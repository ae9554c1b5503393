"""Words to the model's word pieces: greedy longest match from the left (WordPiece).

Words in plain ASCII are split here, from the vocabulary alone, and remembered. Any other word goes to the `tokenizers`
library, which knows the Unicode rules; it is imported only then. Both give what the library gives for the whole text.
"""

import json
from functools import cached_property
from typing import Any

from gitmem.words import MAX_IDENTIFIER, split_identifier

_CONTINUES = "##"
_CACHE_LIMIT = 200_000


class Pieces:
    """The vocabulary of one tokenizer file."""

    def __init__(self, tokenizer_json: bytes) -> None:
        self._source = tokenizer_json
        model = json.loads(tokenizer_json)["model"]
        self._vocabulary: dict[str, int] = model["vocab"]
        self._unknown: int = self._vocabulary[model["unk_token"]]
        self._longest_word: int = model["max_input_chars_per_word"]
        self._seen: dict[str, tuple[int, ...]] = {}

    def of_identifier(self, identifier: str) -> tuple[int, ...]:
        """Piece ids of an identifier's parts, in order, repeats kept."""
        found = self._seen.get(identifier)
        if found is None:
            if len(self._seen) >= _CACHE_LIMIT:
                self._seen.clear()
            found = self._seen[identifier] = self._split(identifier[:MAX_IDENTIFIER])
        return found

    def _split(self, identifier: str) -> tuple[int, ...]:
        if not identifier.isascii():
            return tuple(self._library.encode(identifier, add_special_tokens=False).ids)
        return tuple(piece for part in split_identifier(identifier) for piece in self._split_word(part.lower()))

    def _split_word(self, word: str) -> list[int]:
        if len(word) > self._longest_word:
            return [self._unknown]
        pieces, start, prefix = [], 0, ""
        while start < len(word):
            end = len(word)
            while end > start and prefix + word[start:end] not in self._vocabulary:
                end -= 1
            if end == start:
                return [self._unknown]
            pieces.append(self._vocabulary[prefix + word[start:end]])
            start, prefix = end, _CONTINUES
        return pieces

    @cached_property
    def _library(self) -> Any:
        from tokenizers import Tokenizer

        return Tokenizer.from_str(self._source.decode("utf-8"))
