"""Prefilters of the secret scan for whole files: candidates and keywords, found with numpy.

They give what the loops of `scan` give, at a third of their cost. They are a module of their own because importing
numpy takes longer than scanning the few lines that a command prints.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final

import numpy as np

from gitmem.arrays import NDArray, distinct

_TOKEN: Final = 1
_DIGIT: Final = 2
_CAPITAL: Final = 3
"""Classes of bytes; all others are zero."""

_LINE_END: Final = ord("\n")

_CAPITALS: Final = re.compile(b"\3+")

_WORD: Final = 4
_TRIGRAM: Final = 3
_TRIGRAM_BITS: Final = 16

Spans = list[tuple[int, int]]
Bits = NDArray[np.uint64]
"""Flags, 64 in each word, the first one in the lowest bit."""


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
        begins = _combine(_pack_bits(classes != 0), self._shortest, np.bitwise_and, _shift_down)
        # Dilation restores them. Of their digits there are few.
        inside = _combine(begins, self._shortest, np.bitwise_or, _shift_up)
        digits = _list_bits(inside & _pack_bits(classes == _DIGIT))
        edges = _list_bits(begins ^ _shift_up(begins, 1))
        starts, ends = edges[0::2], edges[1::2] + self._shortest - 1
        lengths = ends - starts
        runs = distinct(np.searchsorted(starts, digits, "right") - 1)
        runs = runs[lengths[runs] <= self._longest]
        return np.stack((starts[runs], ends[runs]), axis=1)

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
    line_ends = np.concatenate((np.flatnonzero(np.frombuffer(data, np.uint8) == _LINE_END), [len(data)]))
    reach = np.minimum(text_ends[number], spans[:, 1] + after)
    stops = np.minimum(reach, line_ends[np.searchsorted(line_ends[:-1], spans[:, 1])])
    firsts = np.maximum(text_starts[number], spans[:, 0] - before)
    # A region begins where a candidate's surroundings begin behind all earlier ones.
    stops = np.maximum.accumulate(stops)
    begins = np.flatnonzero(np.concatenate(([True], firsts[1:] > stops[:-1])))
    lasts = np.concatenate((begins[1:], [len(stops)])) - 1
    return list(zip(firsts[begins].tolist(), stops[lasts].tolist(), strict=True))


def _combine(bits: Bits, length: int, operation: np.ufunc, shift: Callable[[Bits, int], Bits]) -> Bits:
    """Combine each bit with its neighbours, `length` in all, by doubling.

    Erosion is `and` with the bits after it, dilation `or` with those before it.
    """
    width = 1
    while width < length:
        step = min(width, length - width)
        bits = operation(bits, shift(bits, step))
        width += step
    return bits


def _pack_bits(flags: NDArray[np.bool_]) -> Bits:
    """Return flags as bits: arrays of an eighth of the size stay in the cache. A word of zeros follows the last one."""
    packed = np.zeros(len(flags) // 64 + 2, np.uint64)
    packed.view(np.uint8)[: -(-len(flags) // 8)] = np.packbits(flags, bitorder="little")
    return packed


def _shift_down(bits: Bits, count: int) -> Bits:
    """Move each bit by up to 63 places towards the first one."""
    shifted = bits >> np.uint64(count)
    shifted[:-1] |= bits[1:] << np.uint64(64 - count)
    return shifted


def _shift_up(bits: Bits, count: int) -> Bits:
    """Move each bit by up to 63 places towards the last one."""
    shifted = bits << np.uint64(count)
    shifted[1:] |= bits[:-1] >> np.uint64(64 - count)
    return shifted


def _list_bits(bits: Bits) -> NDArray[np.intp]:
    """Return the places of the bits that are set, of which there are few."""
    octets = bits.view(np.uint8)
    # `flatnonzero` is several times as fast for boolean arrays.
    filled = np.flatnonzero(octets != 0)
    places = np.flatnonzero(np.unpackbits(octets[filled], bitorder="little").view(np.bool_))
    listed: NDArray[np.intp] = (filled[places >> 3] << 3) + (places & 7)
    return listed


def find_short(data: bytes, text: bytes) -> list[int]:
    """Return the places of a text of a few bytes. Comparing all bytes at once takes a third of a search."""
    codes = np.frombuffer(data, np.uint8)
    last = len(codes) - len(text) + 1
    flags = codes[:last] == text[0]
    for number, code in enumerate(text[1:], 1):
        flags &= codes[number : last + number] == code
    places: list[int] = np.flatnonzero(flags).tolist()
    return places


def contains(data: bytes, text: bytes) -> bool:
    """Return whether a text occurs. A search takes large steps only for a long text."""
    return bool(find_short(data, text)) if len(text) <= _WORD else text in data


def may_contain(data: bytes, texts: Sequence[bytes]) -> bool:
    """Return False if none of some texts occurs; each has seven bytes or more.

    Wherever such a text stands, it contains a whole word of four bytes.
    """
    words = np.frombuffer(data, np.uint32, len(data) // _WORD)
    parts = {text[first : first + _WORD] for text in texts for first in range(_WORD)}
    return any(bool((words == np.frombuffer(part, np.uint32)[0]).any()) for part in sorted(parts))


class KeywordFinder:
    """Finds the occurrences of some two hundred keywords in one pass: looking for each would read a text as often.

    Places at which no keyword can begin are excluded by two tables of hashes: of the first trigrams, and of the second.
    Of a keyword of three bytes there is only the first, and keywords of two are compared exactly.
    """

    def __init__(self, keywords: Sequence[bytes]) -> None:
        self._keywords = keywords
        self._pairs = {keyword: _join_pairs(keyword)[0] for keyword in keywords if len(keyword) < _TRIGRAM}
        self._first, self._second, self._whole = (np.zeros(1 << _TRIGRAM_BITS, np.bool_) for _ in range(3))
        self._by_start: dict[bytes, list[bytes]] = {}
        for keyword in keywords:
            if len(keyword) >= _TRIGRAM:
                self._first[_hash_trigrams(keyword[:_TRIGRAM])] = True
                self._by_start.setdefault(keyword[:_TRIGRAM], []).append(keyword)
            if len(keyword) == _TRIGRAM:
                self._whole[_hash_trigrams(keyword)] = True
            else:
                self._second[_hash_trigrams(keyword[1 : _TRIGRAM + 1])] = True

    def find(self, text: bytes) -> dict[bytes, list[int]]:
        """Return the places of each keyword that occurs, in the order of the keywords; those of one do not overlap."""
        pairs = _join_pairs(text)
        places = {word: np.flatnonzero(pairs == pair).tolist() for word, pair in self._pairs.items()}
        # With a byte more, the last three have a trigram after them.
        hashes = _hash_trigrams(text + b"\0")
        starts = np.flatnonzero(self._first.take(hashes[:-1].astype(np.intp)))
        starts = starts[self._second[hashes[starts + 1]] | self._whole[hashes[starts]]]
        for place in starts.tolist():
            for keyword in self._by_start.get(text[place : place + _TRIGRAM], ()):
                if text.startswith(keyword, place):
                    found = places.setdefault(keyword, [])
                    if not found or place >= found[-1] + len(keyword):
                        found.append(place)
        return {keyword: places[keyword] for keyword in self._keywords if places.get(keyword)}


def _join_pairs(text: bytes) -> NDArray[np.uint16]:
    """Return each two consecutive bytes as one number."""
    codes = np.frombuffer(text, np.uint8).astype(np.uint16)
    return (codes[:-1] << np.uint16(8)) | codes[1:]


def _hash_trigrams(text: bytes) -> NDArray[np.uint16]:
    """Return a hash of 16 bits for each three consecutive bytes; overflow is intended."""
    codes = np.frombuffer(text, np.uint8).astype(np.uint16)
    return codes[:-2] * np.uint16(1021) + codes[1:-1] * np.uint16(31) + codes[2:]
