"""Labels of rows: the symbol of a chunk and the results that share it, as a segment stores them.

    label  = symbol, or symbol 00 unit ..., or symbol 01 whole
    unit   = start, length, line, lines - 1, chunk type, shared, rest, bytes of the name
    whole  = bytes before the row, length, lines before the row, lines - 1

All but the name are numbers of variable length (seven bits a byte, the lowest first). `start` and `line` count from
those of the unit before, at first from those of the row. The name is front-coded: it has the first `shared` bytes of
the name before, at first of the symbol, and `rest` bytes of its own. A definition takes some 20 bytes, a row 350.
`whole` is the span of the definition of which the row is a piece.
"""

import re
from collections.abc import Iterable
from typing import Final

from gitmem.types import CHUNK_TYPES, Chunk, DefinitionSpan, ResultUnit

_CODES: Final = {chunk_type: code for code, chunk_type in enumerate(CHUNK_TYPES)}
_MORE: Final = 0x80
_UNITS: Final = b"\0"
_WHOLE: Final = b"\1"
_SEPARATOR: Final = re.compile(b"[\0\1]")


def pack_label(symbol: bytes, chunk: Chunk) -> bytes:
    """Return the label of the row of a chunk."""
    symbol = _SEPARATOR.sub(b" ", symbol)  # a heading of a record may have any character
    start, line, units = chunk.start, chunk.start_line, chunk.units
    if chunk.whole and not units:
        return _pack_whole(symbol, chunk, chunk.whole)
    if not units:
        return symbol
    name = symbol
    packed = bytearray(symbol)
    packed += _UNITS
    for unit in units:
        own = unit.symbol.encode("utf-8", "replace")
        shared = _shared(name, own)
        lines = unit.end_line - unit.start_line
        numbers = (unit.start - start, unit.end - unit.start, unit.start_line - line, lines)
        _append(packed, (*numbers, _CODES[unit.chunk_type], shared, len(own) - shared))
        packed += own[shared:]
        start, line, name = unit.start, unit.start_line, own
    return bytes(packed)


def _pack_whole(symbol: bytes, chunk: Chunk, whole: DefinitionSpan) -> bytes:
    packed = bytearray(symbol + _WHOLE)
    lines = whole.end_line - whole.start_line
    _append(packed, (chunk.start - whole.start, whole.end - whole.start, chunk.start_line - whole.start_line, lines))
    return bytes(packed)


def label_symbol(label: bytes) -> str:
    """Return the symbol of a label."""
    return label.partition(_UNITS)[0].partition(_WHOLE)[0].decode("utf-8", "replace")


def unpack_whole(label: bytes, start: int, line: int) -> DefinitionSpan | None:
    """Return the span of the definition of which a row is a piece, None if it is none. Raises ValueError if damaged.

    The row begins at the byte `start` in the line `line`.
    """
    name, separator, packed = label.partition(_WHOLE)
    if not separator or _UNITS in name:
        return None
    numbers = _Numbers(packed)
    before, length, lines_before, lines = (numbers.take() for _ in range(4))
    first, first_line = start - before, line - lines_before
    return DefinitionSpan(first, first + length, first_line, first_line + lines)


def unpack_units(label: bytes, start: int, line: int) -> tuple[ResultUnit, ...]:
    """Return the units of a label. Raises ValueError if it is damaged."""
    name, separator, packed = label.partition(_UNITS)
    if not separator or _WHOLE in name:
        return ()
    units = []
    numbers = _Numbers(packed)
    while numbers.remain:
        start_more, length, line_more, lines, code, shared, rest = (numbers.take() for _ in range(7))
        start, line, name = start + start_more, line + line_more, name[:shared] + numbers.take_bytes(rest)
        if code >= len(CHUNK_TYPES):
            raise ValueError(f"unknown chunk type {code}")
        units.append(
            ResultUnit(start, start + length, line, line + lines, CHUNK_TYPES[code], name.decode("utf-8", "replace"))
        )
    return tuple(units)


class _Numbers:
    """Reads packed numbers and names one after the other."""

    def __init__(self, packed: bytes) -> None:
        self._packed = packed
        self._at = 0

    @property
    def remain(self) -> bool:
        return self._at < len(self._packed)

    def take(self) -> int:
        """Return the next number. Raises ValueError at the end."""
        value = shift = 0
        for at in range(self._at, len(self._packed)):
            byte = self._packed[at]
            value |= (byte & ~_MORE) << shift
            if byte < _MORE:
                self._at = at + 1
                return value
            shift += 7
        raise ValueError("a number is cut off")

    def take_bytes(self, size: int) -> bytes:
        """Return the next bytes. Raises ValueError if there are fewer."""
        taken = self._packed[self._at : self._at + size]
        if len(taken) < size:
            raise ValueError("a name is cut off")
        self._at += size
        return taken


def _append(packed: bytearray, numbers: Iterable[int]) -> None:
    for number in numbers:
        while number >= _MORE:
            packed.append(number & 0x7F | _MORE)
            number >>= 7
        packed.append(number)


def _shared(one: bytes, other: bytes) -> int:
    """Return the length of the longest common prefix."""
    size = min(len(one), len(other))
    if one[:size] == other[:size]:
        return size
    return next(place for place in range(size) if one[place] != other[place])
