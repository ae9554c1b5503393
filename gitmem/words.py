"""Split text into words, in the same way for the lexical index and the embedding model.

- An *identifier* is a run of letters, digits and underscores, as written in the text.
- Its *parts* are the words in it: `parseHTTPRequest_v2` has parse, HTTP, Request, v and 2.
- Its *terms* are the entries of the lexical index. They are the stemmed parts in lower case, the whole identifier in
  lower case without underscores, and neighbouring parts that are one word. So `get_user` matches `getUser`, and
  `GitHubClient` and `putS3Object` match `github` and `s3`.

All functions are pure. Raise `WORDS_VERSION` in `indexing.fingerprint` if the terms of any text change.
"""

from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import chain, pairwise
from typing import Final

from gitmem.joined_words import SPELLINGS
from gitmem.lazy_pattern import lazy_pattern
from gitmem.named_tuple import NamedTuple

MAX_IDENTIFIER: Final = 64
"""Longer runs are hashes, encoded data and the like. They are cut, so that one line cannot fill the vocabulary."""

MAX_TERM_BYTES: Final = 255
"""Maximum length of a term in UTF-8: fewer than 64 characters of at most four bytes."""

_IDENTIFIER = lazy_pattern(r"\w+")
ASCII_PART: Final = r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+"
"""Pattern of a part of an ASCII identifier."""

