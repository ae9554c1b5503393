"""Find the rows that define a name of the query. If no retriever finds one, they are candidates nonetheless.

A class that everything mentions has a common name, and hundreds of rows repeat it more often than its definition does.
"""

from typing import Final

import numpy as np

from gitmem.arrays import NDArray
from gitmem.search.lexical import LexicalQuery
from gitmem.search.parsed_query import ParsedQuery, spelled_names
from gitmem.search.qualified_names import defines_own_name, fold, qualified_names
from gitmem.search.scope import Scope
from gitmem.types import CHUNK_TYPES
from gitmem.words import terms_of

MAX_ROWS: Final = 2_000
"""Rows whose symbols are read for one query."""

MAX_DEFINITIONS: Final = 20
"""Definitions of one name. More of them, as of `fit` or `main`, do not say which is meant, unless case or kind do."""

_TYPES: Final = frozenset({"class", "interface", "struct", "enum", "trait", "type"})

MAX_RECENT: Final = 4096
"""Names whose definitions a scope of many segments keeps: reading the symbols takes as long as the rest of a search."""


def find_definitions(query: ParsedQuery, lexical: LexicalQuery) -> list[NDArray[np.int64]]:
    """Return for names of the query the rows in scope that define them, ascending."""
    wanted = _names_by_term(query)
    found: list[NDArray[np.int64]] = []
    read = 0
    # The rarest names first: they are the most specific, and cheap.
    for term in sorted(lexical.terms, key=lambda term: len(term.postings.symbol)):
        rows = term.postings.symbol.rows
        if term.name not in wanted or not len(rows):
            continue
        read += len(rows)
        if read > MAX_ROWS:
            break
        for name in wanted[term.name]:
            own = _find_defining(lexical.scope, name, rows)
            if len(own) > MAX_DEFINITIONS:
                own = _most_likely(lexical.scope, own, spelled_names(query))
            if 0 < len(own) <= MAX_DEFINITIONS:
                found.append(np.array(own, np.int64))
    return found


def _names_by_term(query: ParsedQuery) -> dict[str, list[str]]:
    """Return the names of a query by the term under which the index has them: `registry` by its stem `registri`."""
    wanted: dict[str, list[str]] = {}
    for name in dict.fromkeys(fold(each[-1]) for each in query.names):
        stems = terms_of(name)
        # Of a name of several parts only the whole is looked up: each part has far more rows.
        for term in dict.fromkeys((*stems, name) if len(stems) == 1 else (name,)):
            wanted.setdefault(term, []).append(name)
    return wanted


def _find_defining(scope: Scope, name: str, rows: NDArray[np.int32]) -> list[int]:
    """Return those of the rows with a name in their symbol that are in scope and define it."""
    recent = scope.recent_definitions
    if recent is not None and name in recent:
        return recent[name]
    inside = rows[scope.entry_of.take(rows) >= 0].astype(np.int64)
    snapshot = scope.snapshot
    columns = (inside.tolist(), snapshot.symbols(inside), snapshot.gather(("kind",), inside)["kind"].tolist())
    own = [
        row
        for row, symbol, kind in zip(*columns, strict=True)
        # A substring test rules out the many symbols that only share the stem, before their names are split.
        if name in fold(symbol.lower()) and name in _defined_names(symbol, kind)
    ]
    if recent is not None:
        if len(recent) >= MAX_RECENT:
            recent.clear()
        recent[name] = own
    return own


def _most_likely(scope: Scope, rows: list[int], names: frozenset[str]) -> list[int]:
    """Return those of the rows that define one of some names as it is spelled, without names the types among them.

    So `Chart` and `chart` mean the class, not the many variables of that name.
    """
    numbers = np.array(rows, np.int64)
    if not names:
        kinds = scope.snapshot.gather(("kind",), numbers)["kind"]
        return [row for row, kind in zip(rows, kinds.tolist(), strict=True) if CHUNK_TYPES[kind] in _TYPES]
    symbols = scope.snapshot.symbols(numbers)
    return [
        row
        for row, symbol in zip(rows, symbols, strict=True)
        if not names.isdisjoint(parts[-1] for parts in qualified_names(symbol) if parts)
    ]


def _defined_names(symbol: str, chunk_type: int) -> set[str]:
    names = qualified_names(symbol)
    return {fold(parts[-1].lower()) for parts in names if parts and defines_own_name(parts, chunk_type)}
