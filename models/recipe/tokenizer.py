"""The tokenizer: identifiers opened at their case boundaries, letters and digits apart, words to learnt pieces.

Its rules are those that `gitmem.embedding.pieces` follows on its own for ASCII words.
"""

import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

from models.recipe.records import Record

PADDING: Final = 0
UNKNOWN: Final = 1
CONTINUES: Final = "##"
_SPECIAL: Final = ["[PAD]", "[UNK]"]
_LONGEST_WORD: Final = 40
_ALPHABET: Final = 300
"""Characters that are pieces of their own; words with rarer ones are unknown."""

_QUESTION_WEIGHT: Final = 2
"""Questions count double: they are far shorter than code, and their words must not fall apart."""


def train_tokenizer(texts: Iterable[str], alphabet: Sequence[str], size: int, min_frequency: int) -> Tokenizer:
    """Learn at most `size` word pieces (WordPiece, by frequency of pairs) from texts; the same texts give the same.

    The library numbers the characters inside words in the order of a hash table with a random seed, and breaks ties by
    number. So all of them are numbered before, as special tokens, which the finished tokenizer does not have.
    """
    learning = _configured(models.WordPiece(unk_token=_SPECIAL[UNKNOWN]))
    trainer = trainers.WordPieceTrainer(
        vocab_size=size,
        min_frequency=min_frequency,
        initial_alphabet=list(alphabet),
        limit_alphabet=len(alphabet),
        special_tokens=[*_SPECIAL, *(CONTINUES + character for character in alphabet)],
        continuing_subword_prefix=CONTINUES,
        show_progress=False,
    )
    learning.train_from_iterator(texts, trainer)
    model = models.WordPiece(
        vocab=learning.get_vocab(), unk_token=_SPECIAL[UNKNOWN], max_input_chars_per_word=_LONGEST_WORD
    )
    tokenizer = _configured(model)
    tokenizer.add_special_tokens(_SPECIAL)
    return tokenizer


def alphabet_of(texts: Iterable[str]) -> list[str]:
    """The commonest letters and digits of texts, at most `_ALPHABET`, in the order of their code points."""
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(unicodedata.normalize("NFKC", text).lower())
    known = [(-count, character) for character, count in counts.items() if character.isalnum()]
    return sorted(character for _, character in sorted(known)[:_ALPHABET])


def _configured(model: models.Model) -> Tokenizer:
    tokenizer = Tokenizer(model)
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
    """What the vocabulary is learnt from: questions, code and paths."""
    for record in records:
        yield from [record.question] * _QUESTION_WEIGHT
        yield record.code
        yield record.path


def pieces_of(tokenizer: Tokenizer) -> list[str]:
    """The vocabulary by id."""
    vocabulary: dict[str, int] = tokenizer.get_vocab()
    return sorted(vocabulary, key=vocabulary.__getitem__)
