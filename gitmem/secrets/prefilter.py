"""Prefilters of the secret scan for whole files: candidates and keywords, found with numpy.

They give what the loops of `scan` give, at a third of their cost. They are a module of their own because importing
numpy takes longer than scanning the few lines that a command prints.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gitmem.secrets.occurrences import find_places

_TOKEN: Final = 1
_DIGIT: Final = 2
_CAPITAL: Final = 3
"""Classes of bytes; all others are zero."""

_LINE_END: Final = ord("\n")

_CAPITALS: Final = re.compile(b"\3+")

_TRIGRAM: Final = 3
_TRIGRAM_BITS: Final = 16

Spans = list[tuple[int, int]]


def _class_table(token_bytes: bytes) -> bytes:
    """Return a translation of each byte to its class."""
    special = dict.fromkeys(b"0123456789", _DIGIT) | dict.fromkeys(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ", _CAPITAL)
    return bytes(special.get(byte, _TOKEN) if byte in token_bytes else 0 for byte in range(256))


class RunFinder:
    """Finds runs of token characters that have a digit, and `shortest` to `longest` bytes; and runs of capitals."""

    def __init__(self, token_bytes: bytes, shortest: int, longest: int, capitals: int) -> None:
        self._classes = _class_table(token_bytes)
        self._shortest = shortest
        self._longest = longest
        self._capitals = bytes([_CAPITAL]) * capitals

    def find(self, data: bytes) -> tuple[NDArray[np.intp], Spans]:
        """Return the spans of the runs with a digit (n x 2), and of those of at least so many capitals, in order."""
        # `translate` takes a third of the time of numpy's own table look-up.
        classes = data.translate(self._classes)
        return self._find_runs(np.frombuffer(classes, np.uint8)), list(self._find_capitals(classes))

    def _find_runs(self, classes: NDArray[np.uint8]) -> NDArray[np.intp]:
        # Most runs are words. Erosion leaves only the beginnings of long ones, before anything is listed.
        margin = self._shortest - 1
        padded = np.zeros(len(classes) + 2 * margin + 1, np.bool_)
        np.not_equal(classes, 0, out=padded[margin : margin + len(classes)])
        begins = _combine(padded, self._shortest, np.logical_and)
        # Dilation restores them. Of their digits there are few.
        inside = _combine(begins, self._shortest, np.logical_or)[: len(classes)]
        digits = np.flatnonzero(inside & (classes == _DIGIT))
        edges = np.flatnonzero(begins[1:] != begins[:-1])
        starts, ends = edges[0::2] + 1 - margin, edges[1::2] + 1
        lengths = ends - starts
        runs = np.searchsorted(starts, digits, "right") - 1
        runs = runs[np.diff(runs, prepend=-1) > 0]
        runs = runs[lengths[runs] <= self._longest]
        return np.column_stack((starts[runs], ends[runs]))

    def _find_capitals(self, classes: bytes) -> Iterator[tuple[int, int]]:
        start = classes.find(self._capitals)
        while start >= 0:
            run = _CAPITALS.match(classes, start)
            assert run is not None
            end = run.end()
            yield start, end
            start = classes.find(self._capitals, end)


def surround_all(
    data: bytes, candidates: Sequence[NDArray[np.intp] | Spans], ends: Sequence[int], before: int, after: int
) -> Spans:
    """Return what `scan.surround` returns, for lists of candidates in any order. `ends` are those of the texts."""
    spans = np.concatenate([np.array(part, np.intp).reshape(-1, 2) for part in candidates])
    if not len(spans):
        return []
    spans = spans[np.lexsort((spans[:, 1], spans[:, 0]))]
    text_ends = np.array(ends, np.intp)
    number = np.searchsorted(text_ends, spans[:, 0])
    text_starts = np.concatenate(([0], text_ends[:-1] + 1))
    line_ends = np.append(np.flatnonzero(np.frombuffer(data, np.uint8) == _LINE_END), len(data))
    reach = np.minimum(text_ends[number], spans[:, 1] + after)
    stops = np.minimum(reach, line_ends[np.searchsorted(line_ends[:-1], spans[:, 1])])
    firsts = np.maximum(text_starts[number], spans[:, 0] - before)
    # A region begins where a candidate's surroundings begin behind all earlier ones.
    stops = np.maximum.accumulate(stops)
    begins = np.flatnonzero(np.concatenate(([True], firsts[1:] > stops[:-1])))
    return list(zip(firsts[begins].tolist(), stops[np.append(begins[1:], len(stops)) - 1].tolist(), strict=True))


def _combine(flags: NDArray[np.bool_], length: int, operation: np.ufunc) -> NDArray[np.bool_]:
    """Combine each flag with those after it, `length` in all, by doubling: erosion with `and`, dilation with `or`."""
    width = 1
    while width < length:
        step = min(width, length - width)
        flags = operation(flags[:-step], flags[step:])
        width += step
    return flags


class KeywordFinder:
    """Finds the occurrences of some two hundred keywords in one pass: looking for each would read a text as often.

    Places at which no keyword can begin are excluded by two tables of hashes: of the first trigrams, and of the second.
    """

    def __init__(self, keywords: Sequence[bytes]) -> None:
        self._keywords = keywords
        self._short = [keyword for keyword in keywords if len(keyword) < _TRIGRAM]
        self._first, self._second, self._only = (np.zeros(1 << _TRIGRAM_BITS, np.bool_) for _ in range(3))
        self._by_start: dict[bytes, list[bytes]] = {}
        for keyword in keywords:
            if len(keyword) > _TRIGRAM:
                self._first[_hash_trigrams(keyword[:_TRIGRAM])] = True
                self._second[_hash_trigrams(keyword[1 : _TRIGRAM + 1])] = True
            elif len(keyword) == _TRIGRAM:
                self._only[_hash_trigrams(keyword)] = True
            if len(keyword) >= _TRIGRAM:
                self._by_start.setdefault(keyword[:_TRIGRAM], []).append(keyword)

    def find(self, text: bytes) -> dict[bytes, list[int]]:
        """Return the places of each keyword that occurs, in the order of the keywords; those of one do not overlap."""
        places = {keyword: found for keyword in self._short if (found := find_places(text, keyword))}
        hashes = _hash_trigrams(text)
        starts = np.flatnonzero(self._first[hashes[:-1]])
        starts = starts[self._second[hashes[starts + 1]]]
        for place in np.sort(np.concatenate((starts, np.flatnonzero(self._only[hashes])))).tolist():
            for keyword in self._by_start.get(text[place : place + _TRIGRAM], ()):
                if text.startswith(keyword, place):
                    found = places.setdefault(keyword, [])
                    if not found or place >= found[-1] + len(keyword):
                        found.append(place)
        return {keyword: places[keyword] for keyword in self._keywords if keyword in places}


def _hash_trigrams(text: bytes) -> NDArray[np.uint16]:
    """Return a hash of 16 bits for each three consecutive bytes; overflow is intended."""
    codes = np.frombuffer(text, np.uint8).astype(np.uint16)
    return codes[:-2] * np.uint16(1021) + codes[1:-1] * np.uint16(31) + codes[2:]
