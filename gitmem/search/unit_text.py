"""Text of a definition that shares a row of the index with others, as it is embedded by itself."""

from collections.abc import Sequence

from gitmem.types import ResultUnit
from gitmem.words import Text, count_identifiers, decode


def own_text(data: bytes, unit: ResultUnit, units: Sequence[ResultUnit]) -> bytes:
    """Return the text of a unit without that of the units inside it."""
    parts, start = [], unit.start
    for other in units:
        if other is not unit and unit.start <= other.start and other.end <= unit.end and other.start >= start:
            parts.append(data[start : other.start])
            start = other.end
    return b"\n".join([*parts, data[start : unit.end]])


def named_text(symbol: str, data: bytes) -> Text:
    """Return the words of a definition with its symbol, as the vectors of the index have them."""
    return count_identifiers(f"{symbol}\n{decode(data)}")
