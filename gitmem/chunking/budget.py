"""Keeping chunks from being too small on average: an index entry costs some hundred bytes, whatever it stands for.

A large file made of one-line members gives more index than text and answers no better for it. There, the smallest
neighbours of one chunk type inside one container are joined until the file's chunks are of a fair mean size. Small
files are left as they are: every function has its own chunk.
"""

import heapq
from typing import Final

from gitmem.types import Chunk

EXEMPT_BYTES: Final = 2048
"""Files up to this size keep a chunk for every unit."""

MEAN_BYTES: Final = 900
"""How much text of a file one chunk should stand for."""

MERGED_BYTES: Final = 1200
"""No joined chunk grows beyond this."""

SMALL_BYTES: Final = 400
"""One of the two that are joined is smaller than this."""

_MAX_SYMBOL: Final = 240
_GROUPS: Final = {
    "function": "code", "method": "code", "field": "data", "property": "data", "constant": "data",
    "type": "data", "macro": "data", "enum": "shape", "struct": "shape", "class": "shape", "interface": "shape",
    "trait": "shape", "impl": "shape", "section": "section", "text": "text", "module": "module",
}  # fmt: skip


def join_small(chunks: list[Chunk], size: int) -> list[Chunk]:
    """Join neighbours of a blob of `size` bytes until its chunks stand for enough text each. Order is kept."""
    surplus = len(chunks) - max(1, size // MEAN_BYTES)
    if size <= EXEMPT_BYTES or surplus <= 0:
        return chunks
    joiner = _Joiner(chunks)
    for _ in range(surplus):
        if not joiner.join_smallest():
            break
    return joiner.chunks()


class _Joiner:
    """Chunks as a linked list; the heap holds every pair that may be joined, by the size it would have."""

    def __init__(self, chunks: list[Chunk]) -> None:
        self._chunks: list[Chunk | None] = list(chunks)
        self._next = [place + 1 for place in range(len(chunks))]
        self._before = [place - 1 for place in range(len(chunks))]
        self._heap: list[tuple[int, int, int, Chunk, Chunk]] = []
        for place in range(len(chunks) - 1):
            self._offer(place)

    def join_smallest(self) -> bool:
        while self._heap:
            _, place, other, first, second = heapq.heappop(self._heap)
            if self._chunks[place] is first and self._chunks[other] is second:
                self._join(place, other, _joined(first, second))
                return True
        return False

    def chunks(self) -> list[Chunk]:
        return [chunk for chunk in self._chunks if chunk is not None]

    def _join(self, place: int, other: int, chunk: Chunk) -> None:
        self._chunks[place], self._chunks[other] = chunk, None
        after = self._next[place] = self._next[other]
        if after < len(self._chunks):
            self._before[after] = place
        self._offer(place)
        if self._before[place] >= 0:
            self._offer(self._before[place])

    def _offer(self, place: int) -> None:
        other = self._next[place]
        if other >= len(self._chunks):
            return
        first, second = self._chunks[place], self._chunks[other]
        assert first is not None
        assert second is not None
        size = second.end - first.start
        small = min(first.end - first.start, second.end - second.start) < SMALL_BYTES
        if small and size <= MERGED_BYTES and _alike(first, second):
            heapq.heappush(self._heap, (size, place, other, first, second))


def _alike(first: Chunk, second: Chunk) -> bool:
    """Neighbours whose text is all their own, of one group of chunk types, in one container."""
    return (
        first.end <= second.start
        and _GROUPS.get(first.chunk_type, first.chunk_type) == _GROUPS.get(second.chunk_type, second.chunk_type)
        and _is_leaf(first)
        and _is_leaf(second)
        and _container(first.symbol) == _container(second.symbol)
    )


def _is_leaf(chunk: Chunk) -> bool:
    return len(chunk.parts) == 1 and chunk.parts[0] == (chunk.start, chunk.end)


def _container(symbol: str) -> str:
    first = symbol.split(", ", 1)[0]
    separator = " > " if " > " in first else "."
    return first.rpartition(separator)[0]


def _joined(first: Chunk, second: Chunk) -> Chunk:
    return Chunk(
        first.start,
        second.end,
        first.start_line,
        second.end_line,
        first.chunk_type,
        _join_symbols(first.symbol, second.symbol),
        ((first.start, second.end),),
    )


def _join_symbols(first: str, second: str) -> str:
    """Names of both; the container stands once, before the first."""
    container = _container(second)
    own = second[len(container) :].lstrip(". >") if container else second
    if not first or not own or own in first.split(", "):
        return first or second
    joined = f"{first}, {own}"
    return joined if len(joined) <= _MAX_SYMBOL else first
