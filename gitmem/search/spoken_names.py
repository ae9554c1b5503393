"""Find the names that a query may say in words: `copyToClipboard` in "copy to clipboard". Pure.

Identifiers have stop words, which count for nothing else. A conversion may be named from either end, with `2` or an
arrow for "to": `rgbToHsv`, `rgb2hsv`, `rgb->hsv` and `hsvFromRgb` are "convert rgb to hsv", `hsvToRgb` is the opposite.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from gitmem.named_tuple import NamedTuple
from gitmem.words import split_identifier

MAX_WORDS: Final = 14
"""Words of a query with a name in words. Longer ones describe what they look for."""

_LONGEST_NAME: Final = 8
"""Words of a name."""

_AROUND: Final = "'`\".?!"
_INSIDE: Final = str.maketrans("", "", "_-'`\"")
"""Marks around and inside of words. A query with others is code, a path or several phrases."""

_ARTICLES: Final = frozenset("a an the".split())
_BEFORE: Final = frozenset(
    "a an are code do does find for function helper how i implementation is it logic method of that the to utility we "
    "what where which".split()
)
_AFTER: Final = frozenset(
    "code defined function functionality helper implementation implemented logic method utility work works".split()
)
"""Words before and behind a name in a question. The former may be parts of it too: `isEmpty`."""

_CONVERSIONS: Final = frozenset(
    "cast casting change changing conversion convert converter converting converts decode encode from map mapping "
    "parse transform transforming translate translating turn turning".split()
)
"""Words before the first side of a conversion."""

_INTO: Final = frozenset(("into", "to"))
_FROM: Final = "from"
_BEHIND: Final = frozenset("and by for in of or using when with without".split())
"""Words that end the second side of a conversion."""

_LONGEST_SIDE: Final = 3
"""Words on each side of a conversion."""


class SpokenName(NamedTuple):
    """A name without marks between its words (`copytoclipboard`), and words that are in it.

    If several exist, those of the lowest `distance` from the query are meant: 0 for the whole of it.
    """

    name: str
    words: tuple[str, ...]
    distance: int = 0


def find_spoken_names(query: str) -> tuple[SpokenName, ...]:
    """Return the names that a query of one line may be, in lower case, nearest first; mostly none exists."""
    own = [word.strip(_AROUND) for word in query.split()]
    if len(own) < 2 or not "".join(own).translate(_INSIDE).isalnum():
        return ()
    words = [part.lower() for word in own for part in split_identifier(word)]
    if not 1 < len(words) <= MAX_WORDS:
        return ()
    names: dict[str, SpokenName] = {}
    for name in (*_whole_names(words), *_conversion_names(words)):
        names.setdefault(name.name, name)
    return tuple(sorted(names.values(), key=lambda name: name.distance))


def _whole_names(words: Sequence[str]) -> Iterator[SpokenName]:
    """Yield the words joined, and again without words before or behind a name in a question, and without articles."""
    first, last = 0, len(words)
    while last > 1 and words[last - 1] in _AFTER:
        last -= 1
    spans = [(0, len(words)), (0, last)]
    while first < last - 2 and words[first] in _BEFORE:
        first += 1
        spans.append((first, last))
    for start, end in dict.fromkeys(spans):
        own = words[start:end]
        for name in (own, [word for word in own if word not in _ARTICLES]):
            if 1 < len(name) <= _LONGEST_NAME:
                yield SpokenName("".join(name), tuple(name))


def _conversion_names(words: Sequence[str]) -> Iterator[SpokenName]:
    for place in range(1, len(words) - 1):
        if words[place] not in _INTO and words[place] != _FROM:
            continue
        sides = zip(_endings(words[:place]), _beginnings(words[place + 1 :]), strict=True)
        for distance, (before, after) in enumerate(dict.fromkeys(sides), 1):
            source, target = (after, before) if words[place] == _FROM else (before, after)
            if source and target:
                yield from _name_conversion(source, target, distance)


def _name_conversion(source: Sequence[str], target: Sequence[str], distance: int) -> Iterator[SpokenName]:
    old, new = "".join(source), "".join(target)
    for name in (f"{old}to{new}", f"{old}2{new}", f"{new}from{old}", f"{old}>{new}"):
        yield SpokenName(name, (*source, *target), distance)


def _endings(words: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the end of some words: at most three behind one that asks for a conversion, and the last one."""
    start = max((place + 1 for place, word in enumerate(words) if word in _CONVERSIONS or word in _BEFORE), default=0)
    own = tuple(word for word in words[start:] if word not in _ARTICLES)
    return own[-_LONGEST_SIDE:], own[-1:]


def _beginnings(words: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the beginning of some words: at most three before one that ends a name, and the first one."""
    own = tuple(word for word in words if word not in _ARTICLES)
    stop = next((place for place, word in enumerate(own) if word in _AFTER or word in _BEHIND), len(own))
    return own[:stop][:_LONGEST_SIDE], own[:stop][:1]
