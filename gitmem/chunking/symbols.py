"""Symbols of chunks: how long they may be, and the symbols of merged chunks.

A symbol is a qualified name. Its parts are joined by dots, those of a heading path by ` > `. A chunk with several names
lists them separated by commas. Only the first name, or one with a different container, is qualified.
"""

from collections.abc import Iterable
from typing import Final

MAX_SYMBOL: Final = 200
"""Maximum length of the symbol of one definition or section, in characters."""

MAX_NAMES: Final = 2000
"""Maximum length of the symbol of a chunk with several results. Each of them is shown by its own name; this symbol is
how the index finds them, so no name may be missing."""

MAX_SHOWN_NAMES: Final = 140
"""The same for a chunk that is one result, whose symbol is shown as it is."""

MAX_MERGED_NAMES: Final = 240
"""The same for two such chunks that are merged."""


def qualified(scope: str, name: str, separator: str) -> str:
    """Return a name with its scope."""
    return shortened(f"{scope}{separator}{name}", separator) if scope else name[:MAX_SYMBOL]


def shortened(symbol: str, separator: str) -> str:
    """Return a symbol without as many of its outer scopes as needed: the last part says most."""
    if len(symbol) <= MAX_SYMBOL:
        return symbol
    at = symbol.find(separator, len(symbol) - MAX_SYMBOL - len(separator))
    return (symbol[at + len(separator) :] if at >= 0 else symbol.rpartition(separator)[2])[:MAX_SYMBOL]


def join_names(names: Iterable[tuple[str, str]], separator: str, limit: int) -> str:
    """Return the symbol of several (scope, name) pairs, as many as fit. A scope is written only where it changes."""
    text, previous = "", ""
    for scope, name in dict.fromkeys(names):
        full = name if scope == previous else qualified(scope, name, separator)
        if text and len(text) + len(full) > limit:
            break
        text += f", {full}" if text else full
        previous = scope
    return text[: max(limit, MAX_SYMBOL)]


def merge_symbols(first: str, second: str, limit: int) -> str:
    """Return the symbol of two merged chunks of the same container, which is written once, before the first name.

    If it would be longer than the limit, the first symbol remains.
    """
    # `A.x` and `A.y` make `A.x, y`.
    container = container_of(second)
    name = second[len(container) :].lstrip(". >") if container else second
    if not first or not name or not {name, second}.isdisjoint(first.split(", ")):
        return first or second
    merged = f"{first}, {name}"
    return merged if len(merged) <= limit else first


def container_of(symbol: str) -> str:
    """Return the container that qualifies the first name of a symbol, '' if there is none."""
    first = symbol.split(", ", 1)[0]
    separator = " > " if " > " in first else "."
    return first.rpartition(separator)[0]
