"""Find the elements that an element was split off from, or that were merged into it, within one file."""

from collections import Counter
from typing import Final

from gitmem.history.matching import without_counterpart
from gitmem.history.version import FileVersion, Version
from gitmem.named_tuple import NamedTuple

_SHARE: Final = 0.6
"""Share of a text's lines that must have gone to, or come from, the other element."""

_LEAST_LINES: Final = 2
"""Lines that say enough to recognise a text."""

SPLIT: Final = "split from"
MERGED: Final = "merged from"


class Source(NamedTuple):
    """Element of the parent commit that another one consists of in part: `relation` is SPLIT or MERGED."""

    relation: str
    path: bytes
    symbol: str


def find_split(new: Version, older: FileVersion) -> tuple[Source, ...]:
    """Return the element from which a new one was split off: it has lost most of the lines of the new one."""
    lines = _body_lines(new)
    if lines.total() < _LEAST_LINES:
        return ()
    after = {version.key: version for version in new.source.versions}
    best: tuple[int, Version] | None = None
    for old in older.versions:
        now = after.get(old.key)
        if now is None or old.element.holds or old.element.symbol == new.element.symbol:
            continue
        moved = ((_body_lines(old) - _body_lines(now)) & lines).total()
        if moved >= _SHARE * lines.total() and (best is None or moved > best[0]):
            best = moved, old
    return (Source(SPLIT, older.path, best[1].element.symbol),) if best is not None else ()


def find_merged(old: Version, new: Version) -> tuple[Source, ...]:
    """Return the elements that disappeared while this one gained most of their lines."""
    gained = _body_lines(new) - _body_lines(old)
    if gained.total() < _LEAST_LINES:
        return ()
    data = new.source.data
    # Most elements are still there word for word, or their name is: only the others can have been merged.
    missing = [
        other
        for other in old.source.versions
        if not other.element.holds and other.text not in data and _mentions(other, data) < _mentions(other)
    ]
    return tuple(
        Source(MERGED, old.path, gone.element.symbol)
        for gone in (without_counterpart(missing, new.source) if missing else ())
        if gone.key != old.key and _is_contained(_body_lines(gone), gained)
    )


def _mentions(version: Version, data: bytes | None = None) -> int:
    """Return how often the name of an element occurs in its own file, or in other data."""
    return (version.source.data if data is None else data).count(version.element.name.encode("utf-8", "replace"))


def _is_contained(lines: Counter[bytes], gained: Counter[bytes]) -> bool:
    """Return whether most lines of a text are among those that another one gained."""
    return lines.total() >= _LEAST_LINES and (lines & gained).total() >= _SHARE * lines.total()


def _body_lines(version: Version) -> Counter[bytes]:
    """Return the lines of a body with more than brackets in them."""
    data, element = version.source.data, version.element
    lines = (line.strip() for line in data[element.body : element.end].splitlines()[1:])
    return Counter(line for line in lines if len(line) > 2)
