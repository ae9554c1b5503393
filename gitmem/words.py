"""Text to words, once for the lexical index and the model together.

An *identifier* is a run of letters, digits and underscores as it stands in the text. Its *parts* are the words it is
made of (`parseHTTPRequest_v2`: parse, HTTP, Request, v, 2). Its *terms* are what the lexical index holds: stemmed
parts in lower case plus the whole identifier without underscores, so that `get_user` meets `getUser`.
Everything here is pure; bump `WORDS_VERSION` in `indexing.identity` when the terms of any text change.
"""

import re
from collections import Counter
from functools import lru_cache
from typing import Final, NamedTuple

MAX_IDENTIFIER: Final = 64
"""Longer runs are hashes, encoded data and the like: cut, so that one line cannot fill the vocabulary."""

MAX_TERM_BYTES: Final = 255
"""No term is longer than this in UTF-8: four bytes a character at most, of which there are fewer than 64."""

_IDENTIFIER = re.compile(r"\w+")
_ASCII_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_WIDE_PART = re.compile(r"[^\W\d_]+|\d+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]{2,}")


class Text(NamedTuple):
    """A text and how often each identifier stands in it."""

    text: str
    identifiers: dict[str, int]


def count_identifiers(text: str) -> Text:
    """Find the identifiers of a text."""
    return Text(text, Counter(_IDENTIFIER.findall(text)))


def decode(data: bytes) -> str:
    """Read a blob's bytes as UTF-8 or, where they are not, as Latin-1; a byte order mark is dropped."""
    try:
        return data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def split_identifier(identifier: str) -> list[str]:
    """Split an identifier into its parts, case kept."""
    if identifier.isascii():
        return _ASCII_PART.findall(identifier)
    return _WIDE_PART.findall(_CAMEL.sub(" ", identifier))


@lru_cache(maxsize=200_000)
def terms_of(identifier: str) -> tuple[str, ...]:
    """The terms an identifier is indexed and asked by: stemmed parts, then the compound where there are several."""
    identifier = identifier[: MAX_IDENTIFIER if identifier.isascii() else MAX_TERM_BYTES // 4]
    parts = [part.lower() for part in split_identifier(identifier)]
    terms = [stem(part) for part in parts if len(part) > 1]
    if len(parts) > 1:
        compound = "".join(parts)
        if compound not in terms:
            terms.append(compound)
    elif parts and not terms:
        terms.append(parts[0])
    if not identifier.isascii():
        terms += [pair for run in _UNSPACED.findall(identifier) for pair in _pairs(run)]
    return tuple(dict.fromkeys(terms))


def _pairs(run: str) -> list[str]:
    """Neighbouring characters of a script that writes no spaces."""
    return [run[place : place + 2] for place in range(len(run) - 1)]


def stem(word: str) -> str:
    """Cut the commonest English endings (plural, -ing, -ed, final e, y to i), so that `caching` meets `caches`.

    A light stemmer on purpose: a heavy one joins words that mean different things in code (`universe`, `universal`).
    """
    if len(word) < 3 or not word.isalpha():
        return word
    word = _without_plural(word)
    for ending, least in (("ing", 6), ("ed", 5)):
        if word.endswith(ending) and len(word) >= least and _has_vowel(word[: -len(ending)]):
            word = word[: -len(ending)]
            if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "lsz":
                word = word[:-1]
            break
    if len(word) > 4 and word.endswith("e"):
        word = word[:-1]
    return word[:-1] + "i" if len(word) > 3 and word.endswith("y") else word


def _without_plural(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-2]
    if word.endswith(("sses", "xes", "zes", "ches", "shes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def _has_vowel(word: str) -> bool:
    return any(letter in "aeiouy" for letter in word)
