"""Charts as SVG: shares as bars, and growth over runs as a line. Pure.

All sizes are attributes: the page's policy allows no style in the markup. Each chart has a text for screen readers, and
the page shows the same numbers in a table.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from markupsafe import Markup

from gitmem.named_tuple import NamedTuple

_WIDTH: Final = 640
_HEIGHT: Final = 160
_MARGIN: Final = 8
MAX_BARS: Final = 8
_COLORS: Final = 8


class Share(NamedTuple):
    """One part of a whole, with its share in percent and the number of its colour."""

    name: str
    number: int
    percent: float
    color: int


def shares_of(counts: Mapping[str, int], most: int = MAX_BARS) -> list[Share]:
    """Return the largest counts first; those behind `most` are added up as `other`."""
    ordered = sorted(((name or "text", number) for name, number in counts.items() if number), key=_by_size)
    if len(ordered) > most:
        ordered = [*ordered[: most - 1], ("other", sum(number for _, number in ordered[most - 1 :]))]
    total = sum(number for _, number in ordered) or 1
    return [
        Share(name, number, round(100 * number / total, 1), place % _COLORS)
        for place, (name, number) in enumerate(ordered)
    ]


def _by_size(item: tuple[str, int]) -> tuple[int, str]:
    return -item[1], item[0]


def share_bar(shares: Sequence[Share], label: str) -> Markup:
    """Return one bar whose parts are the shares."""
    # Parts are a unit apart, so that neighbours are told apart without their colours.
    parts, at = [], 0.0
    for share in shares:
        width = _WIDTH * share.percent / 100
        title = f"{share.name}: {share.number:,} ({share.percent:g} %)"
        parts.append(
            Markup('<rect class="s{}" x="{:.1f}" y="0" width="{:.1f}" height="14"><title>{}</title></rect>').format(
                share.color, at, max(1.0, width - 1), title
            )
        )
        at += width
    return Markup(
        '<svg class="bar" role="img" aria-label="{}" viewBox="0 0 {} 14" preserveAspectRatio="none">{}</svg>'
    ).format(label, _WIDTH, Markup("").join(parts))


class Point(NamedTuple):
    """Number of chunks after a run, with the time of the run."""

    at: str
    number: int


def growth(points: Sequence[Point], label: str) -> Markup:
    """Return a line of numbers over the runs, oldest first; nothing for fewer than two runs."""
    if len(points) < 2:
        return Markup("")
    most = max(point.number for point in points) or 1
    step = (_WIDTH - 2 * _MARGIN) / (len(points) - 1)
    # The axis begins at 0: a line that begins at its least value exaggerates every change.
    places = [
        (_MARGIN + step * place, _HEIGHT - _MARGIN - (_HEIGHT - 2 * _MARGIN) * point.number / most)
        for place, point in enumerate(points)
    ]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    area = f"{places[0][0]:.1f},{_HEIGHT} {line} {places[-1][0]:.1f},{_HEIGHT}"
    dots = [
        Markup('<circle cx="{:.1f}" cy="{:.1f}" r="3"><title>{}: {:,}</title></circle>').format(
            x, y, point.at[:19].replace("T", " "), point.number
        )
        for (x, y), point in zip(places, points, strict=True)
    ]
    return Markup(
        '<svg class="growth" role="img" aria-label="{}" viewBox="0 0 {} {}">'
        '<polygon class="area" points="{}"/><polyline class="line" points="{}"/>{}</svg>'
    ).format(label, _WIDTH, _HEIGHT, area, line, Markup("").join(dots))
