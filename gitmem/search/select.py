"""Select the hits from scored candidates: collapse overlaps, damp repeats of a file, break ties. Pure."""

import heapq
from collections.abc import Sequence
from typing import Final

from gitmem.named_tuple import NamedTuple

REPEAT_DECAY: Final = 0.02
"""Factor on the score of each further chunk of a file: it precedes other files only if those are hopeless.

Measured in NDCG@10 over files: 0.5 costs 0.019, 0.1 costs 0.003, and 0.02 costs 0.0005.
"""

COLLAPSED_BYTES: Final = 6000
"""Longest class that represents its methods; of a longer one both class and methods may be hits."""


class Scored(NamedTuple):
    """Position of a candidate in its list, its location and score. `start` and `end` are bytes, half-open.

    If `once_per_path`, a better candidate of the same path removes it: a document is one hit. So does a better one with
    the same `copy_of`, if that is not negative: copies are one hit.
    """

    position: int
    path: str
    start: int
    end: int
    line: int
    score: float
    once_per_path: bool = False
    copy_of: int = -1


def select(candidates: Sequence[Scored], limit: int, decay: float = REPEAT_DECAY) -> list[tuple[int, float]]:
    """Return positions and final scores of the best candidates, scores never rising; ties go by path and line.

    A candidate that overlaps a selected one in its file (a method and its class) is dropped, unless the wider of the
    two is too long to answer the same query.
    """
    # Greedy selection with a lazy heap: a score is damped only when its candidate comes to the top after others of
    # its file have been selected. It goes back with the lower score and the number of repeats it accounts for.
    heap = [(-item.score, item.path, item.line, number, 0) for number, item in enumerate(candidates)]
    heapq.heapify(heap)
    selected_by_path: dict[str, list[Scored]] = {}
    selected: list[tuple[int, float]] = []
    copied: set[int] = set()
    while heap and len(selected) < limit:
        negative, path, line, number, repeats = heapq.heappop(heap)
        item = candidates[number]
        others = selected_by_path.setdefault(path, [])
        if item.copy_of in copied or (others and item.once_per_path) or any(collapse(item, other) for other in others):
            continue
        if len(others) > repeats:
            damped = item.score * decay ** len(others)
            heapq.heappush(heap, (-damped, path, line, number, len(others)))
            continue
        others.append(item)
        copied |= {item.copy_of} - {-1}
        selected.append((item.position, -negative))
    return selected


def collapse(one: Scored, other: Scored) -> bool:
    """Return whether two chunks of a file overlap and the wider one is short enough to represent both."""
    if one.start >= other.end or other.start >= one.end:
        return False
    return max(one.end - one.start, other.end - other.start) <= COLLAPSED_BYTES
