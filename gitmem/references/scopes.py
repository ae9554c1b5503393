"""Scopes of a blob: which function or class surrounds a line, as the chunks of the index know it."""

import re
from collections.abc import Iterator
from typing import Final

import numpy as np

from gitmem.named_tuple import NamedTuple
from gitmem.store.labels import label_symbol
from gitmem.store.snapshot import Snapshot
from gitmem.types import CHUNK_TYPES, NOTEBOOK_LANGUAGE

_BLOCK_LINES: Final = 64
_WIDE_LINES: Final = 64 * _BLOCK_LINES
_JOINTS: Final = re.compile(r"\.|::|#| > |->|\\")
_AFTER_JOINT: Final = re.compile(rf"(?:^|{_JOINTS.pattern})$")


_HEADED: Final = frozenset({"module", "section"})
"""Types of chunks of a notebook whose symbols are the headings above their cells."""


class Scope(NamedTuple):
    """Definition that a chunk or unit covers, or a part of one that was cut: lines and qualified name.

    The symbol of a cell of a notebook `is_heading`: no class or function is around its definitions.
    """

    first: int
    last: int
    symbol: str
    is_heading: bool = False


class Scopes:
    """Scopes of one blob. All results are names in components: `("Flask", "run")`."""

    def __init__(self, scopes: list[Scope]) -> None:
        # The innermost one is the shortest. Of equal ones the qualified name is longer for the inner one.
        self._scopes = sorted(scopes, key=lambda scope: (scope.last - scope.first, -len(scope.symbol)))
        # Each line has few scopes. Those of a block of lines are found by its number; wide ones come behind all others.
        self._by_block: dict[int, list[Scope]] = {}
        self._wide: list[Scope] = []
        for scope in self._scopes:
            if scope.last - scope.first >= _WIDE_LINES:
                self._wide.append(scope)
                continue
            for block in range(scope.first // _BLOCK_LINES, scope.last // _BLOCK_LINES + 1):
                self._by_block.setdefault(block, []).append(scope)

    def at(self, line: int) -> tuple[str, ...]:
        """Return the name of the innermost scope around a line; nothing at the top level."""
        scope = next(self._around(line), None)
        if scope is None:
            return ()
        return (scope.symbol,) if scope.is_heading else split_name(scope.symbol)

    def container(self, name: str, line: int) -> tuple[str, ...]:
        """Return the scope in which the definition of a name at a line stands."""
        # A whole class may be on one line: then the innermost scope is one of its members.
        # A heading is around the cells below it, but what they define is at the top level.
        code = [scope for scope in self._around(line) if not scope.is_heading]
        for scope in code:
            # A name may have joints itself: `data.frame` of R.
            around = scope.symbol.removesuffix(name)
            if around != scope.symbol and _AFTER_JOINT.search(around):
                return split_name(around)
        return split_name(code[0].symbol) if code else ()

    def _around(self, line: int) -> Iterator[Scope]:
        """Yield the scopes around a line, the innermost first."""
        for scopes in (self._by_block.get(line // _BLOCK_LINES, ()), self._wide):
            yield from (scope for scope in scopes if scope.first <= line <= scope.last)

    def spans(self, name: tuple[str, ...]) -> list[tuple[int, int]]:
        """Return the lines of a scope, its parts and those inside of it."""
        size = len(name)
        return [(scope.first, scope.last) for scope in self._scopes if split_name(scope.symbol)[:size] == name]


def read_scopes(snapshot: Snapshot, blob: int) -> Scopes:
    """Return the scopes of a blob. Raises DamagedFile."""
    rows = np.arange(*snapshot.blob_first[blob : blob + 2].tolist(), dtype=np.int64)
    columns = snapshot.gather(("line", "lines", "kind"), rows)
    labels = snapshot.labels(rows)
    units = snapshot.units(rows, np.zeros(len(rows), np.int64), columns["line"], labels)
    segment, number = snapshot.blob(blob)
    headed = _HEADED if segment.languages[segment.blob_languages[number]] == NOTEBOOK_LANGUAGE else frozenset()
    scopes: list[Scope] = []
    numbers = (columns[name].tolist() for name in ("line", "lines", "kind"))
    for first, size, kind, symbol, shared in zip(*numbers, map(label_symbol, labels), units, strict=True):
        if shared:
            scopes += [
                Scope(unit.start_line, unit.end_line, name, unit.chunk_type in headed)
                for unit in shared
                for name in symbol_names(unit.symbol)
            ]
        else:
            last, is_heading = first + size - 1, CHUNK_TYPES[kind] in headed
            scopes += [Scope(first, last, name, is_heading) for name in symbol_names(symbol)]
    return Scopes(scopes)


def symbol_names(symbol: str) -> list[str]:
    """Return the qualified names in a symbol: a statement may define several, `A.b, c` for `A.b` and `A.c`.

    The name of a test may be a sentence with commas, which stays whole.
    """
    if ", " not in symbol or any(character.isspace() for character in symbol.replace(", ", "")):
        return [symbol] if symbol else []
    first, *others = symbol.split(", ")
    prefix = first[: len(first) - len(_JOINTS.split(first)[-1])]
    return [first, *(each if _JOINTS.search(each) else prefix + each for each in others)]


def split_name(symbol: str) -> tuple[str, ...]:
    """Return the components of a qualified name, as symbols and users write it."""
    return tuple(part for part in _JOINTS.split(symbol) if part)
