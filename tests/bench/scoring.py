"""Quality of ranked results: NDCG@10 with binary gain, and recall, for targets that are files or spans of lines.

A target counts at the rank of the first result that meets it; a second result of the same file uses up a rank.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

DEPTH: Final = 10


@dataclass(frozen=True, slots=True)
class Place:
    """Location of a result; lines count from 1 and are inclusive."""

    path: str
    start: int
    end: int


NOWHERE: Final = Place("\0", 0, 0)
"""Result of another repository, which meets no target."""


@dataclass(frozen=True, slots=True)
class Target:
    """Target of a query: a file, or lines of it if `start` is set."""

    path: str
    start: int = 0
    end: int = 0

    def is_met_by(self, place: Place) -> bool:
        """Return whether a result shows this target."""
        if place.path != self.path and not place.path.endswith(f"/{self.path}"):
            return False
        return not self.start or (place.start <= self.end and place.end >= self.start)


@dataclass(frozen=True, slots=True)
class Score:
    """Score of one query."""

    ndcg: float
    recall: float


def parse_target(value: Any) -> Target:
    """Parse a target of a query file: a path, or an object with path and lines."""
    if isinstance(value, str):
        return Target(value)
    return Target(str(value["path"]), int(value.get("start_line") or 0), int(value.get("end_line") or 0))


def score(places: Sequence[Place], targets: Sequence[Target]) -> Score:
    """Compare the first ten results with the targets."""
    ranks = [rank for target in targets if (rank := find_rank(places[:DEPTH], target))]
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, min(DEPTH, len(targets)) + 1))
    return Score(sum(1 / math.log2(rank + 1) for rank in set(ranks)) / ideal, len(ranks) / len(targets))


def find_rank(places: Sequence[Place], target: Target) -> int | None:
    """Return the rank, from 1, of the first result that meets a target."""
    return next((rank for rank, place in enumerate(places, 1) if target.is_met_by(place)), None)


def mean(values: Iterable[float]) -> float:
    """Return the arithmetic mean; 0 without values."""
    numbers = list(values)
    return sum(numbers) / len(numbers) if numbers else 0.0
