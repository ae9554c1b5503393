"""What an agent has to read until it has the answer: units in rank order, each with its tokens.

The definitions are those that semble publishes its figures by, so that they can be compared: fifty units are taken, the
unit that holds the answer is read to its end, a question that none of them answers costs `CAP`, and recall within a
budget counts the targets met by the units that fit into it whole.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tests.bench.scoring import Place, Target

DEPTH: Final = 50
CAP: Final = 32_000


@dataclass(frozen=True, slots=True)
class Unit:
    """Something to read: where it stands and its length in tokens."""

    place: Place
    tokens: int


@dataclass(frozen=True, slots=True)
class Point:
    """After a unit: the tokens read so far, and how many targets have been met."""

    tokens: int
    met: int


def read_on(units: Sequence[Unit], targets: Sequence[Target]) -> list[Point]:
    """What has been read and met after each of the first fifty units, beginning with nothing."""
    points, tokens, met = [Point(0, 0)], 0, set[Target]()
    for unit in units[:DEPTH]:
        tokens += unit.tokens
        met |= {target for target in targets if target.is_met_by(unit.place)}
        points.append(Point(tokens, len(met)))
    return points


def tokens_to_first_hit(points: Sequence[Point]) -> int | None:
    """Tokens read when the first target is met, that unit included; None if none ever is."""
    return next((point.tokens for point in points if point.met), None)


def expected_tokens(points: Sequence[Point]) -> int:
    """The cost of a question: tokens to the first hit, or the cap."""
    tokens = tokens_to_first_hit(points)
    return CAP if tokens is None else tokens


def recall_within(points: Sequence[Point], budget: int, targets: int) -> float:
    """The share of so many targets that are met by the units that fit into a budget."""
    return max(point.met for point in points if point.tokens <= budget) / targets
