"""Symbols of chunks: how long they may be, and the symbols of merged chunks.

A symbol is a qualified name. Its parts are joined by dots, those of a heading path by ` > `. A chunk with several names
lists them separated by commas. Only the first name, or one with a different container, is qualified.
"""

from collections.abc import Iterable
from typing import Final

MAX_SYMBOL: Final = 200
"""Maximum length of a symbol, in characters."""

MAX_MERGED_SYMBOL: Final = 240
"""Maximum length of the symbol of two merged chunks. If both do not fit, the first symbol remains."""

_MAX_NAMES: Final = 140
"""Length from which on no further name is added to a symbol. The units of the chunk have all names."""


def qualified(scope: str, name: str, separator: str) -> str:
    """Return a name with its scope."""
    return f"{scope}{separator}{name}" if scope else name


def join_names(names: Iterable[tuple[str, str]], separator: str) -> str:
    """Return the symbol of several (scope, name) pairs, as many as fit. A scope is written only where it changes."""
    text, previous = "", ""
    for scope, name in dict.fromkeys(names):
        full = name if scope == previous else qualified(scope, name, separator)
        if text and len(text) + len(full) > _MAX_NAMES:
            break
        text += f", {full}" if text else full
        previous = scope
    return text[:MAX_SYMBOL]


def merge_symbols(first: str, second: str) -> str:
    """Return the symbol of two merged chunks of the same container, which is written once, before the first name."""
    # `A.x` and `A.y` make `A.x, y`.
    container = container_of(second)
    name = second[len(container) :].lstrip(". >") if container else second
    if not first or not name or not {name, second}.isdisjoint(first.split(", ")):
        return first or second
    merged = f"{first}, {name}"
    return merged if len(merged) <= MAX_MERGED_SYMBOL else first


def container_of(symbol: str) -> str:
    """Return the container that qualifies the first name of a symbol, '' if there is none."""
    first = symbol.split(", ", 1)[0]
    separator = " > " if " > " in first else "."
    return first.rpartition(separator)[0]
