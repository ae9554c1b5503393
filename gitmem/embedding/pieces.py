"""Split words into the model's word pieces (WordPiece: greedy longest match from the left).

ASCII words are split here, by the vocabulary alone, and cached. All other words are first normalised by the
`tokenizers` library, which knows the Unicode rules and is imported only then. Both give the same pieces as the library
does for the whole text.
"""

import json
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, Final

from gitmem.words import MAX_IDENTIFIER, split_identifier

_CONTINUATION = "##"
"""Prefix of pieces that do not begin a word."""

_MODEL_MEMBER: Final = b'"model":'
"""Member of the tokenizer's file that holds the vocabulary. Before it, no string of the file contains a quote."""

MAX_CACHED: Final = 50_000
"""Words whose pieces are cached while a repository is indexed; some 12 MB. Identifiers consist of few words."""

LongestPiece = Callable[[str], tuple[int, int] | None]
"""Function from a text to id and length of the longest piece that is a prefix of it, None if there is none."""


def longest_piece_in(vocabulary: Mapping[str, int]) -> LongestPiece:
    """Return the search for the longest piece in a dictionary from piece to id."""

    def longest(text: str) -> tuple[int, int] | None:
        # Tries all prefixes from the longest on. Words are short: a trie would save little and would have to be built.
        for end in range(len(text), 0, -1):
            piece = vocabulary.get(text[:end])
            if piece is not None:
                return piece, end
        return None

    return longest


class WordPieces:
    """Splits words like one tokenizer.

    A word of more than `longest_word` characters, or with a character that no piece has, is the piece `unknown` as a
    whole. `load_tokenizer` reads the tokenizer's file, for words that are not ASCII.
    """

    def __init__(
        self,
        longest: LongestPiece,
        unknown: int,
        longest_word: int,
        load_tokenizer: Callable[[], bytes],
        max_cached: int = MAX_CACHED,
    ) -> None:
        self._longest, self._unknown, self._longest_word = longest, unknown, longest_word
        self._max_cached = max_cached
        self._load_tokenizer = load_tokenizer
        self._cache: dict[str, tuple[int, ...]] = {}

    def ids_of(self, identifier: str) -> tuple[int, ...]:
        """Return the piece ids of an identifier's parts, in order and with repetitions. Long identifiers are cut."""
        identifier = identifier[:MAX_IDENTIFIER]
        if not identifier.isascii():
            return self._cached(identifier, self._split_unicode)
        ids: tuple[int, ...] = ()
        for part in split_identifier(identifier):
            ids += self.ids_of_part(part.lower())
        return ids

    def ids_of_part(self, part: str) -> tuple[int, ...]:
        """Return the piece ids of a part of an ASCII identifier, in lower case."""
        return self._cached(part, self._split_alone)

    def _cached(self, word: str, split: Callable[[str], tuple[int, ...]]) -> tuple[int, ...]:
        ids = self._cache.get(word)
        if ids is None:
            if len(self._cache) >= self._max_cached:
                self._cache.clear()
            ids = self._cache[word] = split(word)
        return ids

    def offsets_in(self, identifier: str) -> tuple[int, ...]:
        """Return the offsets at which the pieces of an identifier of any length begin, in order."""
        if not identifier.isascii():
            return tuple(start for start, _ in self._library.encode(identifier, add_special_tokens=False).offsets)
        offsets: list[int] = []
        at = 0
        for part in split_identifier(identifier):
            at = identifier.index(part, at)
            offsets += [at + start for _, start in self._split_word(part.lower())]
            at += len(part)
        return tuple(offsets)

    def _split_unicode(self, identifier: str) -> tuple[int, ...]:
        rules = self._rules
        words = rules.pre_tokenizer.pre_tokenize_str(rules.normalizer.normalize_str(identifier))
        return tuple([piece for word, _ in words for piece, _ in self._split_word(word)])

    def _split_alone(self, word: str) -> tuple[int, ...]:
        return tuple([piece for piece, _ in self._split_word(word)])

    def _split_word(self, word: str) -> list[tuple[int, int]]:
        """Return the pieces of a word, each with its offset in the word."""
        if len(word) > self._longest_word:
            return [(self._unknown, 0)]
        # Greedy matching never backtracks: if the rest has no piece, the whole word is unknown, although another split
        # might exist. The model was trained on pieces found in this way.
        pieces, start, prefix = [], 0, ""
        while start < len(word):
            match = self._longest(prefix + word[start:])
            if match is None or match[1] <= len(prefix):
                return [(self._unknown, 0)]
            pieces.append((match[0], start))
            start, prefix = start + match[1] - len(prefix), _CONTINUATION
        return pieces

    @cached_property
    def _library(self) -> Any:
        from tokenizers import Tokenizer

        return Tokenizer.from_str(self._load_tokenizer().decode("utf-8"))

    @cached_property
    def _rules(self) -> Any:
        """Tokenizer without its vocabulary: parsing that takes longer than the rest of a small run."""
        from tokenizers import Tokenizer

        # The model is the last member of the file. The library needs one, but its pieces are never asked for.
        rules, _, _ = self._load_tokenizer().partition(_MODEL_MEMBER)
        model = {"type": "WordPiece", "vocab": {}, "unk_token": "", "continuing_subword_prefix": "",
                 "max_input_chars_per_word": 0}  # fmt: skip
        return Tokenizer.from_str((rules + _MODEL_MEMBER).decode("utf-8") + json.dumps(model) + "}")
