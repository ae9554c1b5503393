"""Rank notes that are out of date below those that replaced them.

A note that was replaced matches a query about its subject as well as its successor, often better, if the query repeats
its words. So the successor takes over its score, and the outdated one keeps a part of it.
"""

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from gitmem.arrays import NDArray
from gitmem.named_tuple import NamedTuple

OUTDATED_SHARE: Final = 0.5
"""Factor on the score of an outdated note. It stays a result: people ask for the reason of a change, too.

Any factor below 1 puts it behind its successor, which has the same score or a higher one.
"""


class Outdated(NamedTuple):
    """Outdated entries of a view: those that others replace, with these, and the times after which others expire."""

    successors: Mapping[int, tuple[int, ...]]
    expiry: Mapping[int, str]

    def shifted(self, by: int) -> "Outdated":
        """Return the same entries in a view that has so many others before them."""
        return Outdated(
            {entry + by: tuple(each + by for each in others) for entry, others in self.successors.items()},
            {entry + by: time for entry, time in self.expiry.items()},
        )


class OutdatedCandidates(NamedTuple):
    """Which candidates are outdated, [candidates], and pairs of the positions of outdated ones and their successors."""

    mask: NDArray[np.bool_]
    pairs: Sequence[tuple[int, int]]


def missing_successors(outdated: Outdated, entries: Sequence[int]) -> list[int]:
    """Return the successors of some entries that are not among them, ascending."""
    present = set(entries)
    return sorted({each for entry in present for each in outdated.successors.get(entry, ())} - present)


def find_outdated_candidates(outdated: Outdated, entries: Sequence[int], now: str) -> OutdatedCandidates | None:
    """Return which of the candidates, given by their entries, are outdated at a time; None if none is."""
    positions: dict[int, list[int]] = {}
    for position, entry in enumerate(entries):
        positions.setdefault(entry, []).append(position)
    pairs = [
        (old, new)
        for old, entry in enumerate(entries)
        for successor in outdated.successors.get(entry, ())
        for new in positions.get(successor, ())
    ]
    mask = np.zeros(len(entries), bool)
    mask[[old for old, _ in pairs]] = True
    # Times are written so that text order is time order.
    mask[[position for position, entry in enumerate(entries) if outdated.expiry.get(entry, "~") <= now]] = True
    return OutdatedCandidates(mask, pairs) if mask.any() else None


def lower_outdated(outdated: OutdatedCandidates, scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the scores of the candidates after successors took over those of the notes that they replace."""
    result = scores.copy()
    for old, new in outdated.pairs:
        result[new] = max(result[new], scores[old])
    result[outdated.mask] *= OUTDATED_SHARE
    for old, new in outdated.pairs:
        # A successor may be outdated itself.
        result[old] = min(result[old], OUTDATED_SHARE * result[new])
    return result
