"""Tokens read until the answer: units in rank order, each with its number of tokens.

The definitions are those of semble's published figures, so that the two can be compared. The first fifty units count.
The unit with the answer is read to its end. A query that none of them answers costs `CAP`. Recall within a budget
counts the targets met by the units that fit completely into it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tests.bench.scoring import Place, Target

DEPTH: Final = 50
CAP: Final = 32_000


@dataclass(frozen=True, slots=True)
class Unit:
    """Text to read: its location and its length in tokens."""

    place: Place
    tokens: int


@dataclass(frozen=True, slots=True)
class Point:
    """Tokens read and targets met up to a unit."""

    tokens: int
    met: int


def read_on(units: Sequence[Unit], targets: Sequence[Target]) -> list[Point]:
    """Return tokens read and targets met after each of the first fifty units, starting with zero."""
    points, tokens, met = [Point(0, 0)], 0, set[Target]()
    for unit in units[:DEPTH]:
        tokens += unit.tokens
        met |= {target for target in targets if target.is_met_by(unit.place)}
        points.append(Point(tokens, len(met)))
    return points


def tokens_to_first_hit(points: Sequence[Point]) -> int | None:
    """Return the tokens up to and including the unit with the first target; None without one."""
    return next((point.tokens for point in points if point.met), None)


def expected_tokens(points: Sequence[Point]) -> int:
    """Return the cost of a query: tokens to the first hit, or the cap."""
    tokens = tokens_to_first_hit(points)
    return CAP if tokens is None else tokens


def recall_within(points: Sequence[Point], budget: int, targets: int) -> float:
    """Return the share of `targets` met by the units that fit into a budget."""
    return max(point.met for point in points if point.tokens <= budget) / targets
