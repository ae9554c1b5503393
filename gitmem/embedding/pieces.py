"""Words to the model's word pieces: greedy longest match from the left (WordPiece).

Words in plain ASCII are split here, from the vocabulary alone, and remembered. Any other word goes to the `tokenizers`
library, which knows the Unicode rules; it is imported only then. Both give what the library gives for the whole text.
"""

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

from gitmem.words import MAX_IDENTIFIER, split_identifier

_CONTINUES = "##"
_CACHE_LIMIT = 200_000


def longest_of(vocabulary: Mapping[str, int]) -> Callable[[str], tuple[int, int] | None]:
    """What `Pieces` needs, from pieces and their ids."""

    def longest(text: str) -> tuple[int, int] | None:
        for end in range(len(text), 0, -1):
            piece = vocabulary.get(text[:end])
            if piece is not None:
                return piece, end
        return None

    return longest


class Pieces:
    """How one tokenizer splits words.

    `longest` gives the id and the length of the longest piece that a text begins with, or None; a word of more than
    `longest_word` characters, or with a character that no piece has, is `unknown` as a whole. `load_tokenizer` reads
    the tokenizer's file, for words that are not ASCII.
    """

    def __init__(
        self,
        longest: Callable[[str], tuple[int, int] | None],
        unknown: int,
        longest_word: int,
        load_tokenizer: Callable[[], bytes],
    ) -> None:
        self._longest, self._unknown, self._longest_word = longest, unknown, longest_word
        self._load_tokenizer = load_tokenizer
        self._seen: dict[str, tuple[int, ...]] = {}

    def of_identifier(self, identifier: str) -> tuple[int, ...]:
        """Piece ids of an identifier's parts, in order, repeats kept."""
        found = self._seen.get(identifier)
        if found is None:
            if len(self._seen) >= _CACHE_LIMIT:
                self._seen.clear()
            found = self._seen[identifier] = self._split(identifier[:MAX_IDENTIFIER])
        return found

    def starts_in(self, identifier: str) -> tuple[int, ...]:
        """Where the pieces of an identifier begin in it, in order; however long it is."""
        if not identifier.isascii():
            return tuple(start for start, _ in self._library.encode(identifier, add_special_tokens=False).offsets)
        starts: list[int] = []
        at = 0
        for part in split_identifier(identifier):
            at = identifier.index(part, at)
            starts += [at + start for _, start in self._split_word(part.lower())]
            at += len(part)
        return tuple(starts)

    def _split(self, identifier: str) -> tuple[int, ...]:
        if not identifier.isascii():
            return tuple(self._library.encode(identifier, add_special_tokens=False).ids)
        return tuple(piece for part in split_identifier(identifier) for piece, _ in self._split_word(part.lower()))

    def _split_word(self, word: str) -> list[tuple[int, int]]:
        """The pieces of a word, each with its place in the word."""
        if len(word) > self._longest_word:
            return [(self._unknown, 0)]
        pieces, start, prefix = [], 0, ""
        while start < len(word):
            found = self._longest(prefix + word[start:])
            if found is None or found[1] <= len(prefix):
                return [(self._unknown, 0)]
            pieces.append((found[0], start))
            start, prefix = start + found[1] - len(prefix), _CONTINUES
        return pieces

    @cached_property
    def _library(self) -> Any:
        from tokenizers import Tokenizer

        return Tokenizer.from_str(self._load_tokenizer().decode("utf-8"))
