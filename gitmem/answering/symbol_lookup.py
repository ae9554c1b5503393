"""Find a symbol among the chunks of one file. Pure."""

import re
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from itertools import pairwise
from typing import Final

from gitmem.errors import UsageError
from gitmem.locations import LineRange
from gitmem.named_tuple import NamedTuple
from gitmem.types import ResultUnit

_JOINTS: Final = re.compile(r"\.|::|#| > ")
"""Separators between the components of a qualified name, in symbols and as users write them."""

_MAX_LISTED: Final = 20
"""Symbols listed in a message."""


class SymbolChunk(NamedTuple):
    """Chunk of a file or unit of one: its row in the index, its lines and its symbol, empty for loose text."""

    row: int
    lines: LineRange
    symbol: str


def split_units(chunk: SymbolChunk, units: Sequence[ResultUnit]) -> list[SymbolChunk]:
    """Return the units of a chunk; without any, the chunk itself."""
    return [SymbolChunk(chunk.row, LineRange(unit.start_line, unit.end_line), unit.symbol) for unit in units] or [chunk]


def find_symbol(path: str, chunks: Sequence[SymbolChunk], symbol: str) -> SymbolChunk:
    """Return the chunk of a symbol: of its full name, or else of its last components (`get` finds `Handler.get`).

    A definition that was cut into several chunks is returned as its first one with the lines of all. `chunks` are those
    of the file in order. Raises UsageError with the candidates if there is none or more than one.
    """
    definitions = list(_join_parts(chunks))
    matches = [each for each in definitions if symbol in {each.symbol, *_names(each.symbol)}]
    if not matches:
        components = _JOINTS.split(symbol)
        matches = [each for each in definitions if _ends_with(each.symbol, components)]
    if not matches:
        raise UsageError(f"no symbol `{symbol}` in `{path}`", hint=_suggest(path, definitions, symbol))
    if len(matches) > 1:
        candidates = [f"`{name}` (lines {lines.first}-{lines.last})" for _, lines, name in matches]
        example = f"{path}:{matches[0].lines.first}-{matches[0].lines.last}"
        message = f"{len(matches)} symbols of `{path}` match `{symbol}`: {_listed(candidates)}"
        raise UsageError(message, hint=f"give the full name, or lines: `{example}`")
    return matches[0]


def _suggest(path: str, definitions: Sequence[SymbolChunk], symbol: str) -> str:
    """Suggest the most similar symbol, or list them all."""
    names = sorted({name for each in definitions for name in _names(each.symbol)})
    if not names:
        return f"the chunks of this file have no symbols; name lines: `{path}:1-40`"
    near = get_close_matches(symbol, names, 1) or get_close_matches(
        symbol, [_JOINTS.split(name)[-1] for name in names], 1
    )
    return f"did you mean `{path}#{near[0]}`?" if near else "symbols: " + _listed([f"`{name}`" for name in names])


def _listed(texts: Sequence[str]) -> str:
    shown = ", ".join(texts[:_MAX_LISTED])
    return shown if len(texts) <= _MAX_LISTED else f"{shown} and {len(texts) - _MAX_LISTED} more"


def _join_parts(chunks: Sequence[SymbolChunk]) -> Iterator[SymbolChunk]:
    """Yield each definition once, with the lines of all its chunks.

    The parts of a definition have the same symbol and nothing but inner definitions between them. Adjacent overloads
    look the same and are joined as well.
    """
    places: dict[str, list[int]] = {}
    for place, chunk in enumerate(chunks):
        if chunk.symbol:
            places.setdefault(chunk.symbol, []).append(place)
    for symbol, parts in places.items():
        joined = chunks[parts[0]]
        for before, place in pairwise(parts):
            part = chunks[place]
            if all(each.symbol.startswith(symbol) for each in chunks[before + 1 : place]):
                joined = joined._replace(lines=LineRange(joined.lines.first, max(joined.lines.last, part.lines.last)))
            else:
                yield joined
                joined = part
        yield joined


def _names(symbol: str) -> list[str]:
    """Return the qualified names in the symbol of a chunk; `Color.RED, GREEN` is two members of `Color`."""
    names: list[str] = []
    scope = ""
    for name in symbol.split(", "):
        joints = list(_JOINTS.finditer(name))
        if joints:
            scope = name[: joints[-1].end()]
        names.append(name if joints else scope + name)
    return names


def _ends_with(symbol: str, components: list[str]) -> bool:
    return any(_JOINTS.split(name)[-len(components) :] == components for name in _names(symbol))
