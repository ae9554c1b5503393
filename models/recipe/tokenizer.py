"""Train the tokenizer: split identifiers at case boundaries, separate letters from digits, split words into pieces.

`gitmem.embedding.pieces` implements the same rules for ASCII words.
"""

import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

from models.recipe.records import Record

PADDING: Final = 0
UNKNOWN: Final = 1
CONTINUATION: Final = "##"
_SPECIAL: Final = ["[PAD]", "[UNK]"]
_LONGEST_WORD: Final = 40
_MAX_ALPHABET: Final = 300
"""Number of characters that are pieces of their own. Words with other characters are unknown."""

_QUERY_WEIGHT: Final = 2
"""Queries count twice: they are far shorter than code, and their words must not be split into pieces."""


def train_tokenizer(texts: Iterable[str], alphabet: Sequence[str], size: int, min_frequency: int) -> Tokenizer:
    """Train at most `size` word pieces (WordPiece, by frequency of pairs). The same texts give the same pieces.

    The library numbers the characters inside words in the order of a hash table with a random seed, and breaks ties by
    number. Therefore they are numbered in advance, as special tokens, which the finished tokenizer does not have.
    """
    trained = _configured(models.WordPiece(unk_token=_SPECIAL[UNKNOWN]))
    trainer = trainers.WordPieceTrainer(
        vocab_size=size,
        min_frequency=min_frequency,
        initial_alphabet=list(alphabet),
        limit_alphabet=len(alphabet),
        special_tokens=[*_SPECIAL, *(CONTINUATION + character for character in alphabet)],
        continuing_subword_prefix=CONTINUATION,
        show_progress=False,
    )
    trained.train_from_iterator(texts, trainer)
    # Rebuilt from the vocabulary alone, without the special tokens for single characters.
    model = models.WordPiece(
        vocab=trained.get_vocab(), unk_token=_SPECIAL[UNKNOWN], max_input_chars_per_word=_LONGEST_WORD
    )
    tokenizer = _configured(model)
    tokenizer.add_special_tokens(_SPECIAL)
    return tokenizer


def alphabet_of(texts: Iterable[str]) -> list[str]:
    """Return the most common letters and digits of texts, at most `_MAX_ALPHABET`, ordered by code point."""
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(unicodedata.normalize("NFKC", text).lower())
    ranked = [(-count, character) for character, count in counts.items() if character.isalnum()]
    return sorted(character for _, character in sorted(ranked)[:_MAX_ALPHABET])


def _configured(model: models.Model) -> Tokenizer:
    tokenizer = Tokenizer(model)
    # A space at each case boundary makes the pre-tokenizer split identifiers like gitmem.words.split_identifier.
    tokenizer.normalizer = normalizers.Sequence(
        [
            normalizers.NFKC(),
            normalizers.Replace(Regex("(?<=[a-z0-9])(?=[A-Z])"), " "),
            normalizers.Replace(Regex("(?<=[A-Z])(?=[A-Z][a-z])"), " "),
            normalizers.Lowercase(),
        ]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(r"[^\p{L}\p{N}]+"), "removed"),
            pre_tokenizers.Split(Regex(r"\p{N}+"), "isolated"),
        ]
    )
    tokenizer.decoder = decoders.WordPiece()
    return tokenizer


def texts_to_learn(records: Iterable[Record]) -> Iterator[str]:
    """Yield the texts from which the vocabulary is trained: queries, code and paths."""
    for record in records:
        yield from [record.query] * _QUERY_WEIGHT
        yield record.code
        yield record.path


def pieces_of(tokenizer: Tokenizer) -> list[str]:
    """Return the pieces in the order of their ids."""
    vocabulary: dict[str, int] = tokenizer.get_vocab()
    return sorted(vocabulary, key=vocabulary.__getitem__)