_ASCII_PART = lazy_pattern(ASCII_PART)
_UNICODE_PART = lazy_pattern(r"[^\W\d_]+|\d+")
_CAMEL_BOUNDARY = lazy_pattern(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_UNSPACED = lazy_pattern(
    r"[\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uff9d"
    r"\U00020000-\U000323af]+"
)
"""Runs of kana, Chinese characters and Hangul."""


class Text(NamedTuple):
    """A text and the number of occurrences of each identifier in it."""

    text: str
    identifiers: dict[str, int]


def count_identifiers(text: str) -> Text:
    """Count the identifiers of a text."""
    return Text(text, Counter(find_identifiers(text)))


def find_identifiers(text: str) -> list[str]:
    """Return the identifiers of a text in order, with repetitions."""
    return _IDENTIFIER.findall(text)


def decode(data: bytes) -> str:
    """Decode a blob as UTF-8 without a byte order mark, or as Latin-1 if it is not valid UTF-8.

    Latin-1 decodes any bytes, so this never fails.
    """
    try:
        return data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def utf8_text(data: bytes) -> bytes:
    """Return a blob in UTF-8 without a byte order mark; what is not valid is converted from Latin-1.

    Lines keep their numbers.
    """
    if data.isascii():
        return data
    data = data.removeprefix(BOM_UTF8)
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1").encode("utf-8")
    return data


def split_identifier(identifier: str) -> list[str]:
    """Split an identifier into its parts, in their original case."""
    # One expression splits nearly all identifiers of code. The Unicode rules need two passes and are slower.
    if identifier.isascii():
        return _ASCII_PART.findall(identifier)
    return _UNICODE_PART.findall(_CAMEL_BOUNDARY.sub(" ", identifier))


# A server meets new words with every answer that it shows, so this is the growth of its memory: at most 16 MB. For an
# index of 9,000 files, 200,000 entries would save 1 s of CPU and cost 100 MB in each worker.
@lru_cache(maxsize=1 << 15)
def terms_of(identifier: str) -> tuple[str, ...]:
    """Return the distinct terms by which an identifier is indexed and searched.

    These are its stemmed parts, then the compound if it has several, then words of several parts. A single letter
    counts only as a whole identifier.
    """
    return split_terms(identifier)


def split_terms(identifier: str) -> tuple[str, ...]:
    """Return what `terms_of` returns, for callers that ask once for each identifier."""
    if not identifier.isascii() and (runs := _UNSPACED.findall(identifier)):
        return _terms_of_mixed(identifier, runs)
    identifier = identifier[: MAX_IDENTIFIER if identifier.isascii() else MAX_TERM_BYTES // 4]
    parts = [part.lower() for part in split_identifier(identifier)]
    terms = [_cached_stem(part) for part in parts if len(part) > 1]
    if len(parts) > 1:
        terms += [compound_of(parts), *join_parts(parts)]
    elif parts and not terms:
        terms.append(parts[0])
    return tuple(dict.fromkeys(terms))


def compound_of(parts: Sequence[str]) -> str:
    """Return the term of a whole identifier: its parts joined, and stemmed if they are one word of `SPELLINGS`."""
    word, last = "".join(parts), stem(parts[-1])
    return stem(word) if (*parts[1:-1], last) in joined_words().get(parts[0], ()) else word


def join_parts(parts: Sequence[str]) -> Iterator[str]:
    """Yield the terms of neighbouring parts that are one word: letters and a number, or one of `SPELLINGS`.

    An identifier that begins with a digit is a number: the letters in `0x1F600` mean nothing.
    """
    if not parts[0].isdigit():
        for part, after in pairwise(parts):
            if part.isalpha() and after.isdigit():
                yield part + after
    yield from join_words(parts)


def join_words(parts: Sequence[str]) -> Iterator[str]:
    """Yield the terms of neighbouring parts that are one of `SPELLINGS`."""
    joined = joined_words()
    for first, part in enumerate(parts):
        for others in joined.get(part, ()):
            last = first + len(others)
            if (*parts[first + 1 : last], *map(stem, parts[last : last + 1])) == others:
                yield stem("".join(parts[first : last + 1]))


@cache
def joined_words() -> Mapping[str, Sequence[tuple[str, ...]]]:
    """Return the other parts of each word of `SPELLINGS` by its first part; the last one is stemmed."""
    words: dict[str, list[tuple[str, ...]]] = {}
    for spelling in SPELLINGS:
        first, *others, last = spelling.split(" ")
        words.setdefault(first, []).append((*others, stem(last)))
    return words


def may_be_second(part: str) -> bool:
    """Return whether a part may be the second one of a word of `SPELLINGS`."""
    inner, last = _second_parts()
    return part in inner or stem(part) in last


@cache
def _second_parts() -> tuple[frozenset[str], frozenset[str]]:
    """Return the second parts of words of three and more parts, and the stemmed ones of words of two."""
    others = list(chain.from_iterable(joined_words().values()))
    return frozenset(own[0] for own in others if len(own) > 1), frozenset(own[0] for own in others if len(own) == 1)


def _terms_of_mixed(identifier: str, runs: Sequence[str]) -> tuple[str, ...]:
    """Return the terms of an identifier with runs of a script without spaces; the words between them have their own.

    `find_identifiers` takes a whole sentence of such a script for one identifier, so it is not a term itself.
    """
    words = _UNSPACED.sub(" ", identifier).replace("_", " ").split()
    bigrams = [bigram for run in runs for bigram in unspaced_terms(run)]
    return tuple(dict.fromkeys([*bigrams, *(term for word in words for term in split_terms(word))]))


def unspaced_terms(run: str) -> list[str]:
    """Return the terms of a run of a script without spaces: overlapping bigrams, or the character if it is alone.

    Bigrams are the usual substitute for segmentation by a dictionary (Nie, Gao, Zhang and Zhou 2000, "On the use of
    words and n-grams for Chinese information retrieval"): nearly as good, and without a dictionary per language.
    """
    return [run[place : place + 2] for place in range(len(run) - 1)] or [run]


def stem(word: str) -> str:
    """Remove the most common English endings: plural, -ing, -ed and final e; y becomes i. `caching` matches `caches`.

    All forms of a verb in -ize share a stem, and so do its agent and action: `serializer`, `serialization`. A light
    stemmer on purpose: the Porter stemmer conflates words that differ in code, such as `universe` and `universal`.
    """
    if len(word) < 3 or not word.isalpha():
        return word
    word = _without_plural(word)
    for ending, stump in _IZE_ENDINGS:
        if word.endswith(ending) and len(word) >= len(ending) + 3:
            return word[: -len(ending)] + stump
    # The minimum lengths and the vowel in the remainder protect words like `ring`, `bed` and `string`.
    for ending, min_length in (("ing", 6), ("ed", 5)):
        if word.endswith(ending) and len(word) >= min_length and _has_vowel(word[: -len(ending)]):
            word = word[: -len(ending)]
            # `running` becomes `run`, but `missing` becomes `miss`.
            if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "lsz":
                word = word[:-1]
            break
    if len(word) > 4 and word.endswith("e"):
        word = word[:-1]
    return word[:-1] + "i" if len(word) > 3 and word.endswith("y") else word


_cached_stem = lru_cache(maxsize=1 << 14)(stem)
"""The parts of identifiers are few words that occur in many of them."""


_IZE_ENDINGS: Final = (
    ("ization", "iz"),
    ("isation", "is"),
    ("izable", "iz"),
    ("izer", "iz"),
    ("izing", "iz"),
    ("ized", "iz"),
    ("ize", "iz"),
)
"""Endings of a family of derived words that is regular and frequent in code, and what replaces each.

Others (-ation, -er) would conflate words that differ: `station` and `state`, `number` and `numb`.
"""

_SINGULARS: Final = frozenset(("alias", "atlas", "bias", "canvas", "pandas"))
"""Singular words in -as. Most words with this ending are plurals (`schemas`, `deltas`)."""


def _without_plural(word: str) -> str:
    if word in _SINGULARS:
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-2]
    if word.endswith(("sses", "xes", "zzes", "ches", "shes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def _has_vowel(word: str) -> bool:
    return any(letter in "aeiouy" for letter in word)
