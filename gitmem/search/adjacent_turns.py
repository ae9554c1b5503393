"""Turns of a conversation beside others: what answers a question may share no word with it, but the turn before does.

A turn gains by the turns just before and after it that match the query. So the turn after each match is a candidate,
too. Measured on questions about long conversations by `tests/bench/conversation_quality.py`.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from gitmem.arrays import NDArray
from gitmem.git.path_encoding import path_text
from gitmem.types import CHUNK_TYPES, TURN

if TYPE_CHECKING:
    from gitmem.search.scope import SearchedView

NEXT_SHARE: Final = 0.75
"""How much the turn after one counts for it, relative to the turn before: an answer follows its question."""

_CONVERSATIONS: Final = "v1/conversations/"
TURN_KIND: Final = CHUNK_TYPES.index(TURN)
"""Chunk type of turns, as the index numbers it."""

_Place = tuple[str, int]
"""Folder of a conversation and number of a turn."""


def following_turns(view: "SearchedView", entries: Sequence[int]) -> list[int]:
    """Return the entries of the turns after some entries that are turns, without those among them, ascending."""
    present = set(entries)
    # Entries are sorted by path, so the next turn is the next entry.
    found = {
        entry + 1
        for entry in present
        if entry + 1 < len(view) and _follows(path_text(view.path(entry)), path_text(view.path(entry + 1)))
    }
    return sorted(found - present)


def score_adjacent_turns(
    paths: Sequence[str],
    file: NDArray[np.integer],
    chunk_type: NDArray[np.uint8],
    fused: NDArray[np.float32],
    pool: NDArray[np.bool_],
) -> NDArray[np.float64]:
    """Return how well the turns beside each candidate match: the fused scores above average, [candidates].

    The columns are those of `Candidates`. Only candidates of the search without filters, `pool`, count, so that a
    filter changes no score.
    """
    result = np.zeros(len(file))
    positions = np.flatnonzero(chunk_type == TURN_KIND).tolist()
    if not positions:
        return result
    places = [_find_place(path) for path in paths]
    files = file.tolist()
    best: dict[_Place, float] = {}
    for position in positions:
        place = places[files[position]]
        if place is not None and pool[position]:
            best[place] = max(best.get(place, 0.0), float(fused[position]))
    for position in positions:
        place = places[files[position]]
        if place is not None:
            folder, number = place
            result[position] = best.get((folder, number - 1), 0.0) + NEXT_SHARE * best.get((folder, number + 1), 0.0)
    return result


def _find_place(path: str) -> _Place | None:
    """Return the place of a turn; None if the path is none of a turn."""
    folder, _, number = path.rpartition("/")
    return (folder, int(number)) if _CONVERSATIONS in folder and number.isdecimal() else None


def _follows(path: str, other: str) -> bool:
    """Return whether the second path is that of the turn after the first one."""
    place = _find_place(path)
    return place is not None and _find_place(other) == (place[0], place[1] + 1)
