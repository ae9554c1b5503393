"""Merge small chunks, so that an index entry of some hundred bytes covers enough text.

A large file of one-line members would give more index than text and no better answers. In such files the smallest
neighbours of one group of chunk types and one container are merged until the chunks reach a fair mean size. Small files
keep one chunk for each function. Merged definitions share a row of the index and remain results of their own.
"""

import heapq
from collections.abc import Mapping
from typing import Final

from gitmem.chunking.chunk_size import EXEMPT_BYTES, MEAN_BYTES, MERGED_BYTES, SMALL_BYTES
from gitmem.chunking.symbols import MAX_MERGED_NAMES, MAX_NAMES, container_of, merge_symbols
from gitmem.types import Chunk, ResultUnit

_GROUPS: Final = {
    "function": "code", "method": "code", "field": "data", "property": "data", "constant": "data",
    "type": "data", "macro": "data", "enum": "shape", "struct": "shape", "class": "shape", "interface": "shape",
    "trait": "shape", "impl": "shape", "section": "section", "text": "text", "module": "module",
}  # fmt: skip
"""Chunk types that may be merged with each other. A type without an entry is merged only with itself."""

_DEFINITIONS: Final = frozenset(
    chunk_type for chunk_type, group in _GROUPS.items() if group in ("code", "data", "shape")
)
"""Chunk types that remain results of their own if they are merged."""


_CELL_GROUPS: Final = _GROUPS | dict.fromkeys(("module", "section", "text"), "cell")
"""The same for cells of notebooks: code belongs to the prose above it."""


def merge_small(chunks: list[Chunk], size: int, max_bytes: int = MERGED_BYTES, *, cells: bool = False) -> list[Chunk]:
    """Merge neighbouring chunks of a blob of `size` bytes down to one chunk per MEAN_BYTES. The order is kept.

    Fewer are merged if no further pair is allowed. A merged chunk has at most `max_bytes`. Chunks of `cells` remain
    results of their own, whatever their type; they are merged in small blobs too, where many a cell is a heading alone.
    """
    # The budget is a number of chunks. Merging stops as soon as the mean size is reached, so larger units keep
    # their own chunks.
    surplus = len(chunks) - max(1, size // MEAN_BYTES)
    if (size <= EXEMPT_BYTES and not cells) or surplus <= 0:
        return chunks
    groups, results = (_CELL_GROUPS, frozenset(_CELL_GROUPS)) if cells else (_GROUPS, _DEFINITIONS)
    merger = _Merger(chunks, groups, results, min(MERGED_BYTES, max_bytes))
    for _ in range(surplus):
        if not merger.merge_smallest():
            break
    return merger.chunks()


class _Merger:
    """Greedy agglomeration: a linked list of chunks, and a heap of the mergeable pairs keyed by their merged size.

    Entries of pairs whose chunks have been merged since remain in the heap and are skipped when popped. That is simpler
    than removing them and keeps the whole at O(n log n).
    """

    def __init__(self, chunks: list[Chunk], groups: Mapping[str, str], results: frozenset[str], max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._groups = groups
        self._results = results
        self._chunks: list[Chunk | None] = list(chunks)
        self._next = [place + 1 for place in range(len(chunks))]
        self._previous = [place - 1 for place in range(len(chunks))]
        self._heap: list[tuple[int, int, int, Chunk, Chunk]] = []
        for place in range(len(chunks) - 1):
            self._push_pair(place)

    def merge_smallest(self) -> bool:
        """Merge the pair with the smallest result. Returns False if no pair is left."""
        while self._heap:
            _, place, other, first, second = heapq.heappop(self._heap)
            # Lazy deletion: the entry is stale if one of its chunks has been merged since.
            if self._chunks[place] is first and self._chunks[other] is second:
                self._replace(place, other, self._merge(first, second))
                return True
        return False

    def chunks(self) -> list[Chunk]:
        return [chunk for chunk in self._chunks if chunk is not None]

    def _replace(self, place: int, other: int, chunk: Chunk) -> None:
        """Put the merged chunk in the first place, unlink the second, and push the pairs with the new neighbours."""
        self._chunks[place], self._chunks[other] = chunk, None
        after = self._next[place] = self._next[other]
        if after < len(self._chunks):
            self._previous[after] = place
        self._push_pair(place)
        if self._previous[place] >= 0:
            self._push_pair(self._previous[place])

    def _push_pair(self, place: int) -> None:
        """Push a chunk and its successor, if they may be merged."""
        other = self._next[place]
        if other >= len(self._chunks):
            return
        first, second = self._chunks[place], self._chunks[other]
        assert first is not None
        assert second is not None
        size = second.end - first.start
        small = min(first.end - first.start, second.end - second.start) < SMALL_BYTES
        if small and size <= self._max_bytes and self._are_alike(first, second):
            heapq.heappush(self._heap, (size, place, other, first, second))

    def _are_alike(self, first: Chunk, second: Chunk) -> bool:
        """Return whether both own all their text and have the same group of chunk types and the same container."""
        return (
            first.end <= second.start
            and self._group(first) == self._group(second)
            and _owns_all_text(first)
            and _owns_all_text(second)
            and container_of(first.symbol) == container_of(second.symbol)
        )

    def _group(self, chunk: Chunk) -> str:
        return self._groups.get(chunk.chunk_type, chunk.chunk_type)

    def _merge(self, first: Chunk, second: Chunk) -> Chunk:
        """Merge two chunks. There are units if either chunk has some or is a result of its own."""
        units: tuple[ResultUnit, ...] = ()
        if first.units or second.units or {first.chunk_type, second.chunk_type} & self._results:
            units = _units_of(first) + _units_of(second)
        return Chunk(
            first.start,
            second.end,
            first.start_line,
            second.end_line,
            first.chunk_type,
            merge_symbols(first.symbol, second.symbol, MAX_NAMES if units else MAX_MERGED_NAMES),
            ((first.start, second.end),),
            units,
        )


def _owns_all_text(chunk: Chunk) -> bool:
    return len(chunk.parts) == 1 and chunk.parts[0] == (chunk.start, chunk.end)


def _units_of(chunk: Chunk) -> tuple[ResultUnit, ...]:
    return chunk.units or (ResultUnit(*chunk[:6]),)
