"""Add results to a list such that a copy of an earlier one is named by it instead: by their lines.

`copies` compares rows of the index by their vectors. Small definitions share rows, and a header that was made of many
others shares them out differently: there the same function has another row with another vector. Its lines tell.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from gitmem.locations import LineRange, Location
from gitmem.search.hits import Hit
from gitmem.types import PROSE_KINDS

LEAST_SHARED: Final = 0.9
"""Least share of lines that two copies have in common."""

MAX_BYTES: Final = 1 << 16
"""Longest text that is compared, so that a search of classes costs little."""

_NEVER_COPIES: Final = frozenset((*PROSE_KINDS, "module", "namespace"))


def find_original(hits: Sequence[Hit], hit: Hit, texts: Mapping[tuple[str, str], bytes]) -> int | None:
    """Return the place of the first of `hits` that a hit copies; None if there is none.

    `texts` has the text of each source.
    """
    for place, other in enumerate(hits):
        if _may_copy(hit, other) and _share_lines(_text(hit, texts), _text(other, texts)):
            return place
    return None


def add_unless_copy(hits: list[Hit], hit: Hit, texts: Mapping[tuple[str, str], bytes]) -> None:
    """Append a hit, or name its place at the first of `hits` that it copies."""
    place = find_original(hits, hit, texts)
    if place is None:
        hits.append(hit)
        return
    own = Location(hit.path, LineRange(hit.start_line, hit.end_line))
    hits[place] = hits[place]._replace(copies=tuple(dict.fromkeys((*hits[place].copies, own, *hit.copies))))


def _may_copy(one: Hit, other: Hit) -> bool:
    """Return whether two hits agree in type, symbol and about in length, in different files."""
    if not one.symbol or one.symbol != other.symbol or one.chunk_type != other.chunk_type or one.path == other.path:
        return False
    shorter, longer = sorted((one.end - one.start, other.end - other.start))
    return one.chunk_type not in _NEVER_COPIES and longer <= min(MAX_BYTES, 2 * shorter)


def _text(hit: Hit, texts: Mapping[tuple[str, str], bytes]) -> bytes:
    return texts[hit.source][hit.start : hit.end]


def _share_lines(one: bytes, other: bytes) -> bool:
    """Return whether two texts have nearly the same lines, whatever their order and indentation."""
    # The coefficient of Dice (1945) over the lines with text: twice those in common, relative to all of both.
    first, second = (Counter(filter(None, map(bytes.strip, text.splitlines()))) for text in (one, other))
    total = first.total() + second.total()
    return total > 0 and 2 * (first & second).total() >= LEAST_SHARED * total
